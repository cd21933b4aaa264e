"""Generators of synthetic datasets, and the mark of their names in records."""

from __future__ import annotations

from collections.abc import Mapping

MARK = " (synthetic)"
DEMO = "demo"  # Gets no mark, because every dataset of the demo is synthetic


def is_made(source: object) -> bool:
    """Return whether a ``source.json`` describes data from `xmlc synth`, or a copy of it."""
    return isinstance(source, Mapping) and "synthetic" in (source.get("origin"), source.get("data"))


def name_in_records(name: str, made: bool) -> str:
    """Return a dataset's name in records, which tables, figures, claims and results show."""
    if made and name != DEMO:
        return name + MARK
    return name


def is_synthetic(name: str) -> bool:
    """Return whether a name in a record marks the dataset as synthetic."""
    return name.endswith(MARK) or name == DEMO


def without_mark(name: str) -> str:
    """Return the name in the catalogue and in paths of a dataset in a record."""
    return name.removesuffix(MARK)
