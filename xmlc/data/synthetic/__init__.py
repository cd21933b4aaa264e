"""Synthetic datasets: their generators, and the mark of their names in records."""

from __future__ import annotations

from collections.abc import Mapping

MARK = " (synthetic)"
DEMO = "demo"  # needs no mark, because every copy is synthetic


def is_made(source: object) -> bool:
    """Return whether the content of a ``source.json`` belongs to data from `xmlc synth`, or to a copy."""
    return isinstance(source, Mapping) and "synthetic" in (source.get("origin"), source.get("data"))


def name_in_records(name: str, made: bool) -> str:
    """Return the name of a dataset in records, and so in tables, figures, claims and on the page."""
    return name + MARK if made and name != DEMO else name


def is_synthetic(name: str) -> bool:
    """Return whether the name of a dataset in a record marks it as synthetic."""
    return name.endswith(MARK) or name == DEMO


def without_mark(name: str) -> str:
    """Return the name in the catalogue and in paths of a dataset that is named in a record."""
    return name.removesuffix(MARK)
