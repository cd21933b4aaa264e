"""Find the candidate thresholds of labels in two passes over all estimates.

The candidates of a label are its estimates for the instances that carry the label. For any measure that grows with the
hits and falls with the number of predictions, one of the candidates is optimal. A threshold at an estimate that is no
candidate has as many hits as the next higher candidate, but more predictions.

A label has at most as many candidates as positives. The time for sorting and the memory therefore depend on the number
of positives, and not on the number of estimates. The estimates may be in memory-mapped files.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_tasks
from xmlc.kernels.csr import CSR, blocks_of_rows, kernel_csr, release, with_values


class Candidates(NamedTuple):
    """Hold the candidate thresholds of g groups. Each group is a single label, or one group contains all labels.

    Estimates are stored as uint32: the bits of a float32, or the rank of a float64, counted from 1. The stored numbers
    have the same order as the estimates.

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
    ranked : csr_array of float32, shape (n, m)
        Estimates whose bits are the stored uint32 numbers.
    distinct : float64 (r,)
        The distinct estimates, ascending, if estimates are float64, and an empty array otherwise.
    """

    starts: np.ndarray
    lowest: np.ndarray
    hits: np.ndarray
    predicted: np.ndarray
    largest: np.ndarray
    positives: np.ndarray
    ranked: CSR
    distinct: np.ndarray

    def best(self, minima: np.ndarray, recall: float) -> np.ndarray:
        """Return the best threshold of each group, uint32 (g,). See `best_candidates` for the parameters."""
        thresholds = np.empty_like(self.largest)
        best_candidates(*self[:6], minima, recall, thresholds)
        return thresholds

    def bits_of(self, minima: np.ndarray) -> np.ndarray:
        """Return minimum thresholds, float32 or float64 (m,), in the uint32 form in which estimates are stored."""
        if self.distinct.size == 0:
            return (minima + np.float32(0)).view(np.uint32)  # Adding 0 turns -0 into 0.
        counts = np.searchsorted(self.distinct.astype(minima.dtype), minima, side="right")
        return np.where(minima > 0, counts, 0).astype(np.uint32)

    def numbers_of(self, bits: np.ndarray, minima: np.ndarray) -> np.ndarray:
        """Convert thresholds from their uint32 form to float32 (m,), or to float64 if float32 is too coarse.

        Parameters
        ----------
        bits : uint32 (m,)
            Threshold of each label as a uint32. It is one less than the lowest predicted estimate, or the largest
            estimate if the label is not predicted.
        minima : float32 or float64 (m,)
            Minimum thresholds. A label without an estimate above its minimum threshold gets the minimum threshold.
        """
        if self.distinct.size == 0:
            return bits.view(np.float32)
        labels, ranks = self.ranked.indices, self.ranked.data.view(np.uint32)
        left_out = np.zeros(bits.size, dtype=np.uint32)
        np.maximum.at(left_out, labels, np.where(ranks <= bits[labels], ranks, np.uint32(0)))
        last, none = np.broadcast_to(self.largest, bits.shape), self.bits_of(minima)
        numbers = np.concatenate(([0.0], self.distinct, [1.0]))[np.array([bits + np.uint32(1), last, left_out])]
        for dtype in (np.float32, np.float64):
            lowest, largest, below = numbers.astype(dtype)
            # A label is not predicted if its estimate equals the minimum threshold after rounding to float32.
            least = np.where(last > none, largest, np.maximum(minima, below))
            found = np.where(bits < last, np.nextafter(lowest, dtype(0)), least).astype(dtype)
            if (below <= found).all() and ((lowest > found) | (bits >= last)).all():
                break
        return found


def candidates_of(spe: CSR, Y: CSR, n_jobs: int | None = None, common: bool = False) -> Candidates:
    """Find the candidate thresholds of each label, or the candidates for a common threshold of all labels.

    Parameters
    ----------
    spe : csr_array of float32 or float64, shape (n, m)
        Estimates, as `xmlc.thresholds.methods.checked_pair` returns them. The ranks of float64 estimates are kept in
        memory.
    Y : boolean csr_array, shape (n, m)
        Label sets, as `checked_pair` returns them.
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.
    common : bool
        Whether to find the candidates for a common threshold of all labels, instead of the candidates of each label.
    """
    distinct, m = np.empty(0), Y.shape[1]
    if spe.dtype == np.float64:
        distinct, ranks = np.unique(spe.data, return_inverse=True)
        spe = with_values(spe, (ranks + 1).astype(np.uint32).view(np.float32))
    blocks, keys, largest = blocks_of_rows(spe, Y), list[np.ndarray](), np.zeros(m, dtype=np.uint32)

    def hits_in(part: CSR, truth: CSR) -> tuple[np.ndarray, np.ndarray]:
        found, own = np.empty(truth.nnz, dtype=np.uint64), np.zeros_like(largest)
        n = list_hits(kernel_csr(part), kernel_csr(truth), found, own)
        release(part)
        return found[:n], own

    def collect(found: tuple[np.ndarray, np.ndarray]) -> None:
        keys.append(found[0])
        np.maximum(largest, found[1], out=largest)

    def counts_in(part: CSR, truth: CSR) -> np.ndarray:
        if common:
            values = np.sort(part.data.view(np.uint32))
            return np.diff(values.searchsorted(lowest), append=values.size)
        counts = np.zeros_like(predicted)
        count_between(kernel_csr(part), starts, lowest, counts)
        release(part)
        return counts

    run_tasks(hits_in, blocks, n_jobs, then=collect)
    found = np.concatenate(keys)
    distinct_keys, hits = np.unique(found & np.uint64(0xFFFFFFFF) if common else found, return_counts=True)
    lowest, positives = distinct_keys.astype(np.uint32), np.bincount(Y.indices, minlength=m)
    starts = np.searchsorted(distinct_keys, np.arange(m + 1, dtype=np.uint64) << np.uint64(32))
    if common:
        starts, positives = np.array([0, lowest.size]), np.array([Y.nnz])
        largest = largest.max(initial=0, keepdims=True)
    predicted = np.zeros(lowest.size, dtype=np.int64)
    run_tasks(counts_in, blocks, n_jobs, then=lambda counts: np.add(predicted, counts, out=predicted))
    hits, predicted = (_from_the_top(counts, starts) for counts in (hits, predicted))
    return Candidates(starts, lowest, hits, predicted, largest, positives, spe, distinct)


def _from_the_top(counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the cumulative count of each candidate, int64 (c,).

    The cumulative count is the sum of the counts of the candidate and of all higher candidates in the same group.
    """
    sums = np.append(np.cumsum(counts[::-1])[::-1], 0)
    return sums[:-1] - np.repeat(sums[starts[1:]], np.diff(starts))


@njit
def list_hits(spe, truth, hits, largest):
    """List the estimates of all pairs of an instance and one of its true labels, and return the number of pairs.

    Parameters
    ----------
    spe, truth : a `KernelCSR` each
        Estimates and label sets of the instances.
    hits : uint64
        Receives the pairs, from index 0 on. The upper 32 bits of an entry contain the label, and the lower 32 bits
        contain the estimate.
    largest : uint32 (m,)
        Largest estimate of each label, updated in place.
    """
    n_hits, estimates = 0, spe.data.view(np.uint32)
    for i in range(spe.indptr.size - 1):
        t, t_end = truth.indptr[i], truth.indptr[i + 1]
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
    labels, estimates = spe.indices, spe.data.view(np.uint32)
    for e in range(labels.size):
        low, high, estimate = starts[labels[e]], starts[np.int64(labels[e]) + 1], estimates[e]
        if low < high and estimate >= lowest[low]:
            while high - low > 1:
                middle = (low + high) >> 1
                if lowest[middle] <= estimate:
                    low = middle
                else:
                    high = middle
            counts[low] += 1


@njit
def best_candidates(starts, lowest, hits, predicted, largest, positives, minima, recall, thresholds):
    """Find for each group the candidate with the highest F-measure (plt2016, Algorithm 1, line 9).

    F_beta grows with h / (w P + k), for h hits, P positives, k predictions and w = beta^2. The kernel compares two
    ratios by cross-multiplication, which is exact if w is 1 and the products are below 2^53. Among candidates with
    equal ratios, the candidate with the fewest predictions wins. If no candidate has a hit, the empty prediction wins.

    Parameters
    ----------
    starts, lowest, hits, predicted, largest, positives
        Attributes of `Candidates`.
    minima : uint32 (g,)
        Minimum thresholds. A label is predicted only if its estimate is strictly greater than the minimum threshold.
    recall : float64
        The measure's weight of the positives (see `xmlc.metrics.measure.Overlap`), 1 for F.
    thresholds : uint32 (g,)
        Receives the thresholds, in the form that `Candidates.numbers_of` converts. A group without estimates above its
        minimum threshold gets the minimum threshold.
    """
    for g in range(thresholds.size):
        n_positives, best_h, best_k = recall * positives[g], np.int64(0), np.int64(0)
        thresholds[g] = max(largest[g], minima[g])
        for c in range(starts[g + 1] - 1, starts[g] - 1, -1):
            if lowest[c] <= minima[g]:
                break
            if hits[c] * (n_positives + best_k) > best_h * (n_positives + predicted[c]):
                best_h, best_k, thresholds[g] = hits[c], predicted[c], lowest[c] - np.uint32(1)
