"""Texts for several reports: counts with nouns, and lists with only their first items."""

from __future__ import annotations

from collections.abc import Sequence


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 row`` or ``1,200 rows``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def some(texts: Sequence[str], between: str, listed: int = 6) -> str:
    """Return the first ``listed`` texts, joined by ``between``, and the number of the others."""
    more = []
    if len(texts) > listed:
        more = [f"and {len(texts) - listed} more"]
    return between.join([*texts[:listed], *more])
