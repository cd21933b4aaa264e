"""OFO, online F-measure optimisation (plt2016, Section 4.3; Busa-Fekete et al., NIPS 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import per_label
from xmlc.kernels.estimator import InvalidParameterError, hyperparameters
from xmlc.thresholds.one_pass import Instances, OnePassMethod, instance_of, lower_bounds_of


@njit
def follow_online_f(spe, truth, start, end, a, b, lower, thresholds):
    """Run online F-measure optimisation for some labels (plt2016, Algorithm 2, as printed).

    The arrays a and b, float64 (m,), are the sums of equation (7), and ``thresholds``, float32
    (m,), the tau_j of equation (8), updated after each instance and not below ``lower``. Other
    arguments are those of `count_fixed`.
    """
    for i in range(spe.indptr.size - 1):
        labels, estimates, true_labels = instance_of(spe, truth, i, start, end)
        e = t = 0
        while e < labels.size or t < true_labels.size:
            is_true = t < true_labels.size and (e == labels.size or true_labels[t] <= labels[e])
            has_estimate = e < labels.size and (not is_true or true_labels[t] == labels[e])
            label = true_labels[t] if is_true else labels[e]
            is_predicted = has_estimate and estimates[e] > thresholds[label]
            if is_true or is_predicted:
                a[label] += is_true and is_predicted
                b[label] += is_true
                b[label] += is_predicted
                thresholds[label] = max(np.float32(a[label] / b[label]), lower[label])
            t += is_true
            e += has_estimate


@hyperparameters
class OFO(OnePassMethod):
    """Thresholds a_j / b_j by online F-measure optimisation, in one pass (plt2016, Section 4.3).

    Parameters
    ----------
    a, b : float or ndarray of shape (m,)
        Initial values of a_j and b_j, with 0 < a / b <= 0.5 (equation (5)).
    lower_bounds : ndarray of shape (m,) or None
        Lower bounds nu_j of all thresholds, also the initial ones (Section 6.2).
    n_jobs : int or None
        Number of threads, without effect on the result.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Thresholds after the last instance.

    See Also
    --------
    FTA : A few fixed thresholds, also in one pass.
    STO : The best of all thresholds, by sorting.

    Notes
    -----
    Instances are read in the order of the rows, and a label without a stored estimate counts as not
    predicted. Because ``partial_fit`` stores only a_j, b_j and tau_j, its calls with parts of a
    dataset give the same thresholds as one call of ``fit``.

    Examples
    --------
    >>> from xmlc.thresholds import OFO
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> Y = [[1, 1], [1, 0], [0, 0]]
    >>> OFO(a=1, b=4).fit(spe, Y).thresholds_
    array([0.375     , 0.33333334], dtype=float32)
    >>> OFO(a=1, b=4).partial_fit(spe[:1], Y[:1]).partial_fit(spe[1:], Y[1:]).thresholds_
    array([0.375     , 0.33333334], dtype=float32)
    """

    a: float | np.ndarray = 1.0
    b: float | np.ndarray = 20.0
    lower_bounds: np.ndarray | None = None
    n_jobs: int | None = None

    def learn(self, blocks: Sequence[Instances], n_labels: int) -> Self:
        """Update the thresholds in one pass over the instances."""
        lower = self.min_probabilities(n_labels)
        if self._counted is None:
            a, b = (
                per_label(getattr(self, name), n_labels, np.float64, name).copy()
                for name in ("a", "b")
            )
            if not ((a > 0) & (2 * a <= b) & np.isfinite(b)).all():
                expected = "finite numbers with 0 < a <= b / 2"
                raise InvalidParameterError(f"found a={self.a}, b={self.b}, expected {expected}")
            self.thresholds_ = np.maximum((a / b).astype(np.float32), lower)
            self._counted = a, b
        self._run(follow_online_f, blocks, *self._counted, lower, self.thresholds_)
        return self

    def min_probabilities(self, n_labels: int) -> np.ndarray:
        """Return each label's lowest possible threshold nu_j, or 0 without bounds, float32 (m,)."""
        return lower_bounds_of(self.lower_bounds, n_labels)
