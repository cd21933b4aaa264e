"""Existing files of the project that the results of rules depend on."""

from __future__ import annotations

from pathlib import Path

from xmlc.sources import PACKAGE
from xmlc.suites import paths
from xmlc.suites.project import Project


def published_tables(paper: str) -> list[str]:
    """List the tables that a paper prints and that were transcribed."""
    return sorted(str(file) for file in Path(paths.PUBLISHED, paper).glob("*.csv"))


def accepted_tables() -> list[str]:
    """List the accepted tables of all suites."""
    return sorted(str(file) for file in Path(paths.ACCEPTED).glob("*/*.csv"))


def files_of_page(project: Project) -> list[str]:
    """List what the report page is made from besides finished tables and figures."""
    templates = sorted(map(str, PACKAGE.glob("page/templates/*")))
    return [*templates, paths.RUNS, *project.suite_files, *accepted_tables()]


def finished_results() -> dict[str, int]:
    """Return the finished tables and figures with the times of their last change, in nanoseconds."""
    files = [*Path(paths.TABLES).glob("*/*.made-of.json"), *Path(paths.FIGURES).glob("*/*.svg")]
    return {str(file): file.stat().st_mtime_ns for file in sorted(files)}
