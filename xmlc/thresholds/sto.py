"""Find the threshold of each label with the highest F-measure by sorting: STO (plt2016, Section
4.1).

The candidates of a label are its estimates for the instances that carry the label. For any measure
that grows with the hits and falls with the number of predictions, one of the candidates is optimal.
A threshold at an estimate that is no candidate has as many hits as the next higher candidate, but
more predictions.

A label has at most as many candidates as positives. The time for sorting and the memory therefore
depend on the number of positives, and not on the number of estimates. The estimates may be in
memory-mapped files.
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

    F_beta grows with h / (w P + k), for h hits, P positives, k predictions and w = beta^2. The
    kernel compares two ratios by cross-multiplication, which is exact if w is 1 and the products
    are below 2^53. Among candidates with equal ratios, the candidate with the fewest predictions
    wins. If no candidate has a hit, the empty prediction wins.

    Parameters
    ----------
    starts, lowest, hits, predicted, largest, positives
        Attributes of `Candidates`.
    minima : uint32 (g,)
        Minimum thresholds. A label is predicted only if its estimate is strictly greater than the
        minimum threshold.
    recall : float64
        The measure's weight of the positives (see `xmlc.metrics.measure.Overlap`), 1 for F.
    thresholds : uint32 (g,)
        Receives the thresholds: one less than the lowest predicted estimate, or the largest
        estimate of a group that is not predicted. A group without estimates above its minimum
        threshold gets the minimum threshold.
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
    """Find the threshold of each label with the highest F-measure on the validation set, by
    sorting.

    With ``kappa=0`` and an SPE that contains every estimate, the thresholds maximise the validation
    macro-F exactly.

    * Among thresholds with equal F, the highest is chosen, which predicts the fewest labels.
    * If the empty prediction is best for a label, its threshold is its largest estimate.
    * A label without estimates above kappa_j gets the threshold kappa_j.

    The method reads the estimates twice. The method looks up each estimate among the sorted
    estimates of its label's positives. The method needs memory for one block of estimates and 24
    bytes for each positive.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Minimum thresholds kappa_j. Only estimates that `apply_thresholds` regards as greater than
        kappa_j are candidates.
    overlap : Overlap
        Measure to maximise instead of F, such as ``f_beta(2)``. Jaccard gives the same thresholds
        as F, because it is F / (2 - F).
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)

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
            Estimates of the validation set. Stored zeros are dropped. Values that exceed 1 by a
            rounding error become 1.
        Y : boolean CSR, shape (n, m)
            Label sets of the validation set.

        Raises
        ------
        XmlcError
            The shapes differ, an estimate is not in 0 .. 1, or a hyperparameter is out of its
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
    """The candidate thresholds of g groups.

    Each group is a single label, or one group contains all labels.

    Estimates are stored as uint32, the bits of a float32, which have the same order as the
    estimates.

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
        Largest estimate of each group, or 0 for a group without estimates.
    positives : int64 (g,)
        Number of positives of each group.
    """

    starts: np.ndarray
    lowest: np.ndarray
    hits: np.ndarray
    predicted: np.ndarray
    largest: np.ndarray
    positives: np.ndarray

    def best(self, minima: np.ndarray, recall: float) -> np.ndarray:
        """Return the best threshold of each group, float32 (g,).

        See `best_candidates` for the parameters.
        """
        thresholds = np.empty_like(self.largest)
        least = (minima + np.float32(0)).view(np.uint32)  # Adding 0 turns -0 into 0.
        best_candidates(*self, least, recall, thresholds)
        return thresholds.view(np.float32)


def candidates_of(spe: CSR, Y: CSR, n_jobs: int | None = None, common: bool = False) -> Candidates:
    """Find the candidate thresholds of each label, or the candidates for a common threshold of all
    labels.

    Parameters
    ----------
    spe : csr_array of float32, shape (n, m)
        Estimates, as `xmlc.thresholds.methods.checked_pair` returns them.
    Y : boolean csr_array, shape (n, m)
        Label sets, as `checked_pair` returns them.
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.
    common : bool
        Whether to find the candidates for a common threshold of all labels, instead of the
        candidates of each label.
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
    """Return the sum of the counts of each candidate and of all higher candidates of its group,
    int64 (c,).
    """
    sums = np.append(np.cumsum(counts[::-1])[::-1], 0)
    return sums[:-1] - np.repeat(sums[starts[1:]], np.diff(starts))


@njit
def list_hits(spe, truth, hits, largest):
    """List the estimates of all pairs of an instance and one of its true labels, and return the
    number of pairs.

    Parameters
    ----------
    spe, truth : a `KernelCSR` each
        Estimates and label sets of the instances.
    hits : uint64
        Receives the pairs, from index 0 on. The upper 32 bits of an entry contain the label, and
        the lower 32 bits contain the estimate.
    largest : uint32 (m,)
        Largest estimate of each label, updated in place.
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
    """Count the estimates between each candidate and the next higher candidate of the label.

    An estimate counts for the highest candidate whose ``lowest`` it reaches.

    Parameters
    ----------
    spe : KernelCSR
        Estimates of the instances.
    starts : int64 (m + 1,)
        Start of each label's candidates, as in `Candidates`.
    lowest : uint32 (c,)
        Lowest predicted estimate of each candidate, as in `Candidates`.
    counts : int64 (c,)
        Number of estimates of each candidate, updated in place.
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
    """Return the index of the last number in ascending ``lowest`` that ``estimate`` reaches.

    It reaches the first.
    """
    low = 0
    high = lowest.size
    while high - low > 1:
        middle = (low + high) >> 1
        if lowest[middle] <= estimate:
            low = middle
        else:
            high = middle
    return low
