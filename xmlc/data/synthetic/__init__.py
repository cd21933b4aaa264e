"""Synthetic datasets: how they are drawn, and the mark that their names have in records."""

from __future__ import annotations

from collections.abc import Mapping

MARK = " (synthetic)"
DEMO = "demo"  # is synthetic in every copy, so that its name has no mark


def is_made(source: object) -> bool:
    """Say whether the content of a ``source.json`` is of data that `xmlc synth` made, or of a copy."""
    return isinstance(source, Mapping) and "synthetic" in (source.get("origin"), source.get("data"))


def name_in_records(name: str, made: bool) -> str:
    """Return the name that a dataset has in records, and so in tables, figures, claims and on the page."""
    return name + MARK if made and name != DEMO else name


def is_synthetic(name: str) -> bool:
    """Say whether a dataset is synthetic, by its name in a record."""
    return name.endswith(MARK) or name == DEMO


def without_mark(name: str) -> str:
    """Return the name of a dataset in the catalogue and in paths, by its name in a record."""
    return name.removesuffix(MARK)
