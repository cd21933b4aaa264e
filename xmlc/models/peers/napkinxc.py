"""napkinXC's PLT and BR (PyPI ``napkinxc``, extra ``peers``) as estimators of this package."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.threads import resolve_threads
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.estimator import hyperparameters
from xmlc.kernels.streams import Stream
from xmlc.models.peers.program import ProgramModel, estimates_above, flattened, imported, ranking_of


@hyperparameters
class NapkinXCModel(ProgramModel):
    """Common base of the program's models: its types, and its own files for a model.

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
        found = self._estimates(X, **self._prediction_options(float(limits.min())))
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
        return flattened(self.model_.predict_proba(sparse.csr_matrix(X), **options))

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
    """Common base of the program's PLT and BR: one training on the whole set, with any of its optimizers."""

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
        return imported("napkinxc.models").PLT(folder, tree_type=self.tree_type, arity=self.arity, **self._options())


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
        return imported("napkinxc.models").BR(folder, **self._options())


def label_lists(Y: sparse.csr_array) -> list[list[int]]:
    """Return the labels of each instance as the program takes them."""
    return [Y.indices[start:end].tolist() for start, end in zip(Y.indptr[:-1], Y.indptr[1:])]


# napkinXC's online label trees, OPLT and IPLT (PyPI ``napkinxc``, extra ``peers``), as estimators of this package.


TREE_TYPES = {"best_greedy": "onlineBestScore", "random": "onlineRandom"}
KMEANS = "hierarchicalKmeans"


@hyperparameters
class NapkinXCOnline(NapkinXCModel):
    """The online models of the program: AdaGrad, weights in hash maps, one pass after another over a stream.

    Labels are given to the program by order of appearance: a tree that it builds from data has a leaf for every number
    below the largest.

    Attributes
    ----------
    label_order_ : ndarray of int32
        Labels in order of their first appearance in the shuffled training set.
    """

    _: KW_ONLY
    arity: int = 2
    max_leaf: int = 100
    eps: float = 0.01

    def fit(self, X: object, Y: object) -> Self:
        """Shuffle by the seed, then train in one thread; the model is in a temporary folder.

        Raises
        ------
        XmlcError
            The program is not installed, no instance has a label, or a hyperparameter is out of its range.
        """
        self._check_hyperparameters()
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.NAPKINXC_ORDER)
        labelled = np.diff(Y.indptr)[order] > 0
        if not labelled.any():
            raise XmlcError("napkinXC has nothing to learn from: no instance has a label")
        order = order[labelled.argmax() :]
        X, Y = X[order], Y[order]
        self.label_order_, Y = _by_appearance(Y)
        self._new_folder()
        for start, end, options in self._phases(X.shape[0]):
            phase = self._program(str(self._files)).set_params(**options)
            phase.fit(sparse.csr_matrix(X[start:end]), label_lists(Y[start:end]))
        self._load_program()
        return self

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        """Return the parts of the stream in turn: first and last instance, and the options they are trained with."""
        return [(0, n, {"tree_type": KMEANS})]

    def _program(self, folder: str) -> Any:
        return imported("napkinxc.models").Model(
            output=folder,
            model="oplt",
            optimizer="adagrad",
            loss="log",
            arity=self.arity,
            max_leaves=self.max_leaf,
            adagrad_eps=self.eps,
            threads=1,
            **self._options(),
        )

    def _check_hyperparameters(self) -> None:
        if self.arity < 2 or self.max_leaf < 1 or self.epochs < 1 or not (self.eta > 0 and self.eps > 0):
            raise XmlcError(
                f"arity={self.arity}, max_leaf={self.max_leaf}, epochs={self.epochs}, eta={self.eta}, eps={self.eps}: "
                "expected arity from 2, max_leaf and epochs from 1, eta and eps above 0"
            )

    def _estimates(self, X: sparse.csr_array, **options: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts, labels, scores = super()._estimates(X, **options)
        return counts, self.label_order_[labels], scores

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return {"label_order_": self.label_order_}, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self.__dict__.update(arrays)


@hyperparameters
class NapkinXCOPLT(NapkinXCOnline):
    """The online PLT of napkinXC (oplt2021's own program), with our names for the hyperparameters.

    What is said of times and inner products of `NapkinXCPLT` holds here too. It differs from the paper's pseudocode:
    the first ``arity`` instances with new labels open a pre-leaf each below the root; a full pre-leaf gives labels to
    its siblings that have room before it is split; the new half of a split is a pre-leaf at once; and best-greedy adds
    alpha * log(|L_parent| / (|Ch(parent)| |L_v|)) to (1 - alpha) * estimate. Only with arity 2 does it keep inner nodes
    at ``arity`` children.

    The warm start needs two runs of the program: a k-means tree over the first instances, then best-greedy growth from
    the stored model. It stores no numbers of leaves, so after that its policy counts the labels that came since.
    Leading instances without labels are left out, because the program has no root yet to learn from them.

    Parameters
    ----------
    policy : {"best_greedy", "random"}
        How the pre-leaf for new labels is chosen (Algorithm 8).
    alpha : float
        Best-greedy: weight of the balance against the estimate.
    arity, max_leaf : int
        b and b_max: children of an inner node and of a pre-leaf, at most.
    warm_start : float or None
        Share of the training instances from which the k-means tree is built, between 0 and 1 (OPLT-W: 0.1).
    eta, eps : float
        AdaGrad: a step is ``eta / sqrt(eps + squared derivatives so far)``.
    epochs : int
        Passes over the instances, in one order; with a warm start, passes of each of the two runs.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first; the constant feature, 1, comes after that.
    random_state : int
        Seed of the order of the instances and of the policy.
    n_jobs : int or None
        Threads of the prediction. With more than one the program's training is not reproducible.
    """

    policy: str = "best_greedy"
    alpha: float = 0.75
    warm_start: float | None = None

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        grown: dict[str, object] = {"tree_type": TREE_TYPES[self.policy], "online_tree_alpha": self.alpha}
        if self.warm_start is None:
            return [(0, n, grown)]
        first = max(round(self.warm_start * n), 1)
        stored = {"save_grads": True}  # without the sums of squares the resumed program ends at once
        resumed = [(first, n, grown | stored | {"resume": True})] if first < n else []
        return [(0, first, stored | {"tree_type": KMEANS}), *resumed]

    def _check_hyperparameters(self) -> None:
        super()._check_hyperparameters()
        if self.policy not in TREE_TYPES:
            raise XmlcError(f"policy={self.policy!r}: expected one of {', '.join(map(repr, TREE_TYPES))}")
        if self.warm_start is not None and not 0 < self.warm_start < 1:
            raise XmlcError(f"warm_start={self.warm_start}: expected None or a share between 0 and 1")


class NapkinXCIPLT(NapkinXCOnline):
    """The incremental PLT of napkinXC: its online code on a k-means tree that is built before (Algorithm 1).

    It keeps and trains auxiliary classifiers as its OPLT does, so that its tree could grow; they are part of its time.
    What is said of times and inner products of `NapkinXCPLT` holds here too.

    Parameters
    ----------
    arity, max_leaf : int
        Of hierarchical balanced k-means: children of an inner node, labels below the last split.
    eta, eps : float
        AdaGrad: a step is ``eta / sqrt(eps + squared derivatives so far)``.
    epochs : int
        Passes over the instances, in one order.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first; the constant feature, 1, comes after that.
    random_state : int
        Seed of the order of the instances and of the tree.
    n_jobs : int or None
        Threads of the prediction; training has one.
    """


def _by_appearance(Y: sparse.csr_array) -> tuple[np.ndarray, sparse.csr_array]:
    """Number labels by first appearance.

    Returns
    -------
    order : ndarray of int32
        Which label has each new number; labels that do not appear have none.
    Y : csr_array
        The same instances with new numbers, ascending in each: the program ends at once if they are not.
    """
    appearing, first = np.unique(Y.indices, return_index=True)
    order = appearing[np.argsort(first)].astype(np.int32)
    number = np.empty(Y.shape[1], dtype=Y.indices.dtype)
    number[order] = np.arange(order.size)
    renumbered = sparse.csr_array((Y.data, number[Y.indices], Y.indptr), shape=(Y.shape[0], order.size))
    renumbered.sort_indices()
    return order, renumbered
