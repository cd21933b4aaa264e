"""The targets of a run, checked before Snakemake looks for rules that make them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.core.schemas import nearest
from xmlc.papers import plan
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.runs import in_one_line


def check_targets(workflow: Any, project: Project) -> Callable[[str], bool]:
    """Return `workflow.is_rule`, with which Snakemake looks up each target, as a function that refuses mistakes.

    Rules that a study has itself are known by then, and so are ``--forcerun`` and ``--until``.
    """
    is_rule: Callable[[str], bool] = workflow.is_rule

    @in_one_line()
    def checked(name: str) -> bool:
        if is_rule(name):
            return True
        if workflow.dag_settings and not Path(name).exists() and not any(r.is_producer(name) for r in workflow.rules):
            is_target = name in map(str, workflow.dag_settings.targets)
            rules = [rule.name for rule in workflow.rules if not (is_target and rule.has_wildcards())]
            expected = nearest(name, files(project) if "/" in name else rules)
            raise XmlcError(f"target {name}: no rule has this name or makes this file, expected {expected}")
        return False

    return checked


def files(project: Project) -> list[str]:
    """List the files that a target may mean: tables, figures and records of all suites, and the data of datasets."""
    found = [paths.DATA.of(dataset=name) for name in project.catalogue]
    for paper in project.suites:
        records = [*plan.tables_of(project, paper).values(), *plan.figures_of(project, paper).values()]
        found += [*plan.result_files(project, paper), *(paths.output_of(file) for files in records for file in files)]
    return list(dict.fromkeys(found))
