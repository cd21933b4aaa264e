"""napkinXC's online label trees, OPLT and IPLT (PyPI ``napkinxc``, extra ``peers``), as estimators of this package."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.estimator import hyperparameters
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream
from xmlc.models.peers.napkinxc import NapkinXCModel, label_lists, program_models

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
        order = order[_first_labelled(np.diff(Y.indptr)[order]) :]
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
        return program_models().Model(
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


def _first_labelled(sizes: np.ndarray) -> int:
    """Return the index of the first instance with labels, given how many each has."""
    if not sizes.any():
        raise XmlcError("napkinXC has nothing to learn from: no instance has a label")
    return int(np.argmax(sizes > 0))


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
