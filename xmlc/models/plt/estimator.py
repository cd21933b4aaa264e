"""The PLT estimator: training, prediction and storage."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from statistics import fmean
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import Growing, check_finite
from xmlc.core.parallel import batches, run_pieces
from xmlc.core.progress import Progress
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.csr import NO_WEIGHTS, KernelCSR, Matrix, kernel_csr, stack_estimates
from xmlc.kernels.estimator import (
    Hyperparameters,
    InvalidParameterError,
    check_value,
    hyperparameters,
)
from xmlc.kernels.unit_length import unit_row
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.choosing import cross_validated
from xmlc.models.domains import plt
from xmlc.models.plt.search import EVERY_NODE, estimate_by_levels, rank_best_first, rank_by_levels
from xmlc.models.plt.solvers import AdaGrad, DualDescent, Sgd, Solver
from xmlc.models.plt.training import TITLE, train_hashed, train_nodes
from xmlc.models.plt.weights import (
    LOGISTIC_LINK,
    CompactNodeWeights,
    HashedWeights,
    TreeWeights,
    named,
    weights_from_state,
)
from xmlc.models.trees import LabelTree, random_complete_tree
from xmlc.models.trees.kmeans import check_kmeans_shape, kmeans_tree
from xmlc.models.trees.representations import label_representations

# What C is where none is given: of SGD, and of "batch" by its loss the usual value and the other.
SGD_C, BATCH_C = 3.0, {"logistic": (3.0, 10.0), "squared_hinge": (1.0, 0.3)}
# Of `PLT.for_ranking`, where they are not the defaults.
WEIGHT_CUT = 0.1  # of weight_cut="auto", if the model is smaller with it
SELECTED = ("C", "arity", "weight_cut")  # hyperparameters that `fit` selects
RANKING: Any = {"solver": "batch", "loss": "squared_hinge", "hinge_power": 3, "tol": 0.03, "weight_cut": 0.05}
MOST_COPIES = 16  # by which SGD and AdaGrad learn a heavy instance in a pass
ROWS_PER_BATCH = 8192  # at most so many instances descend together

# An exact ranking is said to be costly where an instance opens so many nodes, and such a share of them.
COSTLY, COSTLY_SHARE = 2000, 0.1


@hyperparameters
class PLT(SparseProbabilityEstimator):
    """Probabilistic label tree with logistic regression in the nodes (plt2016, Sections 5.1-5.2).

    A tree over the labels; the classifier of node t estimates P(z_t = 1 | z_parent = 1, x), and a label's estimate is
    the product along its path (equation (9)). The root has a classifier too, for which an instance without labels is a
    negative example. Node classifiers are by default trained by two-phase stochastic gradient descent with L2
    regularisation (Appendix B). The defaults rank best on the mean over ten datasets (docs/models.md); the paper's
    trees are ``tree="random"``, and it searches ``arity``, ``lam``, ``gamma`` and ``epochs`` for each dataset.

    Hyperparameters stand in groups: the tree (``arity`` to ``label_features``), the solver (``solver`` to ``epochs``),
    the search (``search``, ``beam``), memory (``weight_cut``, ``hash_bits``, ``max_samples``), and those of other
    estimators.

    Parameters
    ----------
    arity : int or None
        Degree b of the tree; a power of two for "kmeans". None: of a "kmeans" tree 16 up to 6,400 labels that have an
        instance, and 32 up to 18,000. Over more labels it is 16, or with solver "batch" 64 up to 51,000, 128 up to
        144,000, and 32 to 128 beyond, so that the last inner nodes never have a few labels. A "random" tree has 16.
    tree : {"random", "kmeans"}
        The shape of the tree. Random and complete (plt2016, Section 6); or by hierarchical balanced 2-means over the
        labels' instances, which puts similar labels side by side (Parabel, Prabhu et al., WWW 2018;
        `xmlc.models.trees.kmeans.kmeans_tree`).
    max_leaf : int or None
        "kmeans": a node with at most this many labels has them as its children; Parabel has 100. None: the depth
        follows from the number of labels; such nodes have about 100, at most 100 sqrt(arity)
        (`xmlc.models.trees.kmeans.largest_leaf`).
    label_features : int or None
        "kmeans": labels are compared by at most so many features each, their heaviest, which bounds the memory of the
        tree (`xmlc.models.trees.representations.label_representations`). None: by all of their instances' features.
    solver : {"sgd", "adagrad", "batch"}
        How the node classifiers are trained: by two-phase SGD; by AdaGrad without regularisation (oplt2021); or by dual
        coordinate descent with L2 regularisation, as in Parabel and napkinXC. The last two with exact weights only.
    loss : {"logistic", "squared_hinge"}
        "batch": what is minimised. With the squared hinge loss the scores of labels lie between 0 and 1 and rank
        them, but are no estimates of probabilities.
    hinge_power : int
        "squared_hinge": a node's score is exp(-max(0, 1 - s)**p) of its linear score s. 2 in Parabel; 3 trusts a node
        near its margin more, which helps the lower ranks on deep trees.
    C : float or None
        Weight of the loss against half the squared length of a node's weights: of "batch", and of SGD where ``lam`` is
        None. None: 3 for SGD; for "batch" 3, or 10, with the logistic loss, and 1, or 0.3, with the other: the second
        if P@1, cross-validated on up to 1000 training instances, is better by more than a standard error.
    tol : float
        "batch": a node stops when none of its dual variables moved by more than this, times C and the weight of the
        instance, in a pass.
    lam : float or None
        SGD: regularisation lambda; the weight of the constant feature is regularised like the others. None: 1 / (C n)
        for n training instances, or a sum n of their weights, with which the root minimises what "batch" does.
    gamma : float
        Initial step size. SGD: step t of a node is gamma / (1 + lam * gamma * t) (plt2016, Appendix B), with t from 0;
        the paper does not say where t begins. The authors' program counts from 1, which is this solver with
        gamma / (1 + lam * gamma). AdaGrad: a weight's step is gamma / sqrt(eps + its squared derivatives so far);
        oplt2021 has gamma 1.
    eps : float
        AdaGrad: see gamma.
    epochs : int
        Passes over the training set. SGD and AdaGrad: all nodes pass over the instances in one order, drawn once from
        the seed (the paper does not say). "batch": at most so many, each in an order of its own; 20 in Parabel.
    search : {"certified", "beam", "exact"}
        How `predict_top_k` finds the best labels. "certified": by beam search, and then, where a label below a node
        that the beam left out could still be among the best, below that node: the exact ranking in the least time.
        "beam": by the beam alone, as Parabel does; ``certified_`` tells for which instances its answer is proved to be
        exact. "exact": by best-first search (plt2016, Section 5.2), with the fewest inner products. Hashed weights are
        searched best-first always.
    beam : int
        Width of the beam: of the inner nodes of a level so many are expanded first, and at least k; Parabel has 10.
    weight_cut : "auto", float or None
        A number: weights of at most this size are dropped as soon as they are trained, and the others stored sparse, so
        that neither training nor the model holds all (Parabel has 0.1). None keeps all. "auto": 0.1 if the model takes
        fewer bytes so, by the first 33 million weights, else None. Without ``unit_norm`` and with ``hash_bits`` it
        keeps all.
    hash_bits : int or None
        None keeps exact weights, each node its own. A number k hashes (node, feature) with a sign into 2**k
        weights shared by all nodes (Section 6 uses 2**30): bounded memory for any number of nodes, at the
        price of collisions, of a cache miss per weight, and of training on one thread, because nodes then
        depend on one another.
    max_samples : float or None
        `fit`: the share of the instances that are learned, the first in the order of the seed; the tree is made for
        them too, over the labels that they have. With oplt2021's solver and
        tree this is IPLT on the sample of OPLT's ``warm_start`` (Appendix G there).
    unit_norm : bool
        Scale each instance to Euclidean length 1 first.
    random_state : int
        Seed of the tree and of the order of the instances.
    n_jobs : int or None
        Threads; the result is the same bits on any number. None: as many as numba is given; -1: all cores.

    Attributes
    ----------
    tree_ : LabelTree
        Over the labels that have an instance; others have no estimate.
    C_ : float
    arity_ : int
    weight_cut_ : float or None
        As given, or as selected.
    nodes_ : NodeWeights, CompactNodeWeights or HashedWeights
    inner_products_ : ndarray of int64, shape (n,)
        Node classifiers evaluated for each instance in the last prediction.
    certified_ : ndarray of bool, shape (n,), or None
        Of the last ranking: whether the beam's labels are provably the k best of the instance, because no node that it
        left out has an estimate as large as the k-th label. None where no beam searched.

    Notes
    -----
    IPLT, the tree that OPLT is compared with (oplt2021, Section 5), is this estimator with ``solver="adagrad",
    tree="kmeans", arity=2, max_leaf=100, gamma=1, eps=0.01`` and 1 or 3 epochs. One tree of Parabel is it with
    ``solver="batch", loss="squared_hinge", arity=2, max_leaf=100, C=1, epochs=20, weight_cut=0.1, search="beam"``; the
    ensemble is `xmlc.models.Parabel`.

    With exact weights a model takes 4 bytes for each child, and 4, for each pair of an inner node and a feature of an
    instance that reaches it: at the shape of Amazon-670K (490,449 instances with 70 non-zeros, 670,091 labels, b = 16,
    ``max_leaf=100``; synthetic) 19 GB, and with one level less, the default, more. `fit` holds them once, and `fit_to`
    128 MB at a time; the rest is in the model's files. Ranking reads these as they are needed, best from memory that
    holds them: where that is too much, cut or hash.

    Examples
    --------
    >>> from xmlc.models import PLT
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = PLT().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.76, 0.76]], dtype=float32))
    """

    # The tree.
    domains = plt.DOMAINS

    arity: int | None = None
    tree: plt.Tree = "kmeans"
    max_leaf: int | None = None
    label_features: int | None = None
    # The solver.
    solver: plt.Solver = "sgd"
    loss: plt.Loss = "logistic"
    hinge_power: int = 2
    C: float | None = None
    tol: float = 0.1
    lam: float | None = None
    gamma: float = 1.0
    eps: float = 0.01
    epochs: int = 30
    # The search.
    search: plt.Search = "certified"
    beam: int = 10
    # Memory.
    weight_cut: float | plt.Auto | None = "auto"
    hash_bits: int | None = None
    max_samples: float | None = None
    # As other estimators.
    unit_norm: bool = True
    random_state: int = 0
    n_jobs: int | None = None

    _measured = cast("tuple[LabelTree | None, int]", (None, 0))  # a tree, and the largest number of siblings in it
    # A tree, weights of its labels, and the largest weight below each node.
    _weighted = cast("tuple[LabelTree | None, np.ndarray, np.ndarray]", (None, NO_WEIGHTS, NO_WEIGHTS))

    @classmethod
    def for_ranking(cls, **given: Any) -> Self:
        """Return an estimator with the hyperparameters that rank best, whose scores are no estimates of probabilities.

        It is ``PLT(solver="batch", loss="squared_hinge", hinge_power=3, tol=0.03, weight_cut=0.05)``: the squared hinge
        loss of Parabel on a tree of arity 16, with what is given over it. The values were chosen by P@1 and P@5 on the
        validation parts of six sets, of parts of one of them, and of synthetic ones
        (``results/published/tuning/ranking.csv``). Where probabilities matter, for label sets and thresholds, take
        `PLT` with its defaults.

        Parameters
        ----------
        **given
            Hyperparameters, as for `PLT`.

        Examples
        --------
        >>> from xmlc.models import PLT
        >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
        >>> PLT.for_ranking(random_state=1).fit(X, Y).predict_top_k([[1, 0]], k=2)[0].tolist()
        [[0, 2]]
        """
        return cls(**RANKING | given)

    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train the tree (Algorithm 3).

        A weight multiplies the loss of its instance in each node, and the instance's share of the labels'
        representations (``tree="kmeans"``). "batch" then minimises what it does if rows are repeated. SGD and AdaGrad
        learn a row of weight 2 twice in a pass, and of weight 2.5 three times with shorter steps: for whole weights up
        to 16 this is training on rows that ``numpy.repeat`` repeats. In the choice of C weights count in training and
        in P@1.

        Parameters and errors are those of `xmlc.models.base.SparseProbabilityEstimator.fit`.
        """
        return self._train(*self._weighted_data(X, Y, sample_weight), Growing(self._into))

    def _train(
        self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray, growing: Growing, title: str = TITLE
    ) -> Self:
        """Train the tree on checked data; ``title`` is for the progress display."""
        self.n_features_in_, self.n_labels_ = X.shape[1], Y.shape[1]
        total, (order, importance) = math.fsum(weights), self._visits(weights)
        if self.max_samples is not None:
            kept = max(1, round(self.max_samples * order.size))
            total = total * kept / order.size
            weights = importance = importance[:kept]
            X, Y, order = X[order[:kept]], Y[order[:kept]], np.arange(kept)
        self.C_ = self._chosen_C(X, Y, weights)
        x, y = self._kernel_form(X), kernel_csr(Y)
        self.tree_ = self._label_tree(X, Y, weights)
        solver = self._solver(total)
        self.nodes_: TreeWeights
        cut = self.weight_cut if self.weight_cut != "auto" else WEIGHT_CUT if self.unit_norm else None
        if self.hash_bits is None:
            training = (order, solver, cut, self.n_jobs, growing, title, self.weight_cut == "auto", importance)
            self.nodes_ = train_nodes(x, y, X.shape[1], self.tree_, *training)
        else:
            self.nodes_ = train_hashed(
                x, y, self.tree_, order, cast("Sgd", solver), self.hash_bits, self.random_state, importance
            )
            check_finite((self.nodes_.table, self.nodes_.bias))
        self.weight_cut_ = cut if isinstance(self.nodes_, CompactNodeWeights) else None
        return self

    def _visits(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a pass, and the weight with which each is learned there.

        SGD and AdaGrad learn a row of weight 2 twice, as if it were repeated. At most 16 times: a heavier row has
        longer steps, and if rows weigh more than 16 on average, all weights are scaled down to that.
        """
        copies = np.ones_like(weights)
        if self.solver != "batch":
            weights = weights / np.float32(max(1.0, math.fsum(weights) / weights.size / MOST_COPIES))
            copies = np.clip(np.ceil(weights), 1, MOST_COPIES)
        rows = np.repeat(np.arange(weights.size), copies.astype(np.int64))
        order = rows[random_permutation(rows.size, self.random_state, Stream.PLT_ORDER)]
        return order, (weights / copies)[order]

    def _selected(self) -> Hyperparameters:
        return {name: vars(self)[f"{name}_"] for name in SELECTED if f"{name}_" in vars(self)}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Estimate the probability of every label above a threshold (plt2016, Algorithm 4).

        Parameters and result are those of `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        x = self._kernel_form(self._instances(X))
        thresholds = self.tree_.node_thresholds(self._label_thresholds(threshold))
        found = self._searched(estimate_by_levels, x, "estimating", thresholds, EVERY_NODE)
        counts, labels, estimates, self.inner_products_ = found
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def predict_top_k(self, X: Matrix, k: int, label_weights: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance, or with ``search="beam"`` labels that nearly are.

        Afterwards ``certified_`` tells where a beam found the exact answer, and ``inner_products_`` what each instance
        cost. The other two searches give the same exact ranking: "exact" is best-first search (plt2016, Section 5.2),
        which evaluates the fewest classifiers; "certified" evaluates more, whole levels at a time, in less time. With
        ``label_weights`` a node is expanded only if its estimate times the largest weight below it may be one of the k
        best products; nodes whose labels are all excluded never are.

        Parameters
        ----------
        X, k, label_weights
            As for `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Best first (ties: ``xmlc.kernels.top_k.rank_key``); -1 where there are fewer than k labels.
        scores : ndarray of float32, shape (n, k)
            Their estimates, times the weights if there are any; 0 where there is no label.
        """
        x, k = self._kernel_form(self._instances(X)), self._check_k(k)
        largest, (search, _) = self._largest(label_weights), self._search()
        labels, scores, self.certified_, self.inner_products_ = self._ranked(x, k, largest, search, "ranking")
        if search != "beam" and k <= self.beam:  # a longer list would widen the beam that the warning recommends
            self._warn_of_flat_estimates(self.inner_products_)
        return labels, scores

    def estimates_in_beam(
        self, X: Matrix, title: str = "ranking", thresholds: np.ndarray | None = None
    ) -> tuple[np.ndarray, ...]:
        """Estimate all labels that a search by beam meets; `xmlc.models.Parabel` averages them over its trees.

        With ``search="beam"`` the ``beam`` best inner nodes of each level are expanded, otherwise all, and every label
        below them is reported unless its estimate is rounded to 0. ``title`` is for the progress display. With
        ``thresholds``, float32 of shape (m,), only labels above them are reported, and nodes without any leave their
        places in the beam to others.

        Returns
        -------
        counts : ndarray of int64, shape (n,)
            Labels met for each instance.
        labels : ndarray of int32, estimates : ndarray of float32
            Those of all instances, one after the other, by ascending leaf.
        inner_products : ndarray of int64, shape (n,)

        Raises
        ------
        XmlcError
            The weights are hashed.
        """
        x, (search, beam) = self._kernel_form(self._instances(X)), self._search()
        if isinstance(self.nodes_, HashedWeights):
            raise XmlcError(
                f"{named(self.nodes_)} are not searched by beam, only weights that each node has for itself"
            )
        none = np.zeros(self.tree_.n_nodes, dtype=np.float32)
        of_nodes = none if thresholds is None else self.tree_.node_thresholds(thresholds)
        return self._searched(estimate_by_levels, x, title, of_nodes, beam if search == "beam" else EVERY_NODE)

    def rank_one(
        self, indices: ArrayLike, values: ArrayLike, k: int = 5, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of a single instance, without the costs of matrices, batches and threads.

        Parameters, results and errors are those of `xmlc.models.base.SparseProbabilityEstimator.rank_one`.
        """
        x = self._one_instance(indices, values)
        k, largest, (search, _) = self._check_k(k), self._largest(label_weights), self._search()
        with Progress(1, "ranking", shown=False):  # says so where a kernel is compiled
            x = unit_row(x) if self.unit_norm else x
            labels, scores, _, _ = self._ranked(x, k, largest, search if search == "beam" else "exact", "")
        return labels[0], scores[0]

    def _chosen_C(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> float:
        if self.C is not None or self.solver != "batch":
            return float(SGD_C if self.C is None else self.C)
        return cross_validated(lambda C: self.unfitted().set_params(C=C), *BATCH_C[self.loss], X, Y, weights)

    def _label_tree(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> LabelTree:
        """Return a tree over the labels that have an instance, or over all if none has: others are never predicted."""
        seen = np.unique(Y.indices)
        self.arity_ = int(self.arity or plt.usual_arity(self.tree, self.solver, seen.size))
        if 0 < seen.size < self.n_labels_:
            return self._tree_over_all(X, Y[:, seen], weights).over(seen)
        return self._tree_over_all(X, Y, weights)

    def _tree_over_all(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> LabelTree:
        if self.tree == "kmeans":
            representations = label_representations(X, Y, self.n_jobs, self.label_features, weights)
            return kmeans_tree(representations, self.arity_, self.max_leaf, self.random_state, self.n_jobs)
        return random_complete_tree(Y.shape[1], self.arity_, self.random_state)

    def _solver(self, n: float) -> Solver:
        """Return the solver for n instances, or for that sum of their weights."""
        if self.solver == "sgd":
            lam = 1.0 / (self.C_ * n) if self.lam is None else self.lam
            return Sgd(float(self.gamma), float(lam), int(self.epochs))
        if self.solver == "adagrad":
            return AdaGrad(float(self.gamma), float(self.eps), int(self.epochs))
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.PLT_PASSES)))
        return DualDescent(self.C_, float(self.tol), int(self.epochs), self.loss == "squared_hinge", key)

    def _check_hyperparameters(self) -> None:
        super()._check_hyperparameters()
        if self.tree == "kmeans":
            check_kmeans_shape(self.arity or plt.SMALL_ARITY, self.max_leaf)
        if self.hash_bits is not None and self.solver != "sgd":
            raise InvalidParameterError(
                f"hash_bits={self.hash_bits} with solver={self.solver!r}: hashed weights are trained by 'sgd'"
            )
        if self.hash_bits is not None and self.weight_cut not in (None, "auto"):
            raise InvalidParameterError(
                f"weight_cut={self.weight_cut} with hash_bits={self.hash_bits}: only exact weights can be dropped"
            )

    def _largest(self, label_weights: ArrayLike | None) -> np.ndarray:
        """Return the largest weight below each node, remembered because it takes longer than a search; or none."""
        if label_weights is None:
            return NO_WEIGHTS
        tree, weights, largest = self._weighted
        if tree is not self.tree_ or not np.array_equal(weights, label_weights):
            weights = self._label_weights(label_weights)
            largest = self.tree_.largest_below(weights)
            self._weighted = self.tree_, weights, largest
        return largest

    def _ranked(
        self, x: KernelCSR, k: int, largest: np.ndarray, search: str, title: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
        """Return labels, estimates, certificates (None without a beam), and inner products of some instances."""
        if search == "exact" or isinstance(self.nodes_, HashedWeights):
            labels, scores, inner_products = self._searched(rank_best_first, x, title, k, largest)
            return labels, scores, None, inner_products
        labels, scores, by_beam, inner_products = self._searched(
            rank_by_levels, x, title, k, largest, max(self._search()[1], k), search == "certified"
        )
        return labels, scores, by_beam, inner_products

    def _searched(
        self, kernel: Callable[..., Any], x: KernelCSR, title: str, *arguments: object
    ) -> tuple[np.ndarray, ...]:
        """Run a search over all instances, in batches whose cut does not show in the result.

        Parameters
        ----------
        kernel : callable
            Takes instances, the first of them and the last plus one, weights, link, ``arguments`` and shape.
        x : KernelCSR
        title : str
            For the progress display; without one the kernel runs at once, on this thread.
        *arguments
            Of this kernel.
        """
        n = x.indptr.size - 1
        shape = (self.n_features_in_, int(np.diff(x.indptr).max(initial=0)), self._max_degree())
        if not title:
            found: tuple[np.ndarray, ...] = kernel(x, 0, n, self.nodes_, self._link(), *arguments, shape)
            return found
        blocks = batches(n, ROWS_PER_BATCH, self.n_jobs) or [(0, 0)]  # an empty one keeps the types of the result
        calls = [(x, *block, self.nodes_, self._link(), *arguments, shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        parts = run_pieces(kernel, calls, self.n_jobs, costs, title=title, unit="instances")
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _max_degree(self) -> int:
        """Return the largest number of siblings in the tree, remembered because it takes longer than a search."""
        if self._measured[0] is not self.tree_:
            self._measured = (self.tree_, int(np.diff(self.tree_.children).max()))
        return self._measured[1]

    def _link(self) -> int:
        """Return the link from scores to estimates, see `estimate_scores`."""
        return int(self.hinge_power) if (self.solver, self.loss) == ("batch", "squared_hinge") else LOGISTIC_LINK

    def _warn_of_flat_estimates(self, inner_products: np.ndarray) -> None:
        """Warn if an exact ranking had to evaluate much of the tree."""
        opened = int(inner_products.sum()) / max(inner_products.size, 1)
        if opened < max(COSTLY_SHARE * self.tree_.n_nodes, COSTLY):
            return
        proved = "" if self.certified_ is None else f", proved exact here for {100 * fmean(self.certified_):.0f} %"
        warnings.warn(
            f"ranking exactly evaluated {opened:.0f} of {self.tree_.n_nodes} node classifiers for each instance, "
            f"because estimates differ little; search='beam' opens at most {self.beam} nodes of a level{proved}",
            stacklevel=3,
        )

    def _search(self) -> tuple[str, int]:
        """Return the search and the width of its beam, which may have been set since the training."""
        for name in ("search", "beam"):
            check_value(type(self), name, getattr(self, name))
        return self.search, min(int(self.beam), self.tree_.n_nodes)

    def _state(self) -> tuple[dict[str, np.ndarray], Hyperparameters]:
        arrays = self.nodes_._asdict()
        meta: Hyperparameters = {"seed": int(arrays.pop("seed"))} if "seed" in arrays else {}
        return arrays, meta | self._selected()

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        for name in SELECTED:  # trees of other estimators and models of earlier versions have them as hyperparameters
            setattr(self, f"{name}_", meta.get(name, getattr(self, name)))
        seed = {name: number for name, number in meta.items() if name not in SELECTED}
        self.nodes_ = weights_from_state(arrays, seed, self.n_features_in_, self.n_labels_)
        self.tree_ = LabelTree.from_children(self.nodes_.children, self.nodes_.label)
