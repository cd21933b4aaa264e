"""napkinXC's PLT, and its online trees OPLT and IPLT (PyPI ``napkinxc``, extra ``peers``), as estimators."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from benchmarks.peers.program import Answers, ProgramModel, flattened, imported
from xmlc.core.errors import XmlcError
from xmlc.core.threads import resolve_threads
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import Matrix
from xmlc.kernels.domains import MANY, PASSES, POSITIVE, SOME, Domain, OneOf, whole
from xmlc.kernels.estimator import check_hyperparameters, hyperparameters

KMEANS = "hierarchicalKmeans"
GROWN = {"best_greedy": "onlineBestScore", "random": "onlineRandom"}  # types of trees, by policy


@hyperparameters
class NapkinXCModel(ProgramModel):
    """Common base of the program's models, whose hyperparameters are given by keyword.

    The time of training includes writing the model, because the program has no other way to keep it; converting the
    data to its types is part of both times, as in any use of it from Python.
    """

    _: KW_ONLY
    eta: float = 1.0
    epochs: int = 1
    random_state: int = 0
    n_jobs: int | None = None

    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        self.model_.set_params(threads=resolve_threads(self.n_jobs))  # those of now, not those of the training
        # It would take a threshold for each label too, but version 0.7.2 then returns all labels.
        asked: dict[str, Any] = {"threshold": least} if least > 0 else {"top_k": k}
        return flattened(self.model_.predict_proba(sparse.csr_matrix(X), **asked))

    def _load_program(self) -> None:
        self.model_ = self._program()
        self.model_.load()

    def _train_program(self, X: sparse.csr_array, Y: sparse.csr_array, **options: object) -> None:
        label_lists = [labels.tolist() for labels in np.split(Y.indices, Y.indptr[1:-1])]
        self._program().set_params(**options).fit(sparse.csr_matrix(X), label_lists)

    def _options(self) -> dict[str, Any]:
        """Return the options that all of the program's models take; a seed of 0 would be "choose one"."""
        return {"output": str(self._files), "eta": self.eta, "epochs": self.epochs, "seed": self.random_state + 1}

    @abstractmethod
    def _program(self) -> Any:
        """Return the program's model in the folder of its files, to be trained or loaded."""


@hyperparameters
class NapkinXCPLT(NapkinXCModel):
    """The PLT of napkinXC, with its own names for the hyperparameters.

    Its liblinear visits instances in an order that no seed reaches: a second training in the same process differs a
    little from the first.

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
    random_state : int
    n_jobs : int or None
    """

    _: KW_ONLY
    epochs: int = 3
    optimizer: str = "adagrad"
    arity: int = 16
    tree_type: str = "completeKaryRandom"

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Train; the program keeps its model in a temporary folder that lives as long as this object."""
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
    """The online models of the program: AdaGrad, weights in hash maps, one pass after another over a stream.

    Labels are given to the program by order of appearance: a tree that it builds from data has a leaf for every number
    below the largest.

    Attributes
    ----------
    label_order_ : ndarray of int32
        Labels in order of their first appearance in the shuffled training set.
    """

    SAVED = ("label_order_",)
    domains: ClassVar[dict[str, Domain]] = {  # of other values the program ends the process
        "arity": whole(2, MANY),
        "max_leaf": whole(1, MANY),
        "eta": POSITIVE,
        "eps": POSITIVE,
        "epochs": whole(1, PASSES),
        "policy": OneOf(tuple(GROWN)),
        "warm_start": SOME,
    }

    _: KW_ONLY
    arity: int = 2
    max_leaf: int = 100
    eps: float = 0.01

    def fit(self, X: Matrix, Y: Matrix) -> Self:
        """Shuffle by the seed, then train in one thread; the model is in a temporary folder.

        Raises
        ------
        XmlcError
            The program is not installed, no instance has a label, or a hyperparameter is out of its range.
        """
        check_hyperparameters(self)
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
            self._train_program(X[start:end], Y[start:end], **options)
        self._load_program()
        return self

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        """Return the parts of the stream in turn: first and last instance, and the options they are trained with."""
        return [(0, n, {"tree_type": KMEANS})]

    def _program(self) -> Any:
        own = {"arity": self.arity, "max_leaves": self.max_leaf, "adagrad_eps": self.eps, "threads": 1}
        usual = {"optimizer": "adagrad", "loss": "log", "weights_threshold": 0.1, "norm": True}
        return imported("napkinxc.models").Model(model="oplt", **self._options(), **own, **usual)

    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        counts, labels, scores = super()._answers(X, k, least)
        return counts, self.label_order_[labels], scores


@hyperparameters
class NapkinXCOPLT(NapkinXCOnline):
    """The online PLT of napkinXC (oplt2021's own program), with our names for the hyperparameters.

    It differs from the paper's pseudocode:
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
        Share of the training instances from which the k-means tree is built, up to 1 (OPLT-W: 0.1).
    eta, eps : float
        AdaGrad: a step is ``eta / sqrt(eps + squared derivatives so far)``.
    epochs : int
        Passes over the instances, in one order; with a warm start, passes of each of the two runs. Instances are scaled
        to Euclidean length 1; the constant feature, 1, comes after that.
    random_state : int
        Seed of the order of the instances and of the policy.
    n_jobs : int or None
        Threads of the prediction. With more than one the program's training is not reproducible.
    """

    policy: str = "best_greedy"
    alpha: float = 0.75
    warm_start: float | None = None

    def _phases(self, n: int) -> list[tuple[int, int, dict[str, object]]]:
        grown: dict[str, object] = {"tree_type": GROWN[self.policy], "online_tree_alpha": self.alpha}
        if self.warm_start is None:
            return [(0, n, grown)]
        first = max(round(self.warm_start * n), 1)
        stored = {"save_grads": True}  # without the sums of squares the resumed program ends at once
        resumed = [(first, n, grown | stored | {"resume": True})] if first < n else []
        return [(0, first, stored | {"tree_type": KMEANS}), *resumed]


class NapkinXCIPLT(NapkinXCOnline):
    """The incremental PLT of napkinXC: its online code on a k-means tree that is built before (Algorithm 1).

    It keeps and trains auxiliary classifiers as its OPLT does, so that its tree could grow; they are part of its time.

    Parameters
    ----------
    arity, max_leaf : int
        Of hierarchical balanced k-means: children of an inner node, labels below the last split.
    eta, eps, epochs
        As of `NapkinXCOPLT`.
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
