"""OFO: online F-measure optimisation (plt2016, Section 4.3, Algorithm 2; Busa-Fekete et al., NIPS 2015)."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.csr import kernel_csr
from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.thresholds._by_instance import follow_online_f
from xmlc.thresholds._kernels import ofo_thresholds
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.columns import Columns, checked_pair, per_label, run_by_label


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

    ``fit`` goes label by label through stored estimates, which gives what Algorithm 2 gives instance by instance, as no
    label depends on another; ``partial_fit`` is Algorithm 2 as printed, and keeps a_j, b_j and tau_j alone.
    """

    a: float | np.ndarray = 1.0
    b: float | np.ndarray = 20.0
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Pass over the validation set once."""
        a, b, lower, self.thresholds_ = self._initial(data.n_labels)
        run_by_label(ofo_thresholds, data, self.n_jobs, a, b, lower, self.thresholds_)
        self._sums = (a, b)
        return self

    def partial_fit(self, spe: object, Y: object) -> Self:
        """Pass over more instances: go on from what stands since the last ``fit``.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Their estimates, in (0, 1]. Those at or below the label's threshold are not needed: at most `floors`.
        Y : boolean CSR, shape (n, m)
            Their label sets.

        Raises
        ------
        XmlcError
            As ``fit``, or there are more or fewer labels than before.
        """
        spe, Y = checked_pair(spe, Y)
        a, b, lower, initial = self._initial(Y.shape[1])
        if hasattr(self, "_sums"):
            a, b = self._sums
            if a.size != Y.shape[1]:
                raise XmlcError(f"{Y.shape[1]} labels, but there were {a.size} before")
        else:
            self.thresholds_ = initial
        follow_online_f(kernel_csr(spe), kernel_csr(Y), a, b, lower, self.thresholds_)
        self._sums = (a, b)
        return self

    def floors(self, n_labels: int) -> np.ndarray:
        """Return the values that no threshold falls below, float32 of shape (m,): nu_j, or 0."""
        return per_label(self.lower_bounds, n_labels, np.float32, "lower_bounds")

    def _initial(self, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return a, b, nu and the thresholds before the first instance."""
        a = per_label(self.a, n_labels, np.float64, "a").copy()
        b = per_label(self.b, n_labels, np.float64, "b").copy()
        if not ((a > 0) & (2 * a <= b) & np.isfinite(b)).all():
            raise XmlcError(f"a={self.a}, b={self.b}: the initial threshold a/b must lie in (0, 0.5], with a and b > 0")
        lower = self.floors(n_labels)
        return a, b, lower, np.maximum((a / b).astype(np.float32), lower)
