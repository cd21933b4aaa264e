"""The PLT estimator: training, prediction and storage."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import Appendable, check_finite
from xmlc.core.parallel import batches, run_tasks
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.csr import KernelCSR, Matrix, kernel_csr, stack_estimates
from xmlc.kernels.domains import (
    FLAG,
    MANY,
    N_JOBS,
    NOT_NEGATIVE,
    NOT_NEGATIVE_OR_NONE,
    PASSES,
    POSITIVE,
    POSITIVE_OR_NONE,
    POSITIVE_SHARE_OR_NONE,
    SEED,
    WEIGHT_THRESHOLD,
    one_of,
    whole,
)
from xmlc.kernels.estimator import (
    Hyperparameters,
    InvalidParameterError,
    check_value,
    hyperparameters,
    param,
)
from xmlc.kernels.unit_length import unit_row
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.model_selection import cross_validated
from xmlc.models.plt.compact import Auto, threshold_of
from xmlc.models.plt.hashed_training import train_hashed
from xmlc.models.plt.search import EVERY_NODE, estimate_by_levels, rank_best_first, rank_by_levels
from xmlc.models.plt.solvers import AdaGrad, DualDescent, Sgd, Solver
from xmlc.models.plt.training import TITLE, train_nodes
from xmlc.models.plt.weights import LOGISTIC_LINK, HashedWeights, TreeWeights, weights_from_state
from xmlc.models.trees import LabelTree, random_complete_tree
from xmlc.models.trees.kmeans import check_kmeans_shape, kmeans_tree
from xmlc.models.trees.representations import label_representations

Loss = Literal["logistic", "squared_hinge"]
Tree = Literal["random", "kmeans"]
SolverName = Literal["sgd", "adagrad", "batch"]
SearchMethod = Literal["certified", "beam", "exact"]

# Usual arity of k-means trees by their largest number of labels, and 128 above: the smallest of 16
# to 128 with the fewest levels. A larger one would leave the lowest inner nodes with few labels.
USUAL_ARITY = {6_400: 16, 18_000: 32, 51_000: 64, 144_000: 128, 578_000: 32, 3_270_000: 64}
SMALL_ARITY = 16
# above, an arity over 16 makes SGD three times as slow for little gain
LARGEST_OF_SGD = 18_000
# the first value for "batch" wins unless cross-validation shows that the second is better
SGD_C = 3.0
BATCH_C = {"logistic": (3.0, 10.0), "squared_hinge": (1.0, 0.3)}
SELECTED = ("C", "arity", "weight_threshold")  # by `fit`
RANKING: Any = {
    "solver": "batch",
    "loss": "squared_hinge",
    "hinge_power": 3,
    "tol": 0.03,
    "weight_threshold": 0.05,
}
MOST_COPIES = 16  # visits to an instance of large weight in one pass
ROWS_PER_BATCH = 8192  # at most, in a search


@hyperparameters
class PLT(SparseProbabilityEstimator):
    """A probabilistic label tree with a linear classifier in each node (plt2016, Sections 5.1,
    5.2).

    The classifier of node t estimates P(z_t = 1 | z_parent = 1, x), and the estimate of a label is
    the product along its path from the root (equation (9)). The root has a classifier too, for
    which instances without labels are negative. The defaults rank labels best on average over ten
    datasets. Settings of papers are in docs/models/plt.md.

    Parameters
    ----------
    arity : int or None
        Degree b of the tree, a power of two for "kmeans". None is 16, or 16 to 128 for "kmeans" by
        the number of labels (docs/models/plt.md).
    tree : {"random", "kmeans"}
        "random" is a complete tree over the labels in random order (plt2016, Section 6). "kmeans"
        groups similar labels by hierarchical balanced 2-means (Parabel, Prabhu et al., WWW 2018).
    max_leaf : int or None
        Largest number of labels below the lowest inner nodes of a "kmeans" tree. None gives them
        about 100 (`xmlc.models.trees.kmeans.largest_leaf`).
    label_features : int or None
        Number of features of largest weight that represent a label for "kmeans". None keeps all, or
        as many as fit into 8 GB.
    solver : {"sgd", "adagrad", "batch"}
        "sgd" is two-phase stochastic gradient descent with L2 regularisation (plt2016, Appendix B),
        "adagrad" is AdaGrad without regularisation (oplt2021), and "batch" is dual coordinate
        descent with L2 regularisation, as in Parabel.
    loss : {"logistic", "squared_hinge"}
        The loss that "batch" minimises. The squared hinge loss gives scores between 0 and 1 that
        rank labels, but do not estimate probabilities.
    hinge_power : int
        The power p with which a linear score s becomes exp(-max(0, 1 - s)**p) after training with
        the squared hinge loss. Parabel has 2. With 3, the lower ranks in deep trees improve.
    C : float or None
        Weight of the loss, relative to half the squared length of a node's weight vector, for
        "batch", and for "sgd" if ``lam`` is None. None is 3 for "sgd", and for "batch" selects
        between 3 and 10 (logistic loss) or 1 and 0.3 (squared hinge loss) by the P@1 of a
        cross-validation.
    tol : float
        "batch" stops training a node once no dual variable moves by more than tol * C in a pass.
    lam : float or None
        Regularisation parameter lambda of "sgd", also of the constant feature. None is 1 / (C n)
        for instances whose weights sum to n, which gives the root the objective of "batch".
    gamma : float
        Initial step size. Step t = 0, 1, ... of a node has the size gamma / (1 + lam * gamma * t)
        in SGD, and the step of a weight gamma / sqrt(eps + the sum of its squared derivatives so
        far) in AdaGrad.
    eps : float
        The constant in the step size of "adagrad".
    epochs : int
        Number of passes over the training set, for "batch" at most.
    search : {"certified", "beam", "exact"}
        Algorithm of `predict_top_k`. "certified", the fastest exact search, runs a beam search and
        then looks only below those nodes outside the beam that could still hold one of the k best
        labels. "beam" omits the second part, so it may miss labels. "exact" is best-first search
        (plt2016, Section 5.2), always used for hashed weights.
    beam : int
        Number of inner nodes that a beam search expands on each level, or k if that is larger.
    weight_threshold : "auto", float or None
        Weights w with abs(w) <= weight_threshold are dropped once a node is trained, and the others
        are stored sparse. None keeps all. "auto" is 0.1 if the model has more than 33 million
        weights or is smaller that way, but None if ``unit_norm`` is False or ``hash_bits`` is set.
    hash_bits : int or None
        With "sgd", hash each pair (node, feature) to a sign and to one of 2**hash_bits weights that
        all nodes share (plt2016, Section 6). This bounds the memory, but weights collide, and
        training is slower, on one thread.
    max_samples : float or None
        Share of the instances, drawn at random, to train tree and classifiers on.
    unit_norm : bool
        Scale instances to length 1.
    random_state : int
        Seed of the tree, the sample and the order of the instances.
    n_jobs : int or None
        Number of threads (`xmlc.core.threads.resolve_threads`), without effect on the result.

    Attributes
    ----------
    tree_ : LabelTree
        Tree over the labels with a training instance. Others have no estimate.
    C_, arity_, weight_threshold_ : float, int, float or None
        Given or selected values of the hyperparameters.
    nodes_ : NodeWeights, CompactNodeWeights or HashedWeights
        Weights of the node classifiers.
    inner_products_ : ndarray of int64, shape (n,)
        Number of node classifiers evaluated for each instance in the last prediction.
    certified_ : ndarray of bool, shape (n,), or None
        Whether the beam search alone proves an instance's last ranking exact. None without a beam
        search.

    See Also
    --------
    Parabel : An average of several trees, trained for rankings.
    OPLT : A tree that grows with a stream of instances.

    Examples
    --------
    >>> from xmlc.models import PLT
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = PLT().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[0.76, 0.76]], dtype=float32))
    """

    # the tree
    arity: int | None = param(whole(2, MANY, none=True), default=None)
    tree: Tree = param(one_of(Tree), default="kmeans")
    max_leaf: int | None = param(whole(1, MANY, none=True), default=None)
    label_features: int | None = param(whole(1, MANY, none=True), default=None)
    # the solver
    solver: SolverName = param(one_of(SolverName), default="sgd")
    loss: Loss = param(one_of(Loss), default="logistic")
    hinge_power: int = param(whole(1, 4), default=2)
    C: float | None = param(POSITIVE_OR_NONE, default=None)
    tol: float = param(NOT_NEGATIVE, default=0.1)
    lam: float | None = param(NOT_NEGATIVE_OR_NONE, default=None)
    gamma: float = param(POSITIVE, default=1.0)
    eps: float = param(POSITIVE, default=0.01)
    epochs: int = param(whole(1, PASSES), default=30)
    # the search
    search: SearchMethod = param(one_of(SearchMethod), default="certified")
    beam: int = param(whole(1, MANY), default=10)
    # memory
    weight_threshold: float | Auto | None = param(WEIGHT_THRESHOLD, default="auto")
    # 2**34 weights take 64 GB
    hash_bits: int | None = param(whole(1, 34, none=True), default=None)
    max_samples: float | None = param(POSITIVE_SHARE_OR_NONE, default=None)
    # as in most estimators
    unit_norm: bool = param(FLAG, default=True)
    random_state: int = param(SEED, default=0)
    n_jobs: int | None = param(N_JOBS, default=None)

    @classmethod
    def for_ranking(cls, **given: Any) -> Self:
        """Return a PLT with the hyperparameters that rank best.

        These are ``solver="batch", loss="squared_hinge", hinge_power=3, tol=0.03,
        weight_threshold=0.05``: the loss of Parabel, but the default arity of `PLT`. They were
        selected by P@1 and P@5 on validation data of six datasets, samples of tib-core-26k and
        synthetic data (``results/published/tuning/ranking.csv``). Because the scores estimate no
        probabilities, label sets and thresholds need the defaults of `PLT`.

        Parameters
        ----------
        **given
            Hyperparameters of `PLT` that replace these.

        Returns
        -------
        PLT
            Not fitted.

        Raises
        ------
        TypeError
            A hyperparameter does not exist.

        See Also
        --------
        Parabel

        Examples
        --------
        >>> from xmlc.models import PLT
        >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
        >>> PLT.for_ranking(random_state=1).fit(X, Y).predict_top_k([[1, 0]], k=2)[0].tolist()
        [[0, 2]]
        """
        return cls(**RANKING | given)

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Train the tree (plt2016, Algorithm 3).

        A sample weight multiplies the loss of its instance in each node, its features in the sums
        that represent labels, and its part in the cross-validation for C. With integer weights up
        to 16, SGD and AdaGrad give the same model as with rows repeated by ``numpy.repeat``.

        Parameters and errors are documented in `xmlc.models.base.SparseProbabilityEstimator.fit`.
        """
        return self._train(*self._weighted_data(X, Y, sample_weight), Appendable(self._into))

    def _train(
        self,
        X: sparse.csr_array,
        Y: sparse.csr_array,
        weights: np.ndarray,
        appendable: Appendable,
        title: str = TITLE,
    ) -> Self:
        self.n_features_in_ = X.shape[1]
        self.n_labels_ = Y.shape[1]
        order, importance = self._visits(weights)
        total = math.fsum(weights)
        if self.max_samples is not None:
            kept = max(1, round(self.max_samples * order.size))
            total = total * kept / order.size
            weights = importance = importance[:kept]
            X = X[order[:kept]]
            Y = Y[order[:kept]]
            order = np.arange(kept)
        self.C_ = self._chosen_C(X, Y, weights)
        x = self._kernel_form(X)
        y = kernel_csr(Y)
        self.tree_ = self._label_tree(X, Y, weights)
        solver: Any = self._solver(total)
        self.nodes_: TreeWeights
        self.weight_threshold_: float | None = None
        if self.hash_bits is None:
            threshold = threshold_of(self.weight_threshold, self.unit_norm)
            training = (order, solver, threshold, self.n_jobs, appendable, title, importance)
            self.nodes_, self.weight_threshold_ = train_nodes(
                x, y, X.shape[1], self.tree_, *training
            )
        else:
            self.nodes_ = train_hashed(
                x, y, self.tree_, order, solver, self.hash_bits, self.random_state, importance
            )
            check_finite((self.nodes_.table, self.nodes_.bias))
        return self

    def _visits(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a pass, and the weight of each visit.

        SGD and AdaGrad visit a row of weight 2 twice in a pass, as if it were repeated, but none
        more than 16 times, beyond which steps get longer. A larger mean weight is scaled to 16.
        """
        copies = np.ones_like(weights)
        if self.solver != "batch":
            weights = weights / np.float32(
                max(1.0, math.fsum(weights) / weights.size / MOST_COPIES)
            )
            copies = np.clip(np.ceil(weights), 1, MOST_COPIES)
        rows = np.repeat(np.arange(weights.size), copies.astype(np.int64))
        order = rows[random_permutation(rows.size, self.random_state, Stream.PLT_ORDER)]
        return order, (weights / copies)[order]

    def _selected(self) -> Hyperparameters:
        # a PLT inside another estimator has selected only some
        return {name: vars(self)[f"{name}_"] for name in SELECTED if f"{name}_" in vars(self)}

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the probability estimates above a threshold (plt2016, Algorithm 4).

        Parameters and result are documented in
        `xmlc.models.base.SparseProbabilityEstimator.predict_proba`.
        """
        x = self._kernel_form(self._instances(X))
        thresholds = self.tree_.node_thresholds(self._label_thresholds(threshold))
        found = self._searched(estimate_by_levels, x, "estimating", thresholds, EVERY_NODE)
        counts, labels, estimates, self.inner_products_ = found
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the k most probable labels of each instance.

        The ranking is exact, and the same, for ``search="certified"`` and "exact". Although "exact"
        evaluates fewer classifiers, "certified" is faster, because it takes a whole level at once.

        ``label_weights`` also guide the search, because no label scores more than the estimate of a
        node above it times the largest label weight below that node. Nodes whose labels all have
        weight 0 are never expanded. The call sets ``certified_`` and ``inner_products_``.

        Parameters
        ----------
        X, k, label_weights
            As for `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
            Labels, best first, then -1 if there are fewer than k. ``xmlc.kernels.top_k.rank_key``
            defines the order of equal scores.
        scores : ndarray of float32, shape (n, k)
            Estimates, times the label weights if given, and 0 for a missing label.
        """
        x = self._kernel_form(self._instances(X))
        k = self._check_k(k)
        labels, scores, *facts = self._ranked(
            x, k, self._label_weights(label_weights), self.search, "ranking"
        )
        *certified, self.inner_products_ = facts
        self.certified_ = certified[0] if certified else None
        return labels, scores

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.unit_norm:
            x = unit_row(x)
        search = self.search
        if search == "certified":  # "exact" gives the same ranking, faster for a single instance
            search = "exact"
        labels, scores, *_ = self._ranked(x, k, label_weights, search, "")
        return labels, scores

    def _beam_estimates(
        self, x: KernelCSR, title: str, thresholds: np.ndarray | None
    ) -> tuple[np.ndarray, ...]:
        """Return `estimate_by_levels` for all labels that the search reaches, for Parabel.

        With ``search="beam"``, it expands the ``beam`` best inner nodes of each level, otherwise
        all. Without ``thresholds``, they are 0.
        """
        if thresholds is None:
            of_nodes = np.zeros(self.tree_.n_nodes, dtype=np.float32)
        else:
            of_nodes = self.tree_.node_thresholds(thresholds)
        beam = int(EVERY_NODE)
        if self.search == "beam":
            beam = self._beam()
        return self._searched(estimate_by_levels, x, title, of_nodes, beam)

    def _chosen_C(self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray) -> float:
        if self.C is not None:
            return float(self.C)
        if self.solver != "batch":
            return SGD_C
        return cross_validated(
            lambda C: self.unfitted().set_params(C=C), *BATCH_C[self.loss], X, Y, weights
        )

    def _label_tree(
        self, X: sparse.csr_array, Y: sparse.csr_array, weights: np.ndarray
    ) -> LabelTree:
        """Return a tree over the labels with a training instance, or over all if none has one."""
        labels: np.ndarray = np.unique(Y.indices)
        self.arity_ = int(self.arity or usual_arity(self.tree, self.solver, labels.size))
        if labels.size == 0:
            labels = np.arange(self.n_labels_)
        if self.tree == "random":
            return random_complete_tree(labels.size, self.arity_, self.random_state).over(labels)
        if labels.size < self.n_labels_:
            Y = Y[:, labels]
        representations = label_representations(X, Y, self.n_jobs, self.label_features, weights)
        return kmeans_tree(
            representations, self.arity_, self.max_leaf, self.random_state, self.n_jobs
        ).over(labels)

    def _solver(self, n: float) -> Solver:
        if self.solver == "sgd":
            lam = self.lam
            if lam is None:
                lam = 1.0 / (self.C_ * n)
            return Sgd(float(self.gamma), float(lam), int(self.epochs))
        if self.solver == "adagrad":
            return AdaGrad(float(self.gamma), float(self.eps), int(self.epochs))
        key = np.uint64(stream_key(np.int64(self.random_state), np.int64(Stream.PLT_PASSES)))
        return DualDescent(
            self.C_, float(self.tol), int(self.epochs), self.loss == "squared_hinge", key
        )

    def check_together(self) -> None:
        """Raise an InvalidParameterError if hyperparameters contradict one another."""
        if self.tree == "kmeans":
            check_kmeans_shape(self.arity or SMALL_ARITY, self.max_leaf)
        if self.hash_bits is not None and self.solver != "sgd":
            found = f"hash_bits={self.hash_bits} with solver={self.solver!r}"
            raise InvalidParameterError(f"found {found}, expected solver='sgd'")
        if self.hash_bits is not None and self.weight_threshold not in (None, "auto"):
            found = f"weight_threshold={self.weight_threshold} with hash_bits={self.hash_bits}"
            raise InvalidParameterError(f"found {found}, expected weight_threshold='auto' or None")

    def _ranked(
        self, x: KernelCSR, k: int, label_weights: np.ndarray, search: str, title: str
    ) -> tuple[Any, ...]:
        # users may change ``search`` and ``beam`` after training
        check_value(type(self), "search", search)
        largest = self.tree_.largest_below(label_weights)
        if search == "exact" or isinstance(self.nodes_, HashedWeights):
            return self._searched(rank_best_first, x, title, k, largest)
        return self._searched(
            rank_by_levels, x, title, k, largest, max(self._beam(), k), search == "certified"
        )

    def _beam(self) -> int:
        check_value(type(self), "beam", self.beam)
        return min(int(self.beam), self.tree_.n_nodes)

    def _searched(
        self, kernel: Callable[..., Any], x: KernelCSR, title: str, *arguments: object
    ) -> tuple[np.ndarray, ...]:
        """Run a search in batches, on which the result does not depend, and join the parts.

        An empty ``title`` of the progress display means a single call on the present thread.
        """
        n = x.indptr.size - 1
        longest = int(x.indptr[-1] - x.indptr[0])
        if n > 1:
            longest = int(np.diff(x.indptr).max())
        shape = (self.n_features_in_, longest, self.tree_.max_degree)
        if not title:
            found: tuple[np.ndarray, ...] = kernel(
                x, 0, n, self.nodes_, self._link(), *arguments, shape
            )
            return found
        # without instances, an empty batch determines the dtypes of the result
        blocks = batches(n, ROWS_PER_BATCH, self.n_jobs) or [(0, 0)]
        calls = [(x, *block, self.nodes_, self._link(), *arguments, shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        parts = run_tasks(kernel, calls, self.n_jobs, costs, title=title, unit="instances")
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _link(self) -> int:
        """Return the link function from linear scores to estimates, see `estimate_scores`."""
        if (self.solver, self.loss) == ("batch", "squared_hinge"):
            return int(self.hinge_power)
        return LOGISTIC_LINK

    def _state(self) -> tuple[dict[str, np.ndarray], Hyperparameters]:
        arrays = self.nodes_._asdict()
        meta: Hyperparameters = {}
        if isinstance(self.nodes_, HashedWeights):
            meta["seed"] = int(arrays.pop("seed"))
        return arrays, meta | self._selected()

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
        # selected values are not stored in a tree of another estimator or an earlier version
        for name in SELECTED:
            value = meta.get(name, getattr(self, name))
            check_value(type(self), name, value)
            setattr(self, f"{name}_", value)
        seed = {name: number for name, number in meta.items() if name not in SELECTED}
        self.nodes_, self.tree_ = weights_from_state(
            arrays, seed, self.n_features_in_, self.n_labels_
        )


def usual_arity(tree: str | None, solver: str | None, n_labels: float) -> int:
    """Return the default arity of a tree for ``n_labels`` labels."""
    if tree == "random" or (solver != "batch" and n_labels > LARGEST_OF_SGD):
        return SMALL_ARITY
    return next((arity for most, arity in USUAL_ARITY.items() if n_labels <= most), 128)
