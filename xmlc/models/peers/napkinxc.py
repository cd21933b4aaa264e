"""napkinXC's PLT and BR (PyPI ``napkinxc``, extra ``peers``) as estimators of this package."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.models.peers.program import ProgramModel
from xmlc.models.peers.rankings import estimates_above, ranking_of
from xmlc.runtime.threads import resolve_threads


@hyperparameters
class NapkinXCModel(ProgramModel):
    """What the program's models share: its types, and its own files for a model.

    The hyperparameters of all of them are given by keyword.
    """

    _: KW_ONLY
    eta: float = 1.0
    epochs: int = 1
    unit_norm: bool = True
    random_state: int = 0
    n_jobs: int | None = None

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above ``threshold``, float32 CSR of shape (n, m)."""
        X = self._instances(X)
        limits = self._label_thresholds(threshold)
        found = self._estimates(X, **self._prediction_options(min(float(limits.min()), 1.0)))
        return estimates_above(*found, limits)  # the program's >= on tau becomes our strict >

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most probable labels and their estimates, best first; -1 = none."""
        X = self._instances(X)
        return ranking_of(*self._estimates(X, top_k=k), k)

    def _write_files(self, folder: Path) -> None:
        shutil.copytree(self._files, folder / "napkinxc")

    def _use_files(self, folder: Path) -> None:
        self._files = folder / "napkinxc"
        self._load_program()

    def _estimates(self, X: sparse.csr_array, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return for each instance how many labels the program gave, then all labels and estimates, best first."""
        self.inner_products_ = None
        self.model_.set_params(threads=resolve_threads(self.n_jobs))  # those of now, not those of the training
        return _flatten(self.model_.predict_proba(sparse.csr_matrix(X), **options))

    def _prediction_options(self, smallest: float) -> dict[str, float]:
        """Return the options that give all estimates above the smallest threshold, at least."""
        return {"threshold": smallest} if smallest > 0 else {"top_k": self.n_labels_}

    def _program(self, folder: str) -> Any:
        """Return the program's model, whose files are in ``folder``."""
        raise TypeError(f"{type(self).__name__} does not say which model of the program it is")

    def _options(self) -> dict[str, object]:
        """Return the options that all of the program's models take."""
        return {
            "eta": self.eta,
            "epochs": self.epochs,
            "weights_threshold": 0.1,  # its default: smaller weights are dropped
            "norm": self.unit_norm,
            "seed": self.random_state + 1,  # the program takes 0 for "choose one"
        }

    def _new_folder(self) -> None:
        """Make the temporary folder of the program's files, which lives as long as this object."""
        self._folder = tempfile.TemporaryDirectory(prefix="napkinxc-")
        self._files = Path(self._folder.name)

    def _load_program(self) -> None:
        """Have the program read its files."""
        self.model_ = self._program(str(self._files))
        self.model_.load()


@hyperparameters
class NapkinXCBatch(NapkinXCModel):
    """What the program's PLT and BR share: one training on the whole set, with any of its optimizers."""

    _: KW_ONLY
    optimizer: str = "adagrad"

    def fit(self, X: object, Y: object) -> Self:
        """Train; the program keeps its model in a temporary folder that lives as long as this object."""
        X, Y = self._training_data(X, Y)
        self._new_folder()
        self._program(str(self._files)).fit(sparse.csr_matrix(X), label_lists(Y))
        self._load_program()
        return self

    def _options(self) -> dict[str, object]:
        own = {"optimizer": self.optimizer, "liblinear_c": 10.0}  # its default
        return super()._options() | own | {"threads": resolve_threads(self.n_jobs)}


@hyperparameters
class NapkinXCPLT(NapkinXCBatch):
    """The PLT of napkinXC, with its own names for the hyperparameters.

    The program reports no inner products, so ``inner_products_`` is None after a prediction. Its training time includes
    writing the model, because it has no other way to keep it; converting the data to its types is part of both times,
    as in any use of it from Python. Given a threshold for each label, version 0.7.2 returns all labels; so it is given
    the smallest, and the others are applied here. Its liblinear visits instances in an
    order that no seed reaches: a second training in the same process differs a little from the first.

    Parameters
    ----------
    optimizer : {"sgd", "adagrad", "liblinear"}
    eta : float
        Learning rate of SGD and AdaGrad.
    epochs : int
        Of SGD and AdaGrad; liblinear, a batch solver, stops by itself.
    arity : int
    tree_type : str
        "completeKaryRandom" is the tree of our PLT; "hierarchicalKmeans" is the program's default (with arity 2 and
        up to 100 labels below the last split).
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    random_state : int
    n_jobs : int or None
    """

    _: KW_ONLY
    epochs: int = 3
    arity: int = 16
    tree_type: str = "completeKaryRandom"

    def _program(self, folder: str) -> Any:
        return program_models().PLT(folder, tree_type=self.tree_type, arity=self.arity, **self._options())


@hyperparameters
class NapkinXCBR(NapkinXCBatch):
    """The binary relevance of napkinXC: one linear classifier for each label, with no tree.

    Every label has an estimate, so a prediction without a threshold stores n x m of them. All estimates are computed
    with a threshold too, which is then applied here: given one, version 0.7.2 leaves out labels above it. What
    `NapkinXCPLT` says of times and seeds holds here too.

    Parameters
    ----------
    optimizer : {"sgd", "adagrad", "liblinear"}
        "liblinear" unless given.
    eta, epochs, unit_norm, random_state, n_jobs
        As of `NapkinXCPLT`.
    """

    _: KW_ONLY
    optimizer: str = "liblinear"

    def _prediction_options(self, smallest: float) -> dict[str, float]:
        return {"top_k": self.n_labels_}

    def _program(self, folder: str) -> Any:
        return program_models().BR(folder, **self._options())


def program_models() -> Any:
    """Return the program's module of models; raise `XmlcError` if it is not installed."""
    try:
        from napkinxc import models
    except ImportError as error:
        raise XmlcError("napkinxc is not installed; install the extra: pip install 'xmlc[peers]'") from error
    return models


def label_lists(Y: sparse.csr_array) -> list[list[int]]:
    """Return the labels of each instance as the program takes them."""
    return [Y.indices[start:end].tolist() for start, end in zip(Y.indptr[:-1], Y.indptr[1:])]


def _flatten(rows: list[list[tuple[int, float]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    labels = np.array([label for row in rows for label, _ in row], dtype=np.int32)
    scores = np.array([score for row in rows for _, score in row], dtype=np.float32)
    return counts, labels, scores
