"""Maximise the expected F-measure by GFM (gfm2011, Algorithm 1), or by its thresholding variant GFM-T."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmlc.inference._gfm import gfm_dense, gfm_marginals, gfm_samples
from xmlc.inference.distributions import LabelsBySize, checked_labels_by_size, predict_blocks, predict_from_marginals
from xmlc.inference.samples import Samples, checked_samples
from xmlc.kernels.csr import CSR
from xmlc.kernels.domains import MANY, check, whole

NO_THRESHOLDS = np.empty(0)


def gfm(P: object, p_empty: object = None, sizes: object = None, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find for each instance the label set with the greatest expected F-measure (gfm2011, Algorithm 1).

    The result is exact for any joint distribution of the labels, with 0/0 = 1. Among sets of equal value, the set with
    the fewest labels wins, then the set with the smaller label ids. Values that differ by at most 1e-12 are regarded as
    equal.

    Parameters
    ----------
    P : LabelsBySize, Samples, ndarray, or marginals
        If you pass ``p_empty``, P is an ndarray of p(Y_i = 1, s_y = s), of shape (n, m, S), or (m, S) for one instance.
        Without ``p_empty``, an SPE or an ndarray of shape (n, m) contains marginals of independent labels. Labels that
        an SPE does not store have the marginal 0 (`truncation_bound` bounds the loss).
    p_empty : float or ndarray of shape (n,), optional
        p(Y = 0), the probability of the empty set.
    sizes : ndarray of int, shape (S,), optional
        Sizes s along the last axis of P, by default from 1 to S.
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
        Expected F-measure of each set under the given distribution.

    Raises
    ------
    XmlcError
        Shapes contradict each other, or an entry is not a probability.

    Notes
    -----
    For an instance in which L labels and S sizes have a probability above 0, time is at most O(L^2 S). Most instances
    take far less time, because the loop over k ends when no larger set can win. With sparse input, the time does not
    depend on m.

    Examples
    --------
    >>> from xmlc.inference import gfm
    >>> Y_hat, expected_f = gfm([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return _maximise(P, p_empty, sizes, n_jobs, False, NO_THRESHOLDS)


def gfm_t(
    P: object, p_empty: object = None, sizes: object = None, n_jobs: int | None = None, n_thresholds: int | None = None
) -> tuple[CSR, np.ndarray]:
    """Find for each instance the best set of the form "the k most probable labels" (GFM-T, gfm2011, Section 3).

    The expected F-measure is exact, but only thresholds on the marginals are tried. Labels with equal marginals are
    ranked by ascending id. Time is O(L S) per instance, with L and S as in `gfm`.

    Parameters
    ----------
    P, p_empty, sizes, n_jobs
        As in `gfm`.
    n_thresholds : int or None
        The paper's t, "a small number t < m of thresholds". The method tries the empty set, and the sets of labels with
        a marginal of at least 1/(2t), 2/(2t), .. 1/2. No threshold exceeds 1/2, because with many labels the best
        threshold is half the best F-measure (plt2016, equation (4)). gfm2011 specifies neither t nor the thresholds.
        With None, the method tries every number k of labels.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `gfm`, or ``n_thresholds`` is below 1.

    Examples
    --------
    >>> from xmlc.inference import gfm_t
    >>> Y_hat, expected_f = gfm_t([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    check("n_thresholds", n_thresholds, whole(1, MANY, none=True))
    thresholds = NO_THRESHOLDS if n_thresholds is None else np.arange(1, n_thresholds + 1) / (2 * n_thresholds)
    return _maximise(P, p_empty, sizes, n_jobs, True, thresholds)


def _maximise(P: Any, p_empty: object, sizes: object, n_jobs: int | None, *options: Any) -> tuple[CSR, np.ndarray]:
    """Return the best set of each instance and its expected F-measure, by Algorithm 1 of gfm2011.

    ``options`` are the arguments ``by_marginal`` and ``thresholds`` of `xmlc.inference._gfm.best_size`.
    """
    if isinstance(P, Samples):
        return _from_samples(checked_samples(P), n_jobs, options)
    if p_empty is None and not isinstance(P, LabelsBySize):
        return predict_from_marginals(gfm_marginals, P, n_jobs, *options, trusting=True)
    given = checked_labels_by_size(*(P if isinstance(P, LabelsBySize) else (P, p_empty, sizes)))

    def predict(start: int, end: int, *results: np.ndarray) -> np.ndarray:
        return gfm_dense(given.P[start:end], given.p_empty[start:end], given.sizes, *options, *results)

    return predict_blocks(predict, given.P.shape[:2], n_jobs)


def _from_samples(samples: Samples, n_jobs: int | None, options: tuple[Any, ...]) -> tuple[CSR, np.ndarray]:
    Y, n_samples = samples
    n, m = Y.shape[0] // n_samples, Y.shape[1]

    def predict(start: int, end: int, *results: np.ndarray) -> np.ndarray:
        rows = Y.indptr[start * n_samples : end * n_samples + 1].astype(np.int64)
        labels = np.ascontiguousarray(Y.indices[rows[0] : rows[-1]], dtype=np.int32).view(np.uint32)
        return gfm_samples(rows - rows[0], labels, m, n_samples, *options, *results)

    return predict_blocks(predict, (n, m), n_jobs)
