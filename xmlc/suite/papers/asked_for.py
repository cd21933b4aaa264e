"""Check the targets of a run before Snakemake looks for their rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError, nearest, selection
from xmlc.suite.config import paths
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import in_one_line
from xmlc.suite.papers import plan

MOST = 3  # Largest number of names in an error message.


def check_targets(workflow: Any, project: Project) -> Callable[[str], bool]:
    """Return a replacement for `workflow.is_rule` that raises an error for unknown targets.

    Snakemake calls the replacement for each target, after reading the study's rules and options such as ``--forcerun``.
    """
    is_rule: Callable[[str], bool] = workflow.is_rule
    # With remote storage, targets cannot be compared with the outputs of rules, because rules then use other file
    # names.
    is_local = not (workflow.storage_settings and workflow.storage_settings.default_storage_provider)

    def is_made(path: str) -> bool:
        return any(rule.is_producer(path) for rule in workflow.rules)

    @in_one_line()
    def checked(name: str) -> bool:
        if is_rule(name):
            return True
        if is_local and workflow.dag_settings and not is_made(name):
            is_target = name in map(str, workflow.dag_settings.targets)
            rules = [rule.name for rule in workflow.rules if not (is_target and rule.has_wildcards())]
            expected = next(filter(is_made, within(name)), None) or near(project, name, rules)
            raise XmlcError(f"target {name}: found no rule or output of this name, expected {expected}")
        return False

    return checked


def within(name: str) -> list[str]:
    """Return the path of a target, followed by the folders that contain the target.

    The returned paths have no final slash, because the paths in rules have none.
    """
    path = Path(os.path.relpath(name or "."))
    return [str(one) for one in (path, *path.parents)]


def near(project: Project, name: str, rules: Sequence[str]) -> str:
    """Return a text with the target files whose name or stem equals ``name``.

    If no file has the name or stem ``name``, the text contains the file or rule with the most similar name.
    """
    known = files(project)
    same = [file for file in known if name in (Path(file).name, Path(file).stem)]
    if same:
        return selection(same[:MOST], len(same))
    return nearest(name, known if "/" in name and get_close_matches(name, known) else rules)


def files(project: Project) -> list[str]:
    """List all possible target files: tables, figures and records of suites, and data and statistics of datasets."""
    found = [path.of(dataset=name) for name in project.catalogue for path in (paths.DATA, paths.STATISTICS)]
    for paper in project.suites:
        records = [*plan.tables_of(project, paper).values(), *plan.figures_of(project, paper).values()]
        found += [*plan.result_files(project, paper), *(paths.output_of(file) for files in records for file in files)]
    return list(dict.fromkeys(found))
