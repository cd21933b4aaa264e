"""STO: sorting-based (search-based) threshold optimisation (plt2016, Section 4.1, Algorithm 1)."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.errors import XmlcError
from xmlc.estimator import InvalidParameterError, hyperparameters
from xmlc.gate.domains import Number
from xmlc.metrics.overlap import F1, Overlap
from xmlc.thresholds._kernels import sto_thresholds
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.columns import Columns, per_label, run_by_label

CLIP = Number(0, 1, none=True)


@hyperparameters
class STO(ThresholdMethod):
    """For each label the threshold with the highest F-measure on the validation set, found by sorting.

    With ``kappa=0`` and an SPE that holds every estimate this is the exact maximiser of the validation macro-F. Of
    thresholds with equal F the highest is taken (fewest predictions). A label for which nothing is best predicted
    gets its largest estimate as threshold, one without estimates above the floor its kappa. Time is O(e log e) for e
    stored estimates.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Floors kappa_j: only estimates strictly greater are candidates.
    clip : float or None
        Upper limit of the thresholds. The authors' program clips at 0.5, the upper end of (5); the paper does not.
    positives : {"all", "above_floor"}
        What counts as a positive in F: all of them (the paper's F), or only those whose estimate is above the
        floor (the program's).
    overlap : Overlap
        What to maximise in place of the F-measure, such as ``f_beta(2)``. Jaccard has the same best cuts as F, since
        it is F / (2 - F), and so the same thresholds.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
    """

    kappa: float | np.ndarray = 0.0
    clip: float | None = None
    positives: str = "all"
    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort each label's estimates above its floor and take the best cut."""
        if self.positives not in ("all", "above_floor"):
            raise XmlcError(f"positives={self.positives!r}: expected 'all' or 'above_floor'")
        if self.clip not in CLIP:
            raise InvalidParameterError(f"clip={self.clip!r}: expected {CLIP}")
        floors = per_label(self.kappa, data.n_labels, np.float32, "kappa")
        thresholds = np.empty(data.n_labels, dtype=np.float32)
        choice = self.positives == "all", self.overlap.recall
        run_by_label(sto_thresholds, data, self.n_jobs, floors, *choice, thresholds)
        self.thresholds_ = thresholds if self.clip is None else np.minimum(thresholds, np.float32(self.clip))
        return self
