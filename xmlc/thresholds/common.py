"""One common threshold for all labels, exact on the validation set, for micro- and instance-averaged measures."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.metrics.overlap import F1, Overlap
from xmlc.thresholds._common import best_instance_cut, mark_column_hits
from xmlc.thresholds._kernels import best_cut
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.columns import Columns, run_by_label


@hyperparameters
class CommonThreshold(ThresholdMethod):
    """The common threshold with the highest micro- or instance-averaged measure on the validation set.

    Every cut between two different estimates is tried, in one pass over the sorted estimates; of equal ones the
    highest threshold wins (fewest predictions). If nothing is best predicted, the threshold is the largest estimate.
    Time is O(e log e) for e stored estimates, memory 8 bytes (micro) or 16 (instance) for each besides the SPE.

    Parameters
    ----------
    average : {"micro", "instance"}
        Counts summed over all pairs of instance and label, or the mean over instances (0/0 = 1).
    overlap : Overlap
        The measure: `xmlc.metrics.overlap.f_beta` or ``JACCARD``.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        The same number m times.

    Notes
    -----
    With the true probabilities the best prediction for a micro-averaged measure is one common threshold (Koyejo et
    al., NIPS 2015), so a threshold for each label could only fit the validation set more closely; where a model's
    estimates are not as good, see `MicroLabelWise`. For an instance-averaged measure a common threshold is a
    heuristic: there the best one differs from instance to instance.
    """

    average: str = "micro"
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort all estimates and take the best cut."""
        if self.average not in ("micro", "instance"):
            raise XmlcError(f"average={self.average!r}: expected 'micro' or 'instance'; STO is for 'macro'")
        self.thresholds_ = np.zeros(data.n_labels, dtype=np.float32)
        if data.estimates.size:
            hits = np.empty(data.estimates.size, dtype=bool)
            run_by_label(mark_column_hits, data, self.n_jobs, hits)
            cut = self._micro_cut if self.average == "micro" else self._instance_cut
            self.thresholds_.view(np.uint32)[:] = cut(data, hits)
        return self

    def _micro_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        # All pairs are one set, as those of one label are for STO.
        keys = data.estimates.view(np.uint32) << np.uint32(1) | hits
        keys.sort()
        return best_cut(keys, self.overlap.recall * data.true_rows.size)

    def _instance_cut(self, data: Columns, hits: np.ndarray) -> np.uint32:
        keys = data.estimates.view(np.uint32).astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= data.rows << np.uint32(1) | hits
        keys.sort()
        # Instances behind the last that has an estimate or a label change nothing.
        n_instances = int(data.rows.max()) + 1
        positives = np.bincount(data.true_rows, minlength=n_instances).astype(np.int32)
        return best_instance_cut(keys, positives, *self.overlap)
