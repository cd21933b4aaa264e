"""STO: the threshold of each label with the highest F-measure, by sorting (plt2016, Section 4.1).

The candidates of a label are its estimates for the instances that carry it. One of them is optimal
for any measure that grows with the hits and falls with the number of predictions, because a
threshold at another estimate has as many hits as the next higher candidate, but more predictions.
So time and memory for sorting depend on the number of positives and not on that of estimates, which
may be in memory-mapped files.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_tasks
from xmlc.kernels.csr import CSR, Matrix, blocks_of_rows, kernel_csr, per_label, release
from xmlc.kernels.estimator import hyperparameters
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.thresholds.methods import ThresholdMethod, checked_pair


@njit
def best_candidates(
    starts, lowest, hits, predicted, largest, positives, minima, recall, thresholds
):
    """Find for each group the candidate with the highest F-measure (plt2016, Algorithm 1, line 9).

    F_beta grows with h / (w P + k), for h hits, P positives, k predictions and w = beta^2, the
    argument ``recall``. Ratios are compared by cross-multiplication, which is exact if w is 1 and
    the products are below 2^53. The fewest predictions win among equal ratios, and the empty
    prediction if no candidate has a hit.

    The first arguments are the attributes of `Candidates`. Predicted estimates strictly exceed
    ``minima``, uint32 (g,). ``thresholds``, uint32 (g,), receives one less than the lowest
    predicted estimate, the largest estimate of a group that is not predicted, or the minimum of a
    group without estimates above it.
    """
    for g in range(thresholds.size):
        n_positives = recall * positives[g]
        best_h = np.int64(0)
        best_k = np.int64(0)
        thresholds[g] = max(largest[g], minima[g])
        for c in range(starts[g + 1] - 1, starts[g] - 1, -1):
            if lowest[c] <= minima[g]:
                break
            if hits[c] * (n_positives + best_k) > best_h * (n_positives + predicted[c]):
                best_h = hits[c]
                best_k = predicted[c]
                thresholds[g] = lowest[c] - np.uint32(1)


@hyperparameters
class STO(ThresholdMethod):
    """The threshold of each label with the highest F-measure on the validation set, by sorting.

    With ``kappa=0`` and an SPE that contains every estimate, it maximises the validation macro-F
    exactly (plt2016, Section 4.1). Among thresholds with equal F, the highest is chosen, which
    predicts the fewest labels. If the empty prediction is best for a label, its threshold is its
    largest estimate, and a label without estimates above kappa_j gets kappa_j.

    The method reads the estimates twice, and looks each up among the sorted estimates of its
    label's positives. Memory takes one block of estimates and 24 bytes for each positive.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Minimum thresholds kappa_j, which candidates exceed as in `apply_thresholds`.
    overlap : Overlap
        Measure to maximise instead of F, such as ``f_beta(2)``. Jaccard, which is F / (2 - F), has
        the same thresholds as F.
    n_jobs : int or None
        Number of threads, without effect on the result.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)

    See Also
    --------
    FTA, OFO : Thresholds in one pass, without stored estimates.
    ExpectedF : Thresholds without labelled instances.
    CommonThreshold : One threshold for all labels.

    Examples
    --------
    >>> from xmlc.thresholds import STO
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> STO().fit(spe, Y).thresholds_
    array([0.39999998, 0.29999998], dtype=float32)
    """

    kappa: float | np.ndarray = 0.0
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn the thresholds.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the validation set. Stored zeros are dropped, and values that exceed 1 by a
            rounding error become 1.
        Y : boolean CSR, shape (n, m)
            Label sets of the validation set.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            If the shapes differ, an estimate is not in 0 .. 1, or a hyperparameter is out of its
            range.
        """
        pair = checked_pair(spe, Y)
        self._remember_names(spe)
        return self.fit_candidates(candidates_of(*pair, self.n_jobs))

    def fit_candidates(self, candidates: Candidates) -> Self:
        """Choose each label's best candidate. A sweep finds the candidates only once."""
        minima = per_label(self.kappa, candidates.largest.size, np.float32, "kappa", "probability")
        self.thresholds_ = candidates.best(minima, checked_overlap(self.overlap).recall)
        return self


class Candidates(NamedTuple):
    """The candidate thresholds of g groups, each a single label, or all labels in one.

    Estimates are uint32, the bits of a float32, which have the same order.

    Attributes
    ----------
    starts : int64 (g + 1,)
        Start of each group's candidates in ``lowest``.
    lowest : uint32 (c,)
        The lowest estimate that each candidate predicts, strictly ascending within a group.
    hits : int64 (c,)
        Number of estimates from ``lowest`` upwards whose instances carry the label.
    predicted : int64 (c,)
        Number of all estimates from ``lowest`` upwards.
    largest : uint32 (g,)
        Largest estimate of each group, or 0 without estimates.
    positives : int64 (g,)
    """

    starts: np.ndarray
    lowest: np.ndarray
    hits: np.ndarray
    predicted: np.ndarray
    largest: np.ndarray
    positives: np.ndarray

    def best(self, minima: np.ndarray, recall: float) -> np.ndarray:
        """Return the best threshold of each group, float32 (g,)."""
        thresholds = np.empty_like(self.largest)
        least = (minima + np.float32(0)).view(np.uint32)  # adding 0 turns -0 into 0
        best_candidates(*self, least, recall, thresholds)
        return thresholds.view(np.float32)


def candidates_of(spe: CSR, Y: CSR, n_jobs: int | None = None, common: bool = False) -> Candidates:
    """Find the candidate thresholds of each label, or with ``common`` of all labels together.

    ``spe`` and ``Y`` are from `xmlc.thresholds.methods.checked_pair`.
    """
    m = Y.shape[1]
    blocks = blocks_of_rows(spe, Y)
    keys: list[np.ndarray] = []
    largest = np.zeros(m, dtype=np.uint32)

    def hits_in(part: CSR, truth: CSR) -> tuple[np.ndarray, np.ndarray]:
        hits = np.empty(truth.nnz, dtype=np.uint64)
        own = np.zeros_like(largest)
        n = list_hits(kernel_csr(part), kernel_csr(truth), hits, own)
        release(part)
        return hits[:n], own

    def collect(result: tuple[np.ndarray, np.ndarray]) -> None:
        keys.append(result[0])
        np.maximum(largest, result[1], out=largest)

    run_tasks(hits_in, blocks, n_jobs, then=collect)
    pairs = np.concatenate(keys)
    if common:
        pairs &= np.uint64(0xFFFFFFFF)
    distinct, hits = np.unique(pairs, return_counts=True)
    lowest = distinct.astype(np.uint32)
    if common:
        starts = np.array([0, lowest.size])
        positives = np.array([Y.nnz])
        largest = largest.max(initial=0, keepdims=True)
    else:
        starts = np.searchsorted(distinct, np.arange(m + 1, dtype=np.uint64) << np.uint64(32))
        positives = np.bincount(Y.indices, minlength=m)
    predicted = np.zeros(lowest.size, dtype=np.int64)

    def counts_in(part: CSR, truth: CSR) -> np.ndarray:
        if common:
            values = np.sort(part.data.view(np.uint32))
            return np.diff(values.searchsorted(lowest), append=values.size)
        counts = np.zeros_like(predicted)
        count_between(kernel_csr(part), starts, lowest, counts)
        release(part)
        return counts

    run_tasks(
        counts_in, blocks, n_jobs, then=lambda counts: np.add(predicted, counts, out=predicted)
    )
    return Candidates(
        starts,
        lowest,
        _from_the_top(hits, starts),
        _from_the_top(predicted, starts),
        largest,
        positives,
    )


def _from_the_top(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return each candidate's count plus those of higher ones of its group, int64 (c,)."""
    sums = np.append(np.cumsum(counts[::-1])[::-1], 0)
    return sums[:-1] - np.repeat(sums[starts[1:]], np.diff(starts))


@njit
def list_hits(spe, truth, hits, largest):
    """List the estimates of all true labels of all instances, and return how many there are.

    ``hits``, uint64, receives the label in the upper 32 bits and the estimate in the lower, and
    ``largest``, uint32 (m,), the largest estimate of each label.
    """
    n_hits = 0
    estimates = spe.data.view(np.uint32)
    for i in range(spe.indptr.size - 1):
        t = truth.indptr[i]
        t_end = truth.indptr[i + 1]
        for e in range(spe.indptr[i], spe.indptr[i + 1]):
            label = spe.indices[e]
            largest[label] = max(largest[label], estimates[e])
            while t < t_end and truth.indices[t] < label:
                t += 1
            if t < t_end and truth.indices[t] == label:
                hits[n_hits] = np.uint64(label) << np.uint64(32) | np.uint64(estimates[e])
                n_hits += 1
    return n_hits


@njit
def count_between(spe, starts, lowest, counts):
    """Count each estimate for the highest candidate of its label whose ``lowest`` it reaches.

    ``starts`` and ``lowest`` are those of `Candidates`, and ``counts``, int64 (c,), is updated.
    """
    estimates = spe.data.view(np.uint32)
    for e in range(estimates.size):
        label = np.int64(spe.indices[e])
        low = starts[label]
        high = starts[label + 1]
        if low < high and estimates[e] >= lowest[low]:
            counts[low + highest_reached(lowest[low:high], estimates[e])] += 1


@njit
def highest_reached(lowest, estimate):
    """Return the index of the last number in ascending ``lowest`` up to ``estimate``, or 0."""
    low = 0
    high = lowest.size
    while high - low > 1:
        middle = (low + high) >> 1
        if lowest[middle] <= estimate:
            low = middle
        else:
            high = middle
    return low
