"""Generate synthetic datasets, and mark their names in records."""

from __future__ import annotations

from collections.abc import Mapping

MARK = " (synthetic)"
DEMO = "demo"  # This name needs no mark, because every copy is synthetic.


def is_made(source: object) -> bool:
    """Return whether a ``source.json`` belongs to data from `xmlc synth`, or to a copy of such data."""
    return isinstance(source, Mapping) and "synthetic" in (source.get("origin"), source.get("data"))


def name_in_records(name: str, made: bool) -> str:
    """Return a dataset's name for records, and therefore for tables, figures, claims and the page."""
    return name + MARK if made and name != DEMO else name


def is_synthetic(name: str) -> bool:
    """Return whether a dataset's name in a record marks it as synthetic."""
    return name.endswith(MARK) or name == DEMO


def without_mark(name: str) -> str:
    """Return a dataset's name in the catalogue and in paths, from its name in a record."""
    return name.removesuffix(MARK)
