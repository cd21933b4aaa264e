"""Calibration of estimates with labelled instances outside the model's training set."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import CSR, Matrix, as_estimates, with_values, without_zeros
from xmlc.kernels.estimator import Estimator, hyperparameters
from xmlc.thresholds.methods import checked_pair


@hyperparameters
class IsotonicCalibration(Estimator):
    """A calibration of estimates by the non-decreasing step function closest to the truth.

    Each group of labels has its own function, found by pool adjacent violators (Ayer et al., Annals
    of Mathematical Statistics 1955; Zadrozny and Elkan, KDD 2002). Equal estimates form a block,
    whose value is the share of them that belong to true labels, and neighbouring blocks are joined
    until the values increase. Integer counts are compared, so rounding has no effect. An estimate
    that is not stored stays 0.

    Parameters
    ----------
    groups : ndarray of int, shape (m,), or None
        Group of each label, such as `xmlc.metrics.groups_by_frequency` returns, or None for a
        single group.

    Attributes
    ----------
    curves_ : dict of int to tuple
        For each group, two arrays of float32: the largest estimate of each block, and its value. A
        group without stored estimates in ``fit`` has no entry, and `transform` leaves it as it is.

    See Also
    --------
    LabelSets : Calibrates, then predicts label sets.

    Examples
    --------
    >>> from xmlc.thresholds import IsotonicCalibration
    >>> spe, Y = [[0.8], [0.6], [0.4], [0.2]], [[1], [0], [1], [0]]
    >>> IsotonicCalibration().fit(spe, Y).transform([[0.9], [0.5], [0.1]]).toarray().tolist()
    [[1.0], [0.5], [0.0]]
    """

    groups: np.ndarray | None = None

    def fit(self, spe: Matrix, Y: Matrix) -> Self:
        """Learn the step function of each group.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of instances outside the model's training set.
        Y : boolean CSR, shape (n, m)
            Their label sets.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            If the shapes differ, or an estimate is not in 0 .. 1.
        """
        given = spe
        spe, Y = checked_pair(spe, Y)
        groups = self._groups_of(spe)
        # Without entries, ``Y[spe.nonzero()]`` is a sparse array instead of an ndarray
        true = np.asarray(Y[spe.nonzero()]).ravel() != 0 if spe.nnz else np.zeros(0, dtype=bool)
        self.curves_: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for group in np.unique(groups).tolist():
            of = groups == group
            estimates, place, counts = np.unique(
                spe.data[of], return_inverse=True, return_counts=True
            )
            hits = np.bincount(place[true[of]], minlength=estimates.size)
            last = np.arange(estimates.size)
            n_blocks = pool(hits, counts, last)
            shares = hits[:n_blocks] / counts[:n_blocks]
            self.curves_[group] = (estimates[last[:n_blocks]], shares.astype(np.float32))
        self._remember_names(given)
        return self

    def transform(self, spe: Matrix) -> CSR:
        """Return calibrated estimates.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)

        Returns
        -------
        csr_array of float32, shape (n, m)

        Raises
        ------
        XmlcError
            As for `fit`.
        """
        self._check_learned("curves_")
        self._check_names(spe)
        spe = as_estimates(spe, np.float32)
        groups = self._groups_of(spe)
        calibrated = spe.data.copy()
        for group, (largest, values) in self.curves_.items():
            of = groups == group
            calibrated[of] = values[
                np.minimum(np.searchsorted(largest, spe.data[of]), largest.size - 1)
            ]
        return without_zeros(with_values(spe, calibrated))

    def before(self, thresholds: np.ndarray) -> np.ndarray:
        """Return thresholds for uncalibrated estimates with the same predictions, float32 (m,).

        Because the step functions do not decrease, a calibrated estimate exceeds the label's entry
        of ``thresholds`` if and only if the original one exceeds the result.

        Parameters
        ----------
        thresholds : ndarray of float32, shape (m,)
            Thresholds for calibrated float32 estimates.
        """
        self._check_learned("curves_")
        found = np.array(thresholds, dtype=np.float32)
        groups = np.zeros(found.size, dtype=np.int64)
        if self.groups is not None:
            groups = np.asarray(self.groups)
        for group, (largest, values) in self.curves_.items():
            of = np.flatnonzero(groups == group)
            lower_blocks = np.searchsorted(values, found[of], side="right")
            limits = np.append(np.float32(0), largest)
            limits[-1] = 1  # an estimate above all blocks has the value of the last block
            found[of] = limits[lower_blocks]
        return found

    def _groups_of(self, spe: CSR) -> np.ndarray:
        if self.groups is None:
            return np.zeros(spe.nnz, dtype=np.int64)
        if np.shape(self.groups) != spe.shape[1:]:
            expected = f"one group for each of {spe.shape[1]} labels"
            raise InvalidDataError(
                f"groups: found shape {np.shape(self.groups)}, expected {expected}"
            )
        return np.asarray(self.groups)[spe.indices]


@njit
def pool(hits, counts, last):
    """Join neighbouring blocks until the shares of true labels increase, and return their number.

    For each block, by ascending estimate, ``hits`` counts its estimates that belong to true labels,
    ``counts`` all of them, and ``last`` is the index of the largest. All are int64 (b,), and begin
    with the joined blocks on return.
    """
    n_blocks = 0
    for i in range(hits.size):
        hits[n_blocks] = hits[i]
        counts[n_blocks] = counts[i]
        last[n_blocks] = last[i]
        while (
            n_blocks > 0
            and hits[n_blocks - 1] * counts[n_blocks] >= hits[n_blocks] * counts[n_blocks - 1]
        ):
            hits[n_blocks - 1] += hits[n_blocks]
            counts[n_blocks - 1] += counts[n_blocks]
            last[n_blocks - 1] = last[n_blocks]
            n_blocks -= 1
        n_blocks += 1
    return n_blocks
