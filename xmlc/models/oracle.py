"""Models that look up estimates: true posteriors (the oracle), or another program's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data.formats.npz import read_matrix
from xmlc.kernels.csr import Matrix, as_estimates, as_labels, entries_above
from xmlc.kernels.estimator import hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimates_file

if TYPE_CHECKING:
    from xmlc.suite.steps.prepared import Prepared


class Oracle(SparseProbabilityEstimator):
    """A perfect model of a synthetic dataset, which returns the true posteriors.

    With it, a threshold method reaches its best possible score, which noise in the labels and
    errors of the method keep below 1. A trained model scores lower, because its estimates err.

    Attributes
    ----------
    inner_products_ : ndarray of int64, shape (n,)
        All 0, because nothing is computed.
    """

    _BY_INSTANCE = False
    compiles = False
    posteriors_: sparse.csr_array | None = None

    def fit(self, X: Any, Y: Matrix) -> Self:
        """Store the number of features and the number of labels."""
        self._remember_names(X)
        self._remember_names(Y, "label")
        self.n_features_in_ = X.shape[1]
        self.n_labels_ = as_labels(Y).shape[1]
        return self

    def look_up(self, prepared: Prepared, part: str) -> None:
        """Use the posteriors of the part ``part`` of a dataset in the next prediction."""
        self.use_posteriors(prepared.posteriors(part))

    def use_posteriors(self, posteriors: sparse.csr_array | None) -> None:
        """Use the given posteriors, CSR of shape (n, m), in the next prediction."""
        if posteriors is None:
            raise XmlcError("oracle: found no true posteriors. Use a synthetic dataset.")
        self.posteriors_ = posteriors

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the posteriors strictly greater than ``threshold``, float32 CSR (n, m)."""
        return entries_above(self._posteriors_of(X), self._label_thresholds(threshold))

    def _posteriors_of(self, X: Any) -> sparse.csr_array:
        self._check_fitted()
        self._check_names(X)
        P = self.posteriors_
        if P is None or P.shape != (X.shape[0], self.n_labels_):
            raise XmlcError(
                f"oracle: found no posteriors for {X.shape[0]} instances. Call use_posteriors "
                "first."
            )
        self.inner_products_ = np.zeros(X.shape[0], dtype=np.int64)
        return P


@hyperparameters
class SavedEstimates(Oracle):
    """Estimates of another program, read from files of `scipy.sparse.save_npz`.

    Parameters
    ----------
    validation, test : str
        Paths of the estimates for the validation part and the test set, shape (n, m), with rows in
        the order of `xmlc.suite.steps.prepared.Prepared.part`. ``{seed}`` stands for the seed of
        the run, which has its own split of the data, and ``{dataset}`` for the dataset's name.
        Without ``validation``, one ``test`` file may serve all seeds.
    """

    validation: str = ""
    test: str = ""

    def look_up(self, prepared: Prepared, part: str) -> None:
        """Read the estimates for the part ``part`` of a dataset, for the next prediction.

        Raises
        ------
        XmlcError
            The estimates for the part or the seed are missing, have a wrong shape, or are not
            probabilities.
        """
        given = {"val": self.validation, "test": self.test}.get(part, "")
        seed = prepared.run
        if not given:
            raise XmlcError(
                f"estimates: found no file for part {part}. Set validation and test to .npz file "
                "paths."
            )
        if seed and "{seed}" not in given and self.validation:
            said = f"expected one for the split of seed {seed}. Write {{seed}} in the path."
            raise XmlcError(f"{given}: found one file for all seeds, {said}")
        file = Path(estimates_file(given, str(prepared.meta["name"]), seed))
        expected = prepared.part(part)[1].shape
        # saved estimates are read as float32
        estimates = read_matrix(file, lambda found: as_estimates(found, np.float32))
        if estimates.shape != expected:
            said = (
                f"found shape {estimates.shape}, expected {expected}, one row per instance and "
                "one column per label"
            )
            raise XmlcError(
                f"{file}: {said}. Use part {part} of xmlc.suite.steps.prepared.Prepared."
            )
        self.use_posteriors(estimates)

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates that are strictly greater than ``threshold``.

        Their inner products are unknown, so ``inner_products_`` is None.
        """
        found = super().predict_proba(X, threshold)
        self.inner_products_ = None
        return found
