"""Generate synthetic datasets, and mark their names in records as synthetic."""

from __future__ import annotations

from collections.abc import Mapping

MARK = " (synthetic)"
DEMO = "demo"  # The name ``demo`` gets no mark, because every dataset of the demo is synthetic.


def is_made(source: object) -> bool:
    """Return whether the content of a ``source.json`` describes data from `xmlc synth`, or a copy
    of such data.
    """
    return isinstance(source, Mapping) and "synthetic" in (source.get("origin"), source.get("data"))


def name_in_records(name: str, made: bool) -> str:
    """Return the name of a dataset in records.

    Tables, figures, claims and the results page use the name from the records.
    """
    if made and name != DEMO:
        return name + MARK
    return name


def is_synthetic(name: str) -> bool:
    """Return whether the name of a dataset in a record marks the dataset as synthetic."""
    return name.endswith(MARK) or name == DEMO


def without_mark(name: str) -> str:
    """Return the name of a dataset in the catalogue and in paths, given its name in a record."""
    return name.removesuffix(MARK)
