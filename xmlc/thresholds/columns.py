"""The column view that tuning works on: estimates and truth label by label, and its division into pieces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.csr import as_labels
from xmlc.errors import XmlcError
from xmlc.estimates import as_estimates
from xmlc.runtime.parallel import run_pieces

# Labels are uneven: a piece holds as many as have this many estimates and positives together.
ENTRIES_PER_PIECE = 1 << 18


class Columns(NamedTuple):
    """Estimates and truth, label by label: the form that the kernels take.

    Attributes
    ----------
    starts : int64 (m + 1,), rows : uint32, estimates : float32
        The SPE in CSC form, rows ascending within a label, estimates in (0, 1].
    true_starts : int64 (m + 1,), true_rows : uint32
        The truth in CSC form.
    """

    starts: np.ndarray
    rows: np.ndarray
    estimates: np.ndarray
    true_starts: np.ndarray
    true_rows: np.ndarray

    @property
    def n_labels(self) -> int:
        """Number of labels m."""
        return self.starts.size - 1


def checked_pair(spe: object, Y: object) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return an SPE and the truth in canonical form.

    Raises
    ------
    XmlcError
        The shapes differ, or an estimate is no probability.
    """
    spe, Y = as_estimates(spe), as_labels(Y)
    if spe.shape != Y.shape:
        raise XmlcError(f"the SPE has shape {spe.shape}, the truth {Y.shape}; they must be the same")
    return spe, Y


def columns(spe: object, Y: object) -> Columns:
    """Bring an SPE and the truth into column form; errors are those of `checked_pair`."""
    spe, Y = checked_pair(spe, Y)
    estimates, truth = sparse.csc_array(spe), sparse.csc_array(Y)
    return Columns(
        estimates.indptr.astype(np.int64),
        estimates.indices.astype(np.int32, copy=False).view(np.uint32),
        estimates.data,
        truth.indptr.astype(np.int64),
        truth.indices.astype(np.int32, copy=False).view(np.uint32),
    )


def label_pieces(data: Columns, entries: int = ENTRIES_PER_PIECE) -> list[tuple[int, int]]:
    """Cut the labels into ranges ``(start, end)`` of about equal work; the cuts depend on the data alone."""
    work = data.starts + data.true_starts + np.arange(data.starts.size)
    cuts = np.searchsorted(work, np.arange(entries, work[-1], entries))
    bounds = np.unique(np.concatenate(([0], cuts, [data.n_labels]))).tolist()
    return list(pairwise(bounds))


def run_by_label(kernel: Callable[..., None], data: Columns, n_jobs: int | None, *arguments: Any) -> None:
    """Call ``kernel(data, start, end, *arguments)`` for every piece; kernels write into arrays among them."""
    run_pieces(kernel, [(data, start, end, *arguments) for start, end in label_pieces(data)], n_jobs)


def per_label(value: float | np.ndarray | None, n_labels: int, dtype: type, name: str) -> np.ndarray:
    """Return a number, or one number per label, as an array of shape (m,); None stands for 0.

    Raises
    ------
    XmlcError
        The shape is another, or a value is NaN.
    """
    values: np.ndarray = np.asarray(0.0 if value is None else value, dtype=dtype)
    if values.shape not in ((), (n_labels,)):
        raise XmlcError(f"{name} has shape {values.shape}, expected a number or ({n_labels},), one for each label")
    if np.isnan(values).any():
        raise XmlcError(f"{name} holds NaN")
    return np.ascontiguousarray(np.broadcast_to(values, (n_labels,)))
