"""Tasks that take turns, and what is asked of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np
from scipy import sparse

from xmlc.metrics.ranking import precision_at_k
from xmlc.passport import timed

T = TypeVar("T")


def in_turns(
    tasks: Mapping[str, Callable[[], T]], rounds: int, at_least: float = 0.0
) -> tuple[dict[str, list[float]], dict[str, T]]:
    """Run every task once a round, one after the other, so that a busy spell of the machine meets all of them.

    Parameters
    ----------
    tasks : dict of callable
    rounds : int
    at_least : float
        Seconds: a shorter task is repeated for so long when it is its turn, and its best time counts.

    Returns
    -------
    seconds : dict
        Of each task, one number per round.
    results : dict
        What each task returned the last time.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    results: dict[str, T] = {}
    for _ in range(rounds):
        for name, task in tasks.items():
            results[name], spent = timed(task)
            shortest = spent
            while spent < at_least:
                results[name], elapsed = timed(task)
                shortest, spent = min(shortest, elapsed), spent + elapsed
            seconds[name].append(shortest)
    return seconds, results


def precisions(Y: sparse.csr_array, labels: np.ndarray) -> list[float]:
    """Return P@1, P@3 and P@5 of a ranking, shape (n, 5)."""
    return [float(precision_at_k(Y, labels, k)) for k in (1, 3, 5)]


def differing(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> list[str]:
    """Name the arrays that are not the same bits: another type, shape or byte, or in one of the two only.

    Two NaN of the same bits are equal here, and 0 and -0 are not.
    """
    names: Iterable[str] = sorted(first.keys() | second.keys())
    return [name for name in names if not (name in first and name in second and _same(first[name], second[name]))]


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    first, second = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (first, second))
    return np.array_equal(first, second)
