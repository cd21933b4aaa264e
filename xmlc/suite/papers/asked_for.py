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

    Snakemake calls it for each target, after reading the study's rules and options such as
    ``--forcerun``.
    """
    is_rule: Callable[[str], bool] = workflow.is_rule
    # With remote storage, rules use other file names than targets.
    storage = workflow.storage_settings
    is_local = not (storage and storage.default_storage_provider)

    def is_made(path: str) -> bool:
        return any(rule.is_producer(path) for rule in workflow.rules)

    @in_one_line()
    def checked(name: str) -> bool:
        if is_rule(name):
            return True
        if is_local and workflow.dag_settings and not is_made(name):
            is_target = name in map(str, workflow.dag_settings.targets)
            rules = []
            for rule in workflow.rules:
                if not is_target or not rule.has_wildcards():
                    rules.append(rule.name)
            expected = instead_of(name, project, is_made, rules)
            problem = f"target {name}: found no rule or output of this name"
            raise XmlcError(f"{problem}, expected {expected}")
        return False

    return checked


def instead_of(name: str, project: Project, is_made: Callable[[str], bool], rules: Sequence[str]) -> str:
    """Return targets to suggest for an unknown one, as text that follows the word "expected".

    These are the folder that contains it, the files of this name or stem, a similar file, or a rule.
    """
    path = Path(os.path.relpath(name or "."))
    for folder in map(str, (path, *path.parents)):
        if is_made(folder):
            return folder
    files = []
    for dataset in project.catalogue:
        files += [paths.DATA.of(dataset=dataset), paths.STATISTICS.of(dataset=dataset)]
    for paper in project.suites:
        files += plan.result_files(project, paper)
        files += plan.outputs_of(plan.records_of(project, paper))
    files = list(dict.fromkeys(files))
    same = [file for file in files if name in (Path(file).name, Path(file).stem)]
    if same:
        return selection(same[:MOST], len(same))
    if "/" in name and get_close_matches(name, files):
        return nearest(name, files)
    return nearest(name, rules)
