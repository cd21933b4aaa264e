"""Existing files of the project that rules depend on."""

from __future__ import annotations

from pathlib import Path

from xmlc.suites import paths


def published_tables(paper: str) -> list[str]:
    """List the tables that a paper prints and that were transcribed."""
    return sorted(str(file) for file in Path(paths.PUBLISHED, paper).glob("*.csv"))


def accepted_tables() -> list[str]:
    """List the accepted tables of all suites."""
    return sorted(str(file) for file in Path(paths.ACCEPTED).glob("*/*.csv"))


def finished_results() -> dict[str, int]:
    """Return the finished tables and figures with the times of their last change, in nanoseconds."""
    files = [*Path(paths.TABLES).glob("*/*.made-of.json"), *Path(paths.FIGURES).glob("*/*.svg")]
    return {str(file): file.stat().st_mtime_ns for file in sorted(files)}
