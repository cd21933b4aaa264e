"""My model, which suite.yaml names `my_model.py:Centroids`."""

import numpy as np
from scipy import sparse

from xmlc.kernels.unit_length import unit_rows
from xmlc.models.base import SparseProbabilityEstimator


class Centroids(SparseProbabilityEstimator):
    """A model that estimates a label by the cosine of the instance and the label's mean.

    The cosine is divided by the largest one of the instance, and raised to a power.
    """

    def __init__(self, power=8.0):
        self.power = power

    def fit(self, X, Y):
        """Store the mean of each label's instances, scaled to unit length."""
        X, Y = self._training_data(X, Y)  # float32 CSR (n, d) and boolean CSR (n, m), checked
        sums = Y.T.astype(np.float32) @ unit_rows(X)
        # arrays that end in _ are saved with the model
        self.centroids_ = unit_rows(sums.tocsr()).toarray()
        return self

    def predict_proba(self, X, threshold=0.0):
        """Return the estimates above the threshold, (n, m)."""
        X = unit_rows(self._instances(X))
        cosines = np.clip(X @ self.centroids_.T, 0, 1).astype(np.float32)
        nearest = cosines.max(axis=1, keepdims=True)
        estimates = (cosines / np.maximum(nearest, np.float32(1e-9))) ** np.float32(self.power)
        # cost of each instance, for the tables
        self.inner_products_ = np.full(X.shape[0], self.n_labels_)
        return sparse.csr_array(
            np.where(estimates > self._label_thresholds(threshold), estimates, 0)
        )
