"""napkinXC's PLT (PyPI ``napkinxc``, extra ``peers``) as an estimator of this package."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.models.base import SparseProbabilityEstimator, stack_estimates
from xmlc.threads import resolve_threads


class NapkinXCPLT(SparseProbabilityEstimator):
    """The PLT of napkinXC, with its own names for the hyperparameters.

    Its program reports no inner products, so ``inner_products_`` is None after a prediction. Its training
    time includes writing the model, because it knows no other way; converting the data to its types is part
    of both times, as for anybody who calls it from Python.

    Parameters
    ----------
    optimizer : {"sgd", "adagrad", "liblinear"}
    eta : float
        Learning rate of SGD and AdaGrad.
    epochs : int
    arity : int
    tree_type : str
        "completeKaryRandom" is the tree of our PLT; "hierarchicalKmeans" is the program's default.
    liblinear_c : float
        Inverse regularisation of the liblinear solver.
    weights_threshold : float
        Weights smaller than this are dropped (liblinear only, the program's default 0.1).
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    random_state : int
    n_jobs : int or None
    """

    def __init__(
        self,
        optimizer: str = "adagrad",
        eta: float = 1.0,
        epochs: int = 3,
        arity: int = 16,
        tree_type: str = "completeKaryRandom",
        liblinear_c: float = 10.0,
        weights_threshold: float = 0.1,
        unit_norm: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
    ):
        self.optimizer = optimizer
        self.eta = eta
        self.epochs = epochs
        self.arity = arity
        self.tree_type = tree_type
        self.liblinear_c = liblinear_c
        self.weights_threshold = weights_threshold
        self.unit_norm = unit_norm
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: object, Y: object) -> Self:
        """Train; the program keeps its model in a temporary folder that lives as long as this object."""
        X, Y = self._training_data(X, Y)
        self._folder = tempfile.TemporaryDirectory(prefix="napkinxc-")
        self.model_ = self._program(self._folder.name)
        self.model_.fit(sparse.csr_matrix(X), _label_lists(Y))
        self.model_.load()
        return self

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above ``threshold``, float32 CSR of shape (n, m)."""
        X = self._instances(X)
        limits = self._label_thresholds(threshold)
        asked = limits.tolist() if np.ndim(threshold) else float(threshold)
        counts, labels, scores = _flatten(self.model_.predict_proba(sparse.csr_matrix(X), threshold=asked))
        self.inner_products_ = None
        spe = stack_estimates(counts, labels, scores, self.n_labels_)
        spe.data[spe.data <= limits[spe.indices]] = 0  # the program's >= on tau becomes our strict >
        spe.eliminate_zeros()
        return spe

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most probable labels and their estimates, best first; -1 = none."""
        X = self._instances(X)
        counts, found, estimates = _flatten(self.model_.predict_proba(sparse.csr_matrix(X), top_k=k))
        self.inner_products_ = None
        labels = np.full((X.shape[0], k), -1, dtype=np.int32)
        scores = np.zeros((X.shape[0], k), dtype=np.float32)
        rows = np.repeat(np.arange(X.shape[0]), counts)
        rank = np.arange(found.size) - np.repeat(np.cumsum(counts) - counts, counts)
        labels[rows, rank], scores[rows, rank] = found, estimates
        return labels, scores

    def save(self, path: str | Path) -> None:
        """Write the model: the program's own files beside our JSON."""
        super().save(path)
        shutil.copytree(self._folder.name, Path(path) / "napkinxc")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by `save`."""
        model = super().load(path)
        model.model_ = model._program(str(Path(path) / "napkinxc"))
        model.model_.load()
        return model

    def _program(self, folder: str) -> Any:
        try:
            from napkinxc.models import PLT
        except ImportError as error:
            raise XmlcError("napkinxc is not installed; install the extra: pip install 'xmlc[peers]'") from error
        return PLT(
            folder,
            tree_type=self.tree_type,
            arity=self.arity,
            optimizer=self.optimizer,
            eta=self.eta,
            epochs=self.epochs,
            liblinear_c=self.liblinear_c,
            weights_threshold=self.weights_threshold,
            norm=self.unit_norm,
            seed=self.random_state + 1,  # the program takes 0 for "choose one"
            threads=resolve_threads(self.n_jobs),
        )

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        pass


def _label_lists(Y: sparse.csr_array) -> list[list[int]]:
    return [Y.indices[start:end].tolist() for start, end in zip(Y.indptr[:-1], Y.indptr[1:])]


def _flatten(rows: list[list[tuple[int, float]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    labels = np.array([label for row in rows for label, _ in row], dtype=np.int32)
    scores = np.array([score for row in rows for _, score in row], dtype=np.float32)
    return counts, labels, scores
