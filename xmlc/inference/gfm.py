"""GFM: the general F-measure maximiser (gfm2011, Algorithm 1), and its thresholding variant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from xmlc.inference._gfm import gfm_dense, gfm_marginals, gfm_samples
from xmlc.inference.distributions import LabelsBySize, checked_labels_by_size, predict_blocks, predict_from_marginals
from xmlc.inference.samples import Samples, checked_samples
from xmlc.kernels.domains import MANY, check, whole

NO_THRESHOLDS = np.empty(0)


def gfm(
    P: object, p_empty: object = None, sizes: object = None, n_jobs: int | None = None
) -> tuple[sparse.csr_array, np.ndarray]:
    """Find for each instance the label set of greatest expected F-measure (gfm2011, Algorithm 1).

    Exact for any joint distribution of the labels, 0/0 = 1. Of sets of equal value that of the fewest labels is
    returned, then that of the smaller label ids; values count as equal up to 1e-12.

    Parameters
    ----------
    P : LabelsBySize, Samples, ndarray, or marginals
        An ndarray of shape (n, m, S), or (m, S) for one instance, is p(Y_i = 1, s_y = s) if ``p_empty`` is given.
        An SPE (sparse) or an ndarray of shape (n, m) without ``p_empty`` holds marginals, and stands for independent
        labels; what an SPE does not store counts as 0 (see `floor_bound` for what that costs).
    p_empty : float or ndarray of shape (n,), optional
        p(Y = 0).
    sizes : ndarray of int, shape (S,), optional
        Sizes s that the columns of P stand for; 1 .. S by default.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
        Its expected F-measure under the distribution given.

    Raises
    ------
    XmlcError
        Shapes contradict each other or an entry is no probability.

    Notes
    -----
    With L labels and S sizes that have mass, an instance costs at most O(L^2 S), mostly far less, because the loop over
    k ends when no larger set can win; nothing is proportional to m.

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
) -> tuple[sparse.csr_array, np.ndarray]:
    """Find for each instance the best of the sets of the k most probable labels (GFM-T, gfm2011, Section 3).

    Arguments and results are those of `gfm`; the expected F-measure is exact, but the search is only over thresholds
    on the marginals, of equal ones the smaller label id first. O(L S) for an instance.

    Parameters
    ----------
    P, p_empty, sizes, n_jobs
        As of `gfm`.
    n_thresholds : int or None
        t, "a small number t < m of thresholds": only the sets of the labels with a marginal of at least 1/(2t), 2/(2t),
        .. 1/2 are tried, and the empty set; none above 1/2, because half the best F-measure is the best threshold
        where there are many labels (plt2016, equation (4)). The paper says neither which t nor which thresholds.
        None: all.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As from `gfm`, or ``n_thresholds`` is below 1.

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


def _maximise(
    P: Any, p_empty: object, sizes: object, n_jobs: int | None, by_marginal: bool, thresholds: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    if isinstance(P, Samples):
        return _from_samples(checked_samples(P), n_jobs, by_marginal, thresholds)
    if isinstance(P, LabelsBySize):
        return _from_labels_by_size(checked_labels_by_size(*P), n_jobs, by_marginal, thresholds)
    if p_empty is not None:
        return _from_labels_by_size(checked_labels_by_size(P, p_empty, sizes), n_jobs, by_marginal, thresholds)
    return predict_from_marginals(gfm_marginals, P, n_jobs, by_marginal, thresholds, trusting=True)


def _from_labels_by_size(
    given: LabelsBySize, n_jobs: int | None, by_marginal: bool, thresholds: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    def predict(start: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts, values = np.empty(end - start, dtype=np.int64), np.empty(end - start)
        block = given.P[start:end], given.p_empty[start:end]
        kept = gfm_dense(*block, given.sizes, by_marginal, thresholds, counts, values)
        return kept, counts, values

    return predict_blocks(predict, given.P.shape[:2], n_jobs)


def _from_samples(
    samples: Samples, n_jobs: int | None, by_marginal: bool, thresholds: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray]:
    Y, n_samples = samples
    n, m = Y.shape[0] // n_samples, Y.shape[1]

    def predict(start: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = Y.indptr[start * n_samples : end * n_samples + 1].astype(np.int64)
        labels = np.ascontiguousarray(Y.indices[rows[0] : rows[-1]], dtype=np.int32).view(np.uint32)
        rows -= rows[0]
        counts, values = np.empty(end - start, dtype=np.int64), np.empty(end - start)
        kept = gfm_samples(rows, labels, m, n_samples, by_marginal, thresholds, counts, values)
        return kept, counts, values

    return predict_blocks(predict, (n, m), n_jobs)
