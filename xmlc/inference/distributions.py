"""Input of inference: samples of label sets, the matrix P of Theorem 3.1 in gfm2011, or marginals.

`xmlc.inference.Samples` stores a joint distribution compactly, and `xmlc.inference.LabelsBySize`
the full matrix P. Marginals alone (an SPE or a dense array) describe independent labels.
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

# Average sum of an instance's estimates below which a warning appears, because nearly every
# instance of data with many labels has a label. On two datasets with 1.06 and 3.03 labels per
# instance, estimates sum to .65 and .63, and calibration raised the instance-F of `meuf` by 29 and
# 13 points.
LEAST = 0.8


class LabelsBySize(NamedTuple):
    """The matrix P of n instances (gfm2011, Theorem 3.1), with a column for each size.

    Attributes
    ----------
    P : ndarray of float64, shape (n, m, S)
        p(Y_i = 1, s_y = sizes[s]), where s_y is the number of positive labels.
    p_empty : ndarray of float64, shape (n,)
        p(Y = 0).
    sizes : ndarray of int64, shape (S,)
        Distinct values of s_y, ascending, in 1 .. m.

    See Also
    --------
    Samples : A joint distribution as label sets drawn from it.

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.inference import LabelsBySize, gfm
    >>> P = np.array([[[0.5, 0.25], [0.0, 0.25]]])
    >>> gfm(LabelsBySize(P, np.array([0.25]), np.array([1, 2])))[0].toarray().astype(int).tolist()
    [[1, 0]]
    """

    P: np.ndarray
    p_empty: np.ndarray
    sizes: np.ndarray


def checked_labels_by_size(P: object, p_empty: object, sizes: object = None) -> LabelsBySize:
    """Return P, p(Y = 0) and the sizes (by default from 1) in canonical form.

    Raises
    ------
    XmlcError
        If shapes contradict each other, sizes do not ascend within 1 .. m, an entry is not a
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
    """Return marginals p(Y_i = 1), sparse or dense, as canonical CSR without stored zeros, (n, m).

    Faults are those of `xmlc.kernels.csr.as_estimates`.
    """
    return as_estimates(marginals, name="marginals")


# All methods split instances into blocks and join the results by the functions below


ROWS_PER_TASK = 64


def predict_blocks(
    predict: Callable[..., np.ndarray],
    shape: tuple[int, int],
    n_jobs: int | None,
    rows_per_task: int = ROWS_PER_TASK,
) -> tuple[CSR, np.ndarray]:
    """Call ``predict(start, end, counts, values)`` for each block, and join the results.

    ``predict`` returns the labels of the sets (uint32), instance by instance, and writes their
    sizes to ``counts`` (int64) and their expected F-measures to ``values`` (float64). The blocks do
    not depend on the number of threads. The results are the sets, bool CSR of ``shape``, and the
    values.
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
    """Run ``kernel(indptr, labels, marginals, *arguments, counts, values)`` by `predict_blocks`.

    The kernel receives a block of instances as CSR arrays with ``indptr[0] = 0`` and float64
    marginals above 0. If ``trusting`` is true, marginals with an average sum below `LEAST` cause a
    warning.
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


# An SPE lacks the labels up to a minimum probability kappa. What follows bounds the loss of
# expected F-measure because of them.


def truncation_bound(
    Y_hat: Matrix,
    expected_f: np.ndarray,
    dropped: float | np.ndarray,
    kappa: float = 1.0,
    independent: bool = True,
) -> np.ndarray:
    """Return an upper bound of the expected F-measure lost by ignoring labels of low probability.

    Let y be a random set of positives among all m labels, y' the same set without the dropped
    labels, and r the number of positives among these. Its mean delta = E[r] is the sum of the
    dropped marginals, none of which exceeds kappa. Let h0 be the set of k0 labels that maximises
    G(h) = E[F(y', h)], which `gfm` and `meuf` find from the retained labels, and let h*, with k*
    labels, maximise E(h) = E[F(y, h)]. The loss is bounded as follows::

        E(h*) - E(h0) <= min(delta, 2 kappa) + delta / (k0 + 2)            k0 >= 1
                         min(delta, 2 kappa) + min(delta, G(h0))           k0 = 0

    The bound is tighter if r is independent of y'::

        E(h*) - E(h0) <= min(delta, 2 kappa) + G(h0) delta / (k0 + 2)      k0 >= 1
                         min(delta, 2 kappa) + G(h0) min(delta, 1)         k0 = 0

    Proof. Let h' be h* without its dropped labels, and let b be the number of positives among
    these. E(h*) - E(h0) is the sum of [E(h*) - E(h')], [E(h') - G(h')], [G(h') - G(h0)] <= 0 and
    [G(h0) - E(h0)].

    (1) F(y, h*) - F(y, h') is at most 2b / (s + k*) <= 2b / (1 + k*), because b >= 1 implies s >=
    1. The mean of b is at most delta and at most kappa k*, so that of 2b / (1 + k*) is at most
    min(delta, 2 kappa).

    (2) For a set h of k retained labels, let D = F(y', h) - F(y, h). It is F(y', h) r / (s' + r +
    k) unless h and y' are empty, because a dropped positive only adds to the size of y. So D is at
    most F(y', h) r / (k + 2), because a hit implies s' >= 1. Its mean is at most delta / (k + 2),
    and at most G(h) delta / (k + 2) if r is independent of y'. If h is empty, it is Pr(y' = 0, r >=
    1).

    Nothing is assumed about the dependence of labels, unless ``independent`` is true.

    Parameters
    ----------
    Y_hat : boolean CSR, shape (n, m)
        The set h0 of each instance.
    expected_f : ndarray of float64, shape (n,)
        G(h0), as returned with ``Y_hat``.
    dropped : float or ndarray, shape (n,)
        The sum delta of the dropped marginals, at most kappa times their number. The number of true
        labels below the minimum probability (`missed_below` on a validation set) also serves: the
        mean of the result then estimates the mean bound, except that the term min(delta, 2 kappa)
        is not linear in delta.
    kappa : float
        The minimum probability, which no dropped marginal exceeds. 1 is valid for any estimates.
    independent : bool
        Whether the dropped labels are independent of the retained ones, as inference from marginals
        assumes.

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        If ``dropped`` is negative, NaN or of another shape, or kappa is not in 0 .. 1.

    See Also
    --------
    missed_below : Counts the true labels without estimates.

    Examples
    --------
    >>> from xmlc.inference import meuf, truncation_bound
    >>> truncation_bound(*meuf([[0.9, 0.4], [0.2, 0.1]]), dropped=0.05, kappa=0.01).round(3)
    array([0.033, 0.056])
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
        If the shapes differ.

    See Also
    --------
    truncation_bound : Bounds the loss because of these labels.

    Examples
    --------
    >>> from xmlc.inference import missed_below
    >>> missed_below([[0.9, 0.4, 0.0], [0.0, 0.1, 0.1]], [[1, 0, 1], [1, 1, 0]])
    array([1, 1])
    """
    found = agreement_of_blocks(
        sets_by_blocks(Y, as_marginals(spe), lambda part: part.astype(bool))
    )
    return found.row_positives - found.row_hits


def truncation_loss(
    marginals: CSR, min_probability: float, Y: CSR, Y_hat: CSR, expected_f: np.ndarray
) -> float:
    """Estimate an upper bound of the mean loss of expected F due to a minimum probability.

    The number of true labels without estimates estimates delta, the sum of the dropped marginals.
    `truncation_bound` is linear in delta except for its first term, min(delta, 2 kappa), which is
    concave, so its mean over instances is at most its value at the mean of delta. ``Y_hat`` and
    ``expected_f`` are from an exact maximiser.
    """
    missed = missed_below(marginals, Y)
    return min(mean(missed), 2 * min_probability) + mean(
        truncation_bound(Y_hat, expected_f, missed, kappa=0.0)
    )
