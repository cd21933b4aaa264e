"""What every estimator shares: scikit-learn conventions, sparse probability estimates, models on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np
from scipy import sparse

from xmlc.csr import KernelCSR, as_features, as_labels, kernel_csr, unit_rows
from xmlc.errors import XmlcError
from xmlc.estimator import Estimator, not_fitted
from xmlc.files import atomic_folder, read_json, write_json


class SparseProbabilityEstimator(Estimator):
    """Base of the estimators that give sparse probability estimates (SPE).

    A subclass implements ``fit`` and ``predict_proba``; learned attributes end in an underscore. Ranking then sorts all
    estimates, and the learned arrays are saved. One that can rank with less, or learns more than arrays, overrides
    ``predict_top_k``, ``_state`` and ``_restore``.

    Attributes
    ----------
    n_features_in_ : int
        Number of features d seen in ``fit``.
    n_labels_ : int
        Number of labels m seen in ``fit``.
    inner_products_ : ndarray of int64, shape (n,)
        Inner products that the last prediction computed for each instance.
    """

    MODEL_FORMAT = 1
    unit_norm: bool  # a hyperparameter of those that call `_kernel_form`

    def fit(self, X: object, Y: object) -> Self:
        """Learn from instances ``X`` (CSR, shape (n, d)) and label sets ``Y`` (boolean CSR, shape (n, m))."""
        raise TypeError(f"{type(self).__name__} does not implement fit")

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates strictly greater than ``threshold``, float32 CSR of shape (n, m)."""
        raise TypeError(f"{type(self).__name__} does not implement predict_proba")

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most probable labels and their estimates, best first, ties to the smaller label; -1 = none."""
        return top_k_of(self.predict_proba(X), k)

    def save(self, path: str | Path) -> None:
        """Write the model into the folder ``path``: plain ``.npy`` arrays and a JSON file, no pickle."""
        self._check_fitted()
        arrays, meta = self._state()
        with atomic_folder(path) as folder:
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array)
            content = {
                "estimator": type(self).__name__,
                "format": self.MODEL_FORMAT,
                "hyperparameters": self.get_params(),
                "n_features": self.n_features_in_,
                "n_labels": self.n_labels_,
                "arrays": sorted(arrays),
            }
            write_json(folder / "model.json", content | {"meta": meta})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by `save`; its arrays are memory-mapped, so this takes milliseconds.

        Raises
        ------
        XmlcError
            The folder holds no model, or one of another estimator or format version.
        """
        folder = Path(path)
        if not (folder / "model.json").exists():
            raise XmlcError(f"{folder}: no model here (model.json is missing); train it first")
        content = read_json(folder / "model.json")
        found = (content.get("estimator"), content.get("format"))
        if found != (cls.__name__, cls.MODEL_FORMAT):
            raise XmlcError(
                f"{folder}: found a model of {found[0]}, format {found[1]}; "
                f"expected {cls.__name__}, format {cls.MODEL_FORMAT}; train it anew"
            )
        model = cls(**content["hyperparameters"])
        model.n_features_in_, model.n_labels_ = content["n_features"], content["n_labels"]
        arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in content["arrays"]
        }
        model._restore(arrays, content["meta"])
        return model

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return the learned arrays, and what else is learned: numbers, for JSON."""
        learned = {name: value for name, value in vars(self).items() if name.endswith("_")}
        learned.pop("inner_products_", None)
        return {name: value for name, value in learned.items() if isinstance(value, np.ndarray)}, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        """Set the learned state from what `_state` returned."""
        self.__dict__.update(arrays)

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_labels_"):
            raise not_fitted(self)

    def _training_data(self, X: object, Y: object) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Check training data, remember its shape and return it in canonical form."""
        X, Y = as_features(X), as_labels(Y)
        if X.shape[0] != Y.shape[0]:
            raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
        if X.shape[0] == 0 or Y.shape[1] == 0:
            raise XmlcError(f"nothing to learn from: {X.shape[0]} instances, {Y.shape[1]} labels")
        self.n_features_in_, self.n_labels_ = X.shape[1], Y.shape[1]
        return X, Y

    def _instances(self, X: object) -> sparse.csr_array:
        """Check instances to predict and return them in canonical form."""
        self._check_fitted()
        X = as_features(X)
        if X.shape[1] != self.n_features_in_:
            raise XmlcError(f"X has {X.shape[1]} features, the model was trained with {self.n_features_in_}")
        return X

    def _kernel_form(self, X: sparse.csr_array) -> KernelCSR:
        """Return instances as kernels take them, scaled to unit length where ``unit_norm`` says so."""
        return kernel_csr(unit_rows(X) if self.unit_norm else X)

    def _check_k(self, k: int) -> int:
        """Return how many labels are asked for, at least one."""
        if k < 1:
            raise XmlcError(f"k={k}: at least one label per instance must be asked for")
        return int(k)

    def _label_thresholds(self, threshold: float | np.ndarray) -> np.ndarray:
        """Return one float32 threshold per label from a number or an array of shape (m,)."""
        thresholds = np.asarray(threshold, dtype=np.float32)
        if thresholds.ndim == 0:
            thresholds = np.full(self.n_labels_, thresholds, dtype=np.float32)
        if thresholds.shape != (self.n_labels_,):
            raise XmlcError(f"threshold has shape {thresholds.shape}, expected a number or ({self.n_labels_},)")
        if np.isnan(thresholds).any():
            raise XmlcError("threshold holds NaN")
        return thresholds


def stack_estimates(counts: np.ndarray, labels: np.ndarray, estimates: np.ndarray, n_labels: int) -> sparse.csr_array:
    """Assemble an SPE from the labels found per instance, instance after instance, in any order within one."""
    indptr = np.concatenate(([0], np.cumsum(counts)))
    spe = sparse.csr_array((estimates, labels, indptr), shape=(counts.size, n_labels))
    spe.sort_indices()
    return spe


def top_k_of(spe: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank the stored estimates of each instance.

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        Best first, ties to the smaller label; -1 where there are fewer than k estimates.
    scores : ndarray of float32, shape (n, k)
        0 where there is no label.
    """
    rows = np.repeat(np.arange(spe.shape[0]), np.diff(spe.indptr))
    order = np.lexsort((spe.indices, -spe.data, rows))
    rank = np.arange(spe.nnz) - spe.indptr[rows]
    best = rank < k
    labels = np.full((spe.shape[0], k), -1, dtype=np.int32)
    scores = np.zeros((spe.shape[0], k), dtype=np.float32)
    labels[rows[best], rank[best]] = spe.indices[order[best]]
    scores[rows[best], rank[best]] = spe.data[order[best]]
    return labels, scores
