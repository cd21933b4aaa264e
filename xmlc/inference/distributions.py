"""Prepare distributions for inference: samples of label sets, the matrix P of Theorem 3.1 in
gfm2011, or marginals.

`Samples` stores a joint distribution compactly, and `LabelsBySize` stores the full matrix P.
Marginals alone (an SPE or a dense array) describe independent labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import (
    CSR,
    Matrix,
    as_estimates,
    as_labels,
    check_probabilities,
    stack_estimates,
    warn_of_sums,
)
from xmlc.kernels.domains import SHARE, check
from xmlc.kernels.elementwise import mean
from xmlc.metrics.classification import agreement_of_blocks, sets_by_blocks

# In data with many labels, nearly every instance has a label. xmlc therefore warns if the estimates
# of an instance sum to less than LEAST on average. On two datasets, the estimates of an instance
# sum to 0.65 and 0.63 on average, although an instance has 1.06 and 3.03 labels on average. On
# these two datasets, calibrated estimates raised the instance-F of `meuf` by 29 and 13 points.
LEAST = 0.8


class LabelsBySize(NamedTuple):
    """The matrix P of Theorem 3.1 for n instances, with columns for the sizes that any instance can
    have.

    Attributes
    ----------
    P : ndarray of float64, shape (n, m, S)
        p(Y_i = 1, s_y = sizes[s]), where s_y is the number of positive labels.
    p_empty : ndarray of float64, shape (n,)
        p(Y = 0).
    sizes : ndarray of int64, shape (S,)
        Distinct values of s_y, ascending, in 1 .. m.
    """

    P: np.ndarray
    p_empty: np.ndarray
    sizes: np.ndarray


def checked_labels_by_size(P: object, p_empty: object, sizes: object = None) -> LabelsBySize:
    """Check P, p(Y = 0) and the sizes, and return them in canonical form.

    Parameters
    ----------
    P : array-like, shape (n, m, S), or (m, S) for a single instance
    p_empty : float or array-like, shape (n,)
    sizes : array-like of int, shape (S,), optional
        Sizes along the last axis of P, by default from 1 to S.

    Raises
    ------
    XmlcError
        The shapes contradict each other, sizes do not ascend within 1 .. m, an entry is not a
        probability, or the total probability of an instance, p(Y = 0) + sum_is p_is / s, exceeds 1.
    """
    P = as_numbers(P, "P")
    p_empty = np.atleast_1d(as_numbers(p_empty, "p_empty"))
    if P.ndim == 2:
        P = P[None]
    if P.ndim != 3 or p_empty.shape != P.shape[:1]:
        found = f"shapes {P.shape} and {p_empty.shape}"
        raise InvalidDataError(f"P and p_empty: found {found}, expected (n, m, S) and (n,)")
    if sizes is None:
        sizes = np.arange(1, P.shape[2] + 1)
    sizes = np.asarray(sizes)
    if sizes.shape != P.shape[2:] or not np.issubdtype(sizes.dtype, np.integer):
        expected = f"integers of shape {P.shape[2:]}"
        raise InvalidDataError(
            f"sizes: found {sizes.dtype} of shape {sizes.shape}, expected {expected}"
        )
    if sizes.size and not (
        sizes[0] >= 1 and sizes[-1] <= P.shape[1] and (np.diff(sizes) > 0).all()
    ):
        expected = f"ascending numbers from 1 to {P.shape[1]}, the number of labels"
        raise InvalidDataError(f"sizes: found {sizes.tolist()}, expected {expected}")
    check_probabilities(P, "P")
    check_probabilities(p_empty, "p_empty")
    total = p_empty + (P / sizes).sum(axis=(1, 2))
    if (total > 1 + 1e-6).any():
        i = int(total.argmax())
        found = f"instance {i}: found {total[i]:.6g} as p_empty + sum of P / s"
        raise InvalidDataError(
            f"{found}, expected at most 1. Use joint probabilities p(Y_i = 1, s_y = s) in P."
        )
    return LabelsBySize(P, p_empty, sizes.astype(np.int64))


def as_marginals(marginals: Any) -> CSR:
    """Return marginals p(Y_i = 1) as canonical CSR without stored zeros, float32 or float64, shape
    (n, m).

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or array-like, shape (n, m)

    Raises
    ------
    XmlcError
        An entry is not a probability (see `xmlc.kernels.csr.as_estimates`), or the shape is not (n,
        m).
    """
    return as_estimates(marginals, name="marginals")


# All methods use the functions below, which split instances into blocks and join the label sets and
# their values.


ROWS_PER_TASK = 64


def predict_blocks(
    predict: Callable[..., np.ndarray],
    shape: tuple[int, int],
    n_jobs: int | None,
    rows_per_task: int = ROWS_PER_TASK,
) -> tuple[CSR, np.ndarray]:
    """Call ``predict(start, end, counts, values)`` for each block of instances, and join the
    results.

    Parameters
    ----------
    predict : callable
        The function returns the labels of the sets (uint32), in the order of the instances, and in
        any order within an instance. The function writes the sizes of the sets to ``counts``
        (int64), and their expected F-measures to ``values`` (float64).
    shape : (n, m)
    n_jobs : int or None
        Number of threads. The blocks do not depend on the number of threads.
    rows_per_task : int
        Number of instances per task.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
    """
    counts = np.empty(shape[0], dtype=np.int64)
    values = np.empty(shape[0])
    tasks = [
        (start, end, counts[start:end], values[start:end])
        for start, end in row_blocks(shape[0], rows_per_task)
    ]
    kept = np.concatenate([np.empty(0, dtype=np.uint32), *run_tasks(predict, tasks, n_jobs)])
    return stack_estimates(
        counts, kept.view(np.int32), np.ones(kept.size, dtype=bool), shape[1]
    ), values


def predict_from_marginals(
    kernel: Callable[..., np.ndarray],
    marginals: Matrix,
    n_jobs: int | None,
    *arguments: Any,
    rows_per_task: int = ROWS_PER_TASK,
    trusting: bool = False,
) -> tuple[CSR, np.ndarray]:
    """Run ``kernel(indptr, labels, marginals, *arguments, counts, values)`` over blocks (see
    `predict_blocks`).

    The kernel receives one block of instances as CSR arrays with ``indptr[0] = 0`` and float64
    marginals above 0. The kernel returns the labels of the sets, and writes ``counts`` and
    ``values``. If ``trusting`` is true, the function warns if the sum of an instance's marginals is
    less than `LEAST` on average.
    """
    p = as_marginals(marginals)
    if trusting:
        warn_of_sums(float(p.data.sum(dtype=np.float64)), LEAST * p.shape[0], np.inf, p.shape[0])

    def predict(start: int, end: int, *results: np.ndarray) -> np.ndarray:
        entries = slice(p.indptr[start], p.indptr[end])
        indptr = p.indptr[start : end + 1].astype(np.int64) - p.indptr[start]
        labels = p.indices[entries].astype(np.int32).view(np.uint32)
        return kernel(indptr, labels, p.data[entries].astype(np.float64), *arguments, *results)

    return predict_blocks(predict, p.shape, n_jobs, rows_per_task)


# An SPE contains only the labels whose estimates exceed a minimum probability kappa. The functions
# below bound the loss of expected F-measure because of the labels that an SPE lacks.


def truncation_bound(
    Y_hat: Matrix,
    expected_f: np.ndarray,
    dropped: float | np.ndarray,
    kappa: float = 1.0,
    independent: bool = True,
) -> np.ndarray:
    """Return an upper bound of the expected F-measure lost if inference ignores labels below a
    minimum probability.

    Let y be a random set of positives among all m labels, and let y' be y without the dropped
    labels. Let r be the number of positives among the dropped labels. The mean delta = E[r] is the
    sum of the dropped marginals, none of which exceeds kappa. Let h0 be the set of k0 labels that
    maximises G(h) = E[F(y', h)], which `gfm` and `meuf` find from the retained labels. Let h*, with
    k* labels, maximise E(h) = E[F(y, h)]. The loss is bounded as follows::

        E(h*) - E(h0) <= min(delta, 2 kappa) + delta / (k0 + 2)            k0 >= 1
                         min(delta, 2 kappa) + min(delta, G(h0))           k0 = 0

    The bound is tighter if r is independent of y'::

        E(h*) - E(h0) <= min(delta, 2 kappa) + G(h0) delta / (k0 + 2)      k0 >= 1
                         min(delta, 2 kappa) + G(h0) min(delta, 1)         k0 = 0

    Proof. Let h' be h* without its dropped labels, and let b be the number of positives among these
    dropped labels. E(h*) - E(h0) is the sum of [E(h*) - E(h')], [E(h') - G(h')], [G(h') - G(h0)] <=
    0 and [G(h0) - E(h0)].

    (1) F(y, h*) - F(y, h') is at most 2b / (s + k*) <= 2b / (1 + k*), because b >= 1 implies s >=
    1. The mean of b is
        at most delta and at most kappa k*, so that the mean of 2b / (1 + k*) is at most min(delta,
        2 kappa).
    (2) For a set h of k retained labels, let D = F(y', h) - F(y, h). D is F(y', h) r / (s' + r + k)
    unless h and y' are
        empty, because a dropped positive only adds to the size of y. D is at most F(y', h) r / (k +
        2), because a hit implies s' >= 1. The mean of D is at most delta / (k + 2), and at most
        G(h) delta / (k + 2) if r is independent of y'. If h is empty, the mean of D is Pr(y' = 0, r
        >= 1).

    The bound assumes nothing about the dependence of labels, unless ``independent`` is true.

    Parameters
    ----------
    Y_hat : boolean CSR, shape (n, m)
        The set h0 of each instance.
    expected_f : ndarray of float64, shape (n,)
        G(h0), as returned with ``Y_hat``.
    dropped : float or ndarray, shape (n,)
        The sum delta of the dropped marginals. ``dropped`` is at most kappa times the number of
        dropped labels. You can also pass the number of true labels below the minimum probability
        (`missed_below` on a validation set). If ``dropped`` contains numbers of true labels, the
        mean of the result estimates the mean bound. Only the term min(delta, 2 kappa) is not linear
        in delta.
    kappa : float
        The minimum probability, which no dropped marginal exceeds. A ``kappa`` of 1 is valid for
        any estimates.
    independent : bool
        Whether the dropped labels are independent of the retained labels, as inference from
        marginals assumes.

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        ``dropped`` is negative, NaN or of another shape, or kappa is not in 0 .. 1.
    """
    sizes = np.diff(as_labels(Y_hat).indptr)
    values = as_numbers(expected_f, "expected_f")
    delta = as_numbers(dropped, "dropped")
    if (
        values.shape != sizes.shape
        or delta.shape not in ((), sizes.shape)
        or not (delta >= 0).all()
    ):
        found = (
            f"shapes {values.shape} and {delta.shape}, smallest dropped {delta.min(initial=np.inf)}"
        )
        expected = (
            f"shape {sizes.shape} for both, or one number for dropped, and dropped at least 0"
        )
        raise InvalidDataError(f"expected_f and dropped: found {found}, expected {expected}")
    check("kappa", kappa, SHARE, "Use the minimum probability of the estimates.")
    of_sets = delta / (sizes + 2.0)
    of_empty_sets = np.minimum(delta, values)
    if independent:
        of_sets *= values
        of_empty_sets = np.minimum(delta, 1.0) * values
    return np.minimum(delta, 2.0 * kappa) + np.where(sizes > 0, of_sets, of_empty_sets)


def missed_below(spe: Matrix, Y: Matrix) -> np.ndarray:
    """Count the true labels of each instance that have no estimate above the minimum probability.

    Parameters
    ----------
    spe : sparse matrix, shape (n, m)
    Y : boolean CSR, shape (n, m)

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    XmlcError
        The shapes differ.
    """
    found = agreement_of_blocks(
        sets_by_blocks(Y, as_marginals(spe), lambda part: part.astype(bool))
    )
    return found.row_positives - found.row_hits


def truncation_loss(
    marginals: CSR, min_probability: float, Y: CSR, Y_hat: CSR, expected_f: np.ndarray
) -> float:
    """Estimate an upper bound of the mean loss of expected F due to a minimum probability.

    The sum of the dropped marginals is estimated by the number of true labels without estimates.
    `truncation_bound` is linear in delta, the sum of the dropped marginals, except for its first
    term, min(delta, 2 kappa). This term is concave in delta, so its mean over instances is at most
    its value at the mean of delta.

    Parameters
    ----------
    marginals : csr_array, shape (n, m)
        The estimates above ``min_probability``.
    min_probability : float
        The minimum probability.
    Y : boolean csr_array, shape (n, m)
        The true labels.
    Y_hat : boolean csr_array, shape (n, m)
        The sets that an exact maximiser infers from the estimates.
    expected_f : ndarray of float64, shape (n,)
        The expected F-measure of each set, as returned by the exact maximiser.
    """
    missed = missed_below(marginals, Y)
    return min(mean(missed), 2 * min_probability) + mean(
        truncation_bound(Y_hat, expected_f, missed, kappa=0.0)
    )
