"""napkinXC's PLT and its online trees OPLT and IPLT (PyPI ``napkinxc``, extra ``baselines``)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse

from benchmarks.baselines.program import Answers, ProgramModel, flattened, imported
from xmlc.core.errors import XmlcError
from xmlc.core.threads import resolve_threads
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import Matrix
from xmlc.kernels.domains import MANY, PASSES, POSITIVE, POSITIVE_SHARE_OR_NONE, OneOf, whole
from xmlc.kernels.estimator import check_hyperparameters, hyperparameters, param

KMEANS = "hierarchicalKmeans"
# napkinXC's tree types by ``policy``
GROWN = {"best_greedy": "onlineBestScore", "random": "onlineRandom"}


@hyperparameters
class NapkinXCModel(ProgramModel):
    """Base class of napkinXC's models, whose hyperparameters are keyword arguments.

    All times include converting the data, and training times also writing the model to disk, which
    napkinXC cannot leave out.
    """

    _: KW_ONLY
    eta: float = param(POSITIVE, default=1.0)
    epochs: int = param(whole(1, PASSES), default=1)
    random_state: int = 0
    n_jobs: int | None = None

    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        # The user may have changed n_jobs since the training
        self.model_.set_params(threads=resolve_threads(self.n_jobs))
        # For label-wise thresholds, version 0.7.2 of napkinXC returns all labels
        asked: dict[str, Any] = {"top_k": k}
        if least > 0:
            asked = {"threshold": least}
        return flattened(self.model_.predict_proba(sparse.csr_matrix(X), **asked))

    def _load_program(self) -> None:
        self.model_ = self._program()
        self.model_.load()

    def _train_program(self, X: sparse.csr_array, Y: sparse.csr_array, **options: object) -> None:
        label_lists = [labels.tolist() for labels in np.split(Y.indices, Y.indptr[1:-1])]
        self._program().set_params(**options).fit(sparse.csr_matrix(X), label_lists)

    def _options(self) -> dict[str, Any]:
        """Return the common options, with seeds from 1, because 0 means a random seed."""
        return {
            "output": str(self._files),
            "eta": self.eta,
            "epochs": self.epochs,
            "seed": self.random_state + 1,
        }

    @abstractmethod
    def _program(self) -> Any:
        """Return napkinXC's untrained object for the model's folder."""


@hyperparameters
class NapkinXCPLT(NapkinXCModel):
    """napkinXC's PLT, with its own names of hyperparameters.

    No seed controls the order in which its liblinear visits instances, so two trainings in the same
    process differ slightly.

    Parameters
    ----------
    optimizer : {"sgd", "adagrad", "liblinear"}
    eta : float
        Learning rate of SGD and AdaGrad.
    epochs : int
        Passes of SGD and AdaGrad. The batch solver liblinear has no fixed number.
    arity : int
        Children of an inner node.
    tree_type : str
        "completeKaryRandom" is the random tree of xmlc's PLT, whereas "hierarchicalKmeans" is
        napkinXC's default, with arity 2 and up to 100 labels below the last split.
    random_state : int
    n_jobs : int or None
    """

    _: KW_ONLY
    epochs: int = 3
    optimizer: str = "adagrad"
    arity: int = 16
    tree_type: str = "completeKaryRandom"

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Train a model, whose files are in a temporary folder as long as the estimator exists."""
        X, Y = self._training_data(X, Y)
        self._new_folder()
        self._train_program(X, Y, threads=resolve_threads(self.n_jobs))
        self._load_program()
        return self

    def _program(self) -> Any:
        own = {"optimizer": self.optimizer, "tree_type": self.tree_type, "arity": self.arity}
        return imported("napkinxc.models").PLT(**self._options(), **own)


@hyperparameters
class NapkinXCOnline(NapkinXCModel):
    """napkinXC's online models, trained by AdaGrad in one or more passes over a stream.

    Weights are in hash maps. Labels are renumbered by first appearance, because a tree that
    napkinXC builds from data has a leaf for each unused number.

    Attributes
    ----------
    label_order_ : ndarray of int32
        Labels by first appearance in the shuffled training set.
    """

    SAVED = ("label_order_",)
    _: KW_ONLY
    arity: int = param(whole(2, MANY), default=2)
    max_leaf: int = param(whole(1, MANY), default=100)
    eps: float = param(POSITIVE, default=0.01)

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Shuffle the instances by the seed, train on one thread, and return the estimator.

        Raises
        ------
        XmlcError
            If napkinXC is missing, no instance has a label, or a hyperparameter is out of range.
        """
        check_hyperparameters(self)
        X, Y = self._training_data(X, Y)
        order = random_permutation(X.shape[0], self.random_state, Stream.NAPKINXC_ORDER)
        labelled = np.diff(Y.indptr)[order] > 0
        if not labelled.any():
            raise XmlcError("found no instance with a label, expected at least one for napkinXC")
        order = order[labelled.argmax() :]
        X = X[order]
        Y = Y[order]
        self.label_order_, Y = _by_appearance(Y)
        self._new_folder()
        for start, end, options in self._phases(X.shape[0]):
            self._train_program(X[start:end], Y[start:end], **options)
        self._load_program()
        return self

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        """Return the runs of the program: start and end of the instances, and options."""
        return [(0, n, {"tree_type": KMEANS})]

    def _program(self) -> Any:
        own = {
            "arity": self.arity,
            "max_leaves": self.max_leaf,
            "adagrad_eps": self.eps,
            "threads": 1,
        }
        usual = {"optimizer": "adagrad", "loss": "log", "weights_threshold": 0.1, "norm": True}
        return imported("napkinxc.models").Model(model="oplt", **self._options(), **own, **usual)

    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        counts, labels, scores = super()._answers(X, k, least)
        return counts, self.label_order_[labels], scores


@hyperparameters
class NapkinXCOPLT(NapkinXCOnline):
    """napkinXC's online PLT, the authors' program for oplt2021, with xmlc's hyperparameters.

    It differs from the pseudocode in oplt2021 in four points:

    - Each of the first ``arity`` instances with new labels opens a pre-leaf below the root.
    - If a pre-leaf is full, new labels go to siblings with free places before it is split.
    - Each new half of a split pre-leaf is a pre-leaf at once.
    - Best-greedy adds alpha * log(|L_parent| / (|Ch(parent)| |L_v|)) to (1 - alpha) * estimate.

    With an arity above 2, some inner nodes have more than ``arity`` children. Training scales each
    instance to Euclidean length 1, and then adds a constant feature of 1. It leaves out instances
    before the first one with a label, from which napkinXC cannot learn without a root node.

    A warm start needs two runs of the program: one builds a k-means tree from the first part of the
    instances, and the next extends the stored model by best-greedy growth. Because this model lacks
    the number of leaves, the policy counts only labels that the second run has added.

    Parameters
    ----------
    policy : {"best_greedy", "random"}
        Rule that selects the pre-leaf for new labels (Algorithm 8).
    alpha : float
        Weight of the tree's balance in best-greedy, next to 1 - alpha for the estimate.
    arity, max_leaf : int
        Most children of an inner node (b) and of a pre-leaf (b_max).
    warm_start : float or None
        Share of the training instances from which the k-means tree is built (OPLT-W: 0.1).
    first_max_leaf : int or None
        Most labels below the last split of that k-means tree, by default ``max_leaf``.
    eta, eps : float
        A step of AdaGrad is ``eta / sqrt(eps + squared derivatives so far)``.
    epochs : int
        Passes over the instances in the same order, in each run of a warm start.
    random_state : int
        Seed of the order of the instances and of the policy.
    n_jobs : int or None
        Threads for prediction. Training uses one, because with more it is not reproducible.
    """

    policy: str = param(OneOf(tuple(GROWN)), default="best_greedy")
    alpha: float = 0.75
    warm_start: float | None = param(POSITIVE_SHARE_OR_NONE, default=None)
    first_max_leaf: int | None = param(whole(1, MANY, none=True), default=None)

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        grown: dict[str, object] = {
            "tree_type": GROWN[self.policy],
            "online_tree_alpha": self.alpha,
        }
        if self.warm_start is None:
            return [(0, n, grown)]
        first = max(round(self.warm_start * n), 1)
        # The resumed run needs AdaGrad's sums of squares
        stored = {"save_grads": True}
        resumed = []
        if first < n:
            resumed = [(first, n, grown | stored | {"resume": True})]
        if self.first_max_leaf is None:
            max_leaf = self.max_leaf
        else:
            max_leaf = self.first_max_leaf
        return [(0, first, stored | {"tree_type": KMEANS, "max_leaves": max_leaf}), *resumed]


class NapkinXCIPLT(NapkinXCOnline):
    """napkinXC's incremental PLT, online training on a k-means tree that is built first.

    It is Algorithm 1 of oplt2021. Training times include the auxiliary classifiers of OPLT, which
    napkinXC trains although IPLT does not need them.

    Parameters
    ----------
    arity, max_leaf : int
        Children of an inner node, and most labels below the last split of balanced k-means.
    eta, eps, epochs, n_jobs
        See `NapkinXCOPLT`.
    random_state : int
        Seed of the order of the instances and of the tree.
    """


def _by_appearance(Y: sparse.csr_array) -> tuple[np.ndarray, sparse.csr_array]:
    """Number labels by their first appearance, without those that have no instance.

    Returns the old number of each new label, int32, and Y with the new numbers, which ascend in
    each row as napkinXC requires.
    """
    appearing, first = np.unique(Y.indices, return_index=True)
    order = appearing[np.argsort(first)].astype(np.int32)
    number = np.empty(Y.shape[1], dtype=Y.indices.dtype)
    number[order] = np.arange(order.size)
    renumbered = sparse.csr_array(
        (Y.data, number[Y.indices], Y.indptr), shape=(Y.shape[0], order.size)
    )
    renumbered.sort_indices()
    return order, renumbered
