"""Format texts that several reports share: counts with nouns, and lists that are cut off after the first items."""

from __future__ import annotations

from collections.abc import Sequence


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 row`` or ``1,200 rows``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def some(texts: Sequence[str], between: str, listed: int = 6) -> str:
    """Join the first ``listed`` texts by the separator ``between``. Append the number of texts left out, if any."""
    more = [f"and {len(texts) - listed} more"] if len(texts) > listed else []
    return between.join([*texts[:listed], *more])
