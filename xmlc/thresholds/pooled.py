"""The optimal common threshold on a validation set, for micro- and instance-averaged measures."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import run_tasks
from xmlc.kernels.arrays import sort
from xmlc.kernels.csr import CSR, Matrix, blocks_of_rows, kernel_csr, release
from xmlc.kernels.domains import OneOf, check
from xmlc.kernels.estimator import hyperparameters
from xmlc.metrics.measure import F1, Overlap, checked_overlap
from xmlc.thresholds.methods import ThresholdMethod, checked_pair
from xmlc.thresholds.sto import Candidates, candidates_of, highest_reached


@hyperparameters
class CommonThreshold(ThresholdMethod):
    """The common threshold with the highest micro- or instance-averaged measure on labelled data.

    Every candidate that can be optimal is tried (``xmlc.thresholds.sto``). The highest of equally
    good ones is chosen, which predicts the fewest labels, or the largest estimate if the empty
    prediction is best. Time is O(e log e) for e stored estimates, which are sorted block by block
    or, for ``average="instance"``, instance by instance.

    Parameters
    ----------
    average : {"micro", "instance"}
        "micro" computes the measure from counts summed over all labels, and "instance" its mean
        over instances (0/0 = 1).
    overlap : Overlap
        An F-measure made by `xmlc.metrics.measure.f_beta`, or ``JACCARD``.
    n_jobs : int or None
        Number of threads, without effect on the result.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The common threshold, repeated m times.

    See Also
    --------
    STO : A threshold for each label, for macro-averaged measures.

    Notes
    -----
    If estimates are the true probabilities, one common threshold is optimal for a micro-averaged
    measure (Koyejo et al., NIPS 2015), and a threshold for each label could only overfit the
    validation set. For an instance-averaged measure, it is a heuristic, because the best threshold
    differs between instances.

    Examples
    --------
    >>> from xmlc.thresholds import CommonThreshold
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> method = CommonThreshold(average="micro").fit(spe, Y)
    >>> method.predict(spe).toarray().astype(int).tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    average: Literal["micro", "instance"] = "micro"
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn the threshold.

        Parameters
        ----------
        spe, Y
            As for `xmlc.thresholds.STO.fit`.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            As for `xmlc.thresholds.STO.fit`.
        """
        given = spe
        spe, Y = checked_pair(spe, Y)
        self._remember_names(given)
        check("average", self.average, OneOf(("micro", "instance")), "Use STO for 'macro'.")
        checked_overlap(self.overlap)
        candidates = candidates_of(spe, Y, self.n_jobs, common=True)
        if self.average == "micro":
            best = candidates.best(np.zeros(1, dtype=np.float32), self.overlap.recall)
        else:
            best = self._best_of_instances(candidates, spe, Y)
        self.thresholds_ = np.repeat(best, Y.shape[1])
        return self

    def _best_of_instances(self, candidates: Candidates, spe: CSR, Y: CSR) -> np.ndarray:
        # Trailing instances without estimates and labels do not affect the choice
        in_use = np.flatnonzero((np.diff(spe.indptr) > 0) | (np.diff(Y.indptr) > 0))
        n = 0
        if in_use.size:
            n = int(in_use[-1]) + 1
        unit = UNIT * 2.0 ** (n >> 23).bit_length()
        gains = np.zeros(candidates.lowest.size, dtype=np.int64)

        def gains_in(part: CSR, truth: CSR) -> np.ndarray:
            own = np.zeros_like(gains)
            add_gains(
                kernel_csr(part), kernel_csr(truth), candidates.lowest, unit, *self.overlap, own
            )
            release(part)
            return own

        run_tasks(
            gains_in,
            blocks_of_rows(spe, Y),
            self.n_jobs,
            then=lambda own: np.add(gains, own, out=gains),
        )
        # An empty prediction scores 1 for each instance without labels, and 0 otherwise
        empty = np.count_nonzero(np.diff(Y.indptr)[:n] == 0) * round(1 / unit)
        threshold = candidates.largest.copy()
        best_sum(candidates.lowest, gains, empty, n, threshold)
        return threshold.view(np.float32)


# The measures of instances are summed as whole multiples of UNIT, so sums do not depend on the
# order of updates and do not drift. They fit into 63 bits for 2^23 instances, and beyond that the
# unit doubles with the number of instances.
UNIT = 2.0**-40


@njit
def overlap_units(unit, gain, recall, shared, hits, positives, predicted):
    """Return a measure of a true and a predicted set (0/0 = 1), in multiples of ``unit``, int64.

    The unit is a power of 2, followed by the fields of an `xmlc.metrics.measure.Overlap` and the
    sizes of the intersection, of the true set and of the predicted set.
    """
    total = recall * positives + predicted - shared * hits
    value = 1.0
    if total > 0:
        value = gain * hits / total
    return np.int64(np.rint(value / unit))


@njit
def add_gains(spe, truth, lowest, unit, gain, recall, shared, gains):
    """Add the gain of each candidate to ``gains``, int64 (c,), in multiples of ``unit``.

    A candidate's sum is the sum of the measure over instances with the candidate as the threshold,
    and its gain is this sum minus that of the next higher candidate. The kernel sorts the estimates
    of one instance at a time, because a predicted label changes only the measure of its instance.
    ``lowest``, uint32 (c,), has the lowest estimate that each candidate predicts, ascending, and
    other arguments are those of `overlap_units`.
    """
    if lowest.size == 0:
        return
    estimates = spe.data.view(np.uint32)
    for i in range(spe.indptr.size - 1):
        t = truth.indptr[i]
        t_end = truth.indptr[i + 1]
        positives = t_end - t
        # the estimate, then whether it is true
        keys = np.empty(spe.indptr[i + 1] - spe.indptr[i], dtype=np.uint32)
        n_keys = 0
        for e in range(spe.indptr[i], spe.indptr[i + 1]):
            if estimates[e] >= lowest[0]:
                while t < t_end and truth.indices[t] < spe.indices[e]:
                    t += 1
                is_true = t < t_end and truth.indices[t] == spe.indices[e]
                keys[n_keys] = estimates[e] << np.uint32(1) | np.uint32(is_true)
                n_keys += 1
        sort(keys[:n_keys])
        hits = 0
        predicted = 0
        above = lowest.size
        before = overlap_units(unit, gain, recall, shared, hits, positives, predicted)
        while predicted < n_keys:
            candidate = highest_reached(
                lowest[:above], keys[n_keys - 1 - predicted] >> np.uint32(1)
            )
            while (
                predicted < n_keys
                and keys[n_keys - 1 - predicted] >> np.uint32(1) >= lowest[candidate]
            ):
                hits += np.int64(keys[n_keys - 1 - predicted] & np.uint32(1))
                predicted += 1
            after = overlap_units(unit, gain, recall, shared, hits, positives, predicted)
            gains[candidate] += after - before
            before = after
            above = candidate


@njit
def best_sum(lowest, gains, empty, n_instances, threshold):
    """Write the highest candidate with the highest sum of the measure to ``threshold``.

    Sums that differ by at most one unit per instance, as by rounding, are equal. ``lowest`` and
    ``gains`` are those of `add_gains`, and ``empty`` is the sum if no label is predicted. If this
    is best, ``threshold``, uint32 (1,), stays as it is.
    """
    score = empty
    best = empty
    for c in range(lowest.size - 1, -1, -1):
        score += gains[c]
        if score > best + n_instances:
            best = score
            threshold[0] = lowest[c] - np.uint32(1)
