"""OFO: online F-measure optimisation (plt2016, Section 4.3, Algorithm 2; Busa-Fekete et al., NIPS 2015)."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.thresholds._kernels import ofo_thresholds
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.columns import Columns, per_label, run_by_label


@hyperparameters
class OFO(ThresholdMethod):
    """Thresholds tau_j = a_j / b_j that follow the online F-measure in one pass over the validation set.

    Parameters
    ----------
    a, b : float or ndarray of shape (m,)
        Initial values of a_j and b_j, with 0 < a / b <= 0.5 (equation (5)).
    lower_bounds : ndarray of shape (m,) or None
        nu_j: thresholds are kept at or above it, the initial one too (Section 6.2).
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        What stands after the last instance.

    Notes
    -----
    Instances are taken in the order of the rows. An estimate that the SPE leaves out counts as not predicted.
    """

    a: float | np.ndarray = 1.0
    b: float | np.ndarray = 20.0
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Pass over the validation set once."""
        a = per_label(self.a, data.n_labels, np.float64, "a")
        b = per_label(self.b, data.n_labels, np.float64, "b")
        if not ((a > 0) & (2 * a <= b)).all():
            raise XmlcError(f"a={self.a}, b={self.b}: the initial threshold a/b must lie in (0, 0.5], with a and b > 0")
        lower = per_label(self.lower_bounds, data.n_labels, np.float32, "lower_bounds")
        self.thresholds_ = np.empty(data.n_labels, dtype=np.float32)
        run_by_label(ofo_thresholds, data, self.n_jobs, a, b, lower, self.thresholds_)
        return self
