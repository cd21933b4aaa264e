"""Which rows of a synthetic dataset are drawn."""

from __future__ import annotations

from xmlc.errors import XmlcError


def check_rows(start: int, end: int) -> None:
    """Raise `XmlcError` unless there is a row from ``start`` to ``end``, counted from 0."""
    if not 0 <= start < end:
        raise XmlcError(f"rows {start} .. {end - 1}: expected at least one, counted from 0")
