"""Common steps of the generators: sizes, frequent features, and labels drawn from posteriors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.csr import CSR, stack_estimates

ROWS_PER_BLOCK = 1024
VALUE_STEPS = 10000  # Multiples of 1e-4 are short as text
# A row's random numbers from this counter on determine labels, all others features
LABEL_COUNTER = 1 << 32


def check_sizes(n_features: int, n_labels: int, nonzeros: int, labels_per_instance: float) -> None:
    """Raise an `XmlcError` if a size is not above 0."""
    if min(n_features, n_labels, nonzeros) < 1 or labels_per_instance <= 0:
        found = f"{n_features=}, {n_labels=}, {nonzeros=}, {labels_per_instance=}"
        raise XmlcError(f"found {found}, expected numbers above 0")


def draw_with_posteriors(
    draw_rows: Callable[[int, int], tuple[np.ndarray, ...]],
    seed: int,
    rows: tuple[int, int],
    shape: tuple[int, int],
    n_jobs: int | None,
    title: str,
) -> tuple[CSR, CSR, CSR]:
    """Draw a range of rows block by block, with labels drawn from the posteriors of each row.

    Parameters
    ----------
    draw_rows : callable
        From the start and end of a block, it returns the number of features of each row, the
        features and their values, then the number of posteriors of each row, their labels in
        ascending order and the posteriors.
    seed : int
    rows : (start, end)
    shape : (n_features, n_labels)
    n_jobs : int or None
    title : str
        Of the progress display.

    Returns
    -------
    X : csr_array of float32, Y : csr_array of bool, P : csr_array of float32

    Raises
    ------
    XmlcError
        If the range of rows is empty or starts below 0.
    """
    start, end = rows
    if not 0 <= start < end:
        raise XmlcError(
            f"found rows {start} to {end - 1}, expected a range from 0 with at least one row"
        )

    def draw(first: int, last: int) -> tuple[np.ndarray, ...]:
        lengths, features, values, counts, labels, posteriors = draw_rows(first, last)
        places = np.repeat(np.arange(last - first), counts)
        positive = draw_labels(seed, first + places, labels, posteriors)
        positives = np.bincount(places[positive], minlength=last - first)
        return lengths, features, values, counts, labels, posteriors, positives, labels[positive]

    tasks = [
        (start + first, start + last) for first, last in row_blocks(end - start, ROWS_PER_BLOCK)
    ]
    blocks = run_tasks(
        draw, tasks, n_jobs, [last - first for first, last in tasks], title=title, unit="rows"
    )
    joined: Any = map(np.concatenate, zip(*blocks))
    lengths, features, values, counts, labels, posteriors, positives, drawn = joined
    X = stack_estimates(lengths, features.view(np.int32), values, shape[0])
    Y = stack_estimates(positives, drawn, np.ones(drawn.size, dtype=bool), shape[1])
    return X, Y, stack_estimates(counts, labels, posteriors, shape[1])


@njit
def draw_labels(seed, rows, labels, posteriors):
    """Return whether rows (int64) have labels (int32), drawn from float32 posteriors, all (q,)."""
    positive = np.empty(rows.size, dtype=np.bool_)
    for q in range(rows.size):
        key = stream_key(seed, Stream.SYNTHETIC_ROW.value + rows[q])
        positive[q] = random_unit(key, LABEL_COUNTER + labels[q]) < posteriors[q]
    return positive


@njit
def popular_feature(u, n_features):
    """Map a uniform number u < 1 to feature f with a probability of about (f + 1) ** (-2/3)."""
    return np.int64(n_features * u * u * u)
