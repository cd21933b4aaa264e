"""The sparse weighted nearest-neighbour estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import row_of, unchecked_view
from xmlc.kernels.csr import (
    NO_WEIGHTS,
    KernelCSR,
    Matrix,
    kernel_csr,
    stack_estimates,
    without_zeros,
)
from xmlc.kernels.domains import N_JOBS, PASSES, NumberRange, whole
from xmlc.kernels.estimator import (
    Hyperparameters,
    check_hyperparameters,
    check_value,
    hyperparameters,
    param,
)
from xmlc.kernels.heaps import insert_best
from xmlc.kernels.stored import FINITE, Field, fields_of
from xmlc.kernels.top_k import scaled
from xmlc.kernels.unit_length import unit_row, unit_rows
from xmlc.models.base import SparseProbabilityEstimator, all_or_nothing
from xmlc.models.model_selection import are_right, is_better, sample
from xmlc.models.nearest._bounds import SearchScratch, powers_of, search_scratch
from xmlc.models.nearest._index import NeighbourIndex, build_index, check_index
from xmlc.models.nearest._search import nearest_instances

ROWS_PER_TASK = 128
#: Instances that choose beta, so that P@1 has a standard error of half a point.
INSTANCES_FOR_BETA = 10_000
LEAST_SIMILARITY = 1e-300  # less than all positive float32 numbers

# The search computes (1 + 1/4096)**exponent, which stays small up to 1e4.
EXPONENT = NumberRange(0, 1e4)
EXPONENT_OR_NONE = NumberRange(0, 1e4, none=True)


@hyperparameters
class SparseWeightedNearestNeighbors(SparseProbabilityEstimator):
    """Weighted nearest neighbours in sparse data (swnn2018, Section 3).

    The S training instances x_i most similar to an instance x vote for their labels, with the
    weight Sim(x, x_i)**alpha and ::

        Sim(x, x_i) = J(x, x_i)**beta * <x, x_i> / (|x| |x_i|)

    J is the Jaccard similarity of the two sets of features (Section 3.3). Only instances with a
    positive similarity vote, and ties go to the smaller number. The estimate of a label is its
    share of the sum of all votes (with the weights V_i of Section 3.5).

    The search is exact, because it skips an instance only if an upper bound of its similarity is
    below the S-th best one. Similarities are float32 and bit-identical on any number of threads.

    An instance with ``sample_weight`` w counts as w neighbours: its vote is multiplied by w, and at
    most S nearest instances vote up to a total weight of S, to which the farthest one's is cut.
    Integer weights therefore give the same model as repeated rows, except that the choice of beta
    excludes all copies of an instance from its neighbours.

    Parameters
    ----------
    S : int
        Number of neighbours.
    alpha : float
        Exponent of the similarity in the votes. With 0, all neighbours have equal votes.
    beta : float or None
        Exponent of the Jaccard similarity, 0 for the cosine similarity. None selects 1, or 0 if its
        P@1 is better on up to 10,000 training instances, none of which is its own neighbour.
    n_jobs : int, optional
        Number of threads (`xmlc.core.threads.resolve_threads`), without effect on the result.

    Attributes
    ----------
    index_ : NeighbourIndex
    label_starts_ : ndarray of int64, shape (n + 1,)
    labels_ : ndarray of uint32, shape (number of positives,)
        Label sets of the training instances, as in a CSR matrix.
    row_weights_ : ndarray of float32, shape (n,), or None
        Weights of the training instances, or None if all are 1.
    beta_ : float
        The given or chosen beta.
    inner_products_ : ndarray of int64, shape (number of queries,)
        Number of similarities, each an inner product of two sparse rows, that the last prediction
        computed for each query.

    See Also
    --------
    xmlc.models.Stacking : Combines neighbours with a label tree.

    Examples
    --------
    >>> from xmlc.models import SparseWeightedNearestNeighbors
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> model = SparseWeightedNearestNeighbors().fit(X, Y)
    >>> labels, scores = model.predict_top_k([[1, 0]], k=2)
    >>> labels.tolist(), scores.round(2)
    ([[0, 2]], array([[1., 1.]], dtype=float32))
    >>> model.neighbours([[1, 0]])[0][0, :4].tolist()
    [0, 2, 4, -1]
    """

    MODEL_FORMAT = 2
    FIELDS = (
        *fields_of(NeighbourIndex),
        Field("label_starts", np.int64, ("n + 1",), starts="positives"),
        Field("labels", np.uint32, ("positives",), below="n_labels"),
        Field("row_weights", np.float32, ("n",), optional=True, within=(0, FINITE[1])),
    )

    S: int = param(whole(1, PASSES), default=75)
    alpha: float = param(EXPONENT, default=2.0)
    beta: float | None = param(EXPONENT_OR_NONE, default=None)
    n_jobs: int | None = param(N_JOBS, default=None)

    @all_or_nothing
    def fit(self, X: Matrix, Y: Matrix, sample_weight: ArrayLike | None = None) -> Self:
        """Index the training instances, whose Euclidean lengths do not matter, and store their
        label sets.

        See `xmlc.models.base.SparseProbabilityEstimator.fit` for parameters and errors.
        """
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        if X.shape[0] > np.iinfo(np.int32).max:
            raise InvalidDataError(
                f"X: found {X.shape[0]} training instances, expected fewer than 2**31"
            )
        self.index_ = build_index(self._unit(X))
        labels = kernel_csr(Y)
        self.label_starts_ = labels.indptr
        self.labels_ = labels.indices
        self.row_weights_ = None
        if (weights != 1).any():
            self.row_weights_ = weights
        self._idle: list[SearchScratch] = []  # scratch memory that no thread uses at present
        if self.beta is None:
            self.beta_ = self._chosen(X, Y)
        else:
            self.beta_ = float(self.beta)
        return self

    def _chosen(self, X: sparse.csr_array, Y: sparse.csr_array) -> float:
        """Select beta 0 or 1 by P@1 on a sample, of which no instance is its own neighbour."""
        rows = sample(X.shape[0], INSTANCES_FOR_BETA)
        hits = {}
        model = copy(self).set_params(S=min(self.S + 1, X.shape[0]))
        # ``X`` has no column names
        model._remember_names(X)
        for beta in (0.0, 1.0):
            numbers, similarities = model.set_params(beta=beta).neighbours(X[rows])
            others = numbers != rows[:, None]
            # with more than S equal others, an instance may be missing, so the farthest is removed
            others[others.all(axis=1), -1] = False
            shape = (rows.size, -1)
            found = self._ranked(
                numbers[others].reshape(shape), similarities[others].reshape(shape), 1
            )
            hits[beta] = are_right(found[0], Y[rows])
        weights = None
        if self.row_weights_ is not None:
            weights = self.row_weights_[rows]
        if is_better(hits[0.0], hits[1.0], weights):
            return 0.0
        return 1.0

    def _selected(self) -> Hyperparameters:
        return {"beta": self.beta_}

    def neighbours(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Find each query's S nearest training instances with a positive similarity.

        Parameters
        ----------
        X : CSR, shape (n, d)
            Queries.

        Returns
        -------
        numbers : ndarray of int32, shape (n, S)
            Neighbours, nearest first, and -1 for missing ones. Ties go to the smaller number.
        similarities : ndarray of float32, shape (n, S)
            Their similarities, 0 for missing ones.

        Raises
        ------
        XmlcError
            As for `predict_proba`.
        """
        numbers, similarities = self._by_tasks(X, lambda *found: found, "searching")
        missing = ((0, 0), (0, int(self.S) - numbers.shape[1]))
        return np.pad(numbers, missing, constant_values=-1), np.pad(similarities, missing)

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the labels' shares of the votes that are strictly greater than ``threshold``.

        An instance without neighbours has no estimates. See
        `xmlc.models.base.SparseProbabilityEstimator.predict_proba` for parameters and result.
        """
        self._check_fitted()
        use = partial(self._above, thresholds=self._label_thresholds(threshold))
        counts, labels, estimates = self._by_tasks(X, use, "estimating")
        return stack_estimates(counts, labels, estimates, self.n_labels_)

    def _above(
        self, numbers: np.ndarray, similarities: np.ndarray, thresholds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        starts = self.label_starts_
        sizes = np.where(numbers >= 0, starts[numbers + 1] - starts[numbers], 0).sum(axis=1)
        most = int(np.minimum(sizes, self.n_labels_).sum())
        counts = np.zeros(len(numbers), dtype=np.int64)
        labels = np.empty(most, dtype=np.int32)
        shares = np.empty(most, dtype=np.float32)
        votes = self._votes(numbers, similarities)
        with self._scratch() as scratch:
            list_shares(*votes, scratch.votes, scratch.seen, thresholds, counts, labels, shares)
        n = counts.sum()
        return counts, labels[:n], shares[:n]

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each instance, the k labels with the most votes.

        See `xmlc.models.base.SparseProbabilityEstimator.predict_top_k` for parameters and results.
        """
        use = partial(
            self._ranked, k=self._check_k(k), label_weights=self._label_weights(label_weights)
        )
        labels, scores = self._by_tasks(X, use, "ranking")
        return labels, scores

    def _ranked(
        self,
        numbers: np.ndarray,
        similarities: np.ndarray,
        k: int,
        label_weights: np.ndarray = NO_WEIGHTS,
    ) -> tuple[np.ndarray, np.ndarray]:
        labels = np.full((len(numbers), k), -1, dtype=np.int32)
        scores = np.zeros((len(numbers), k), dtype=np.float32)
        votes = self._votes(numbers, similarities)
        with self._scratch() as scratch:
            top_labels(*votes, scratch.votes, scratch.seen, label_weights, labels, scores)
        return labels, scores

    def _rank_row(
        self, x: KernelCSR, k: int, label_weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        check_hyperparameters(self)  # `set_params` may have changed them after training
        x = nonzero(unit_row(x))  # scaling may round values to 0
        _, numbers, similarities = self._nearest(x, 0, 1)
        return self._ranked(numbers, similarities, k, label_weights)

    def _by_tasks(self, X: Matrix, use: Callable[..., Any], title: str) -> tuple[np.ndarray, ...]:
        """Stack the results of ``use`` for the neighbours of each block of instances."""
        check_hyperparameters(self)
        x = kernel_csr(self._unit(self._instances(X)))

        def work(start: int, end: int) -> tuple[np.ndarray, ...]:
            n_products, numbers, similarities = self._nearest(x, start, end)
            return n_products, *use(numbers, similarities)

        blocks = row_blocks(x.indptr.size - 1, ROWS_PER_TASK) or [(0, 0)]
        costs = [end - start for start, end in blocks]
        results = run_tasks(work, blocks, self.n_jobs, costs, title=title, unit="instances")
        self.inner_products_, *stacked = (
            np.concatenate(part) for part in zip(*results, strict=True)
        )
        return tuple(stacked)

    def _nearest(
        self, x: KernelCSR, start: int, end: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        beta = self.beta
        if beta is None:
            beta = self.beta_
        numbers = np.full(
            (end - start, min(int(self.S), self.index_.sizes.size)), -1, dtype=np.int32
        )
        similarities = np.zeros(numbers.shape, dtype=np.float32)
        n_products = np.zeros(end - start, dtype=np.int64)
        with self._scratch() as scratch:
            nearest_instances(
                x,
                start,
                self.index_,
                scratch,
                float(beta),
                powers_of(beta),
                numbers,
                similarities,
                n_products,
            )
        return n_products, numbers, similarities

    @contextmanager
    def _scratch(self) -> Iterator[SearchScratch]:
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = search_scratch(self.index_, self.n_labels_)
        yield scratch
        self._idle.append(scratch)

    def _votes(self, numbers: np.ndarray, similarities: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the arguments of `vote`, with votes divided by the nearest neighbour's, so that
        they neither overflow nor all underflow.
        """
        similarities = similarities.astype(np.float64)
        shares = similarities / np.maximum(similarities[:, :1], LEAST_SIMILARITY)
        if self.alpha == 2:  # the default needs no compiled function
            weights = shares * shares
        else:
            weights = elementwise.power(shares, float(self.alpha))
        if self.row_weights_ is not None:
            own = np.where(numbers >= 0, self.row_weights_[numbers], 0).astype(np.float64)
            before = np.cumsum(own, axis=1) - own
            weights *= np.clip(int(self.S) - before, 0, own)
        return numbers, weights, self.label_starts_, self.labels_

    def _unit(self, X: sparse.csr_array) -> sparse.csr_array:
        return without_zeros(unit_rows(without_zeros(X), self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the large scratch memory, which predictions allocate again."""
        state = vars(self).copy()
        if "_idle" in state:
            state["_idle"] = []
        return state

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        arrays = self.index_._asdict()
        meta = {"block_rows": arrays.pop("block_rows"), "beta": self.beta_}
        arrays["label_starts"] = self.label_starts_
        arrays["labels"] = self.labels_
        if self.row_weights_ is not None:
            arrays["row_weights"] = self.row_weights_
        return arrays, meta

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        self._check_arrays(arrays)
        self.label_starts_ = arrays.pop("label_starts")
        self.labels_ = arrays.pop("labels")
        self.row_weights_ = arrays.pop("row_weights", None)
        self.index_ = NeighbourIndex(**arrays, block_rows=int(meta["block_rows"]))
        check_index(self.index_)
        self.beta_ = float(meta["beta"])
        check_value(type(self), "beta", self.beta_)
        self._idle = []


def nonzero(x: KernelCSR) -> KernelCSR:
    """Return an instance without its zero values."""
    n = np.count_nonzero(x.data)
    if n == x.data.size:
        return x
    return KernelCSR(np.array([0, n]), x.indices[x.data != 0], x.data[x.data != 0])


# The kernels below compute labels from neighbours.


@njit
def vote(neighbours, weights, label_starts, labels, votes, seen):
    """Sum the votes for each label in float64, nearest neighbour first (f(x) in Section 3.3).

    Parameters
    ----------
    neighbours : int32 (S,), weights : float64 (S,)
        Training instances, nearest first, up to an entry -1, and their votes.
    votes : float64 (m,)
        All 0 before the call. Receives the votes of the labels in ``seen``.
    seen : uint32 (m + 1,)
        Receives the labels that have votes.

    Returns
    -------
    n_seen : int
    total : float
        Sum of all votes, by which estimates are divided (swnn2018, Section 3.5).
    """
    n_seen = 0
    total = 0.0
    for r in range(neighbours.size):
        i = neighbours[r]
        if i < 0:
            break
        total += weights[r]
        # A first vote that underflows to zero must not list its label twice.
        weight = max(weights[r], 1e-300)
        for label in unchecked_view(labels, label_starts[i], label_starts[i + 1]):
            # written to avoid a branch, but counted only if new
            seen[n_seen] = label
            n_seen += votes[label] == 0
            votes[label] += weight
    return n_seen, total


@njit(error_model="numpy")
def list_shares(
    neighbours, weights, label_starts, labels, votes, seen, thresholds, counts, found, estimates
):
    """List for each instance the labels whose shares of the votes exceed their thresholds, in no
    order.

    Parameters
    ----------
    neighbours, weights, label_starts, labels, votes, seen
        As in `vote`, but ``neighbours`` and ``weights`` are (n, S).
    thresholds : float32 (m,)
    counts : int64 (n,)
        Receives the number of labels of each instance, 0 before the call.
    found : int32, estimates : float32
        Receive the labels of one instance after the other, and their estimates.
    """
    n_found = 0
    for i in range(neighbours.shape[0]):
        n_seen, total = vote(
            row_of(neighbours, i), row_of(weights, i), label_starts, labels, votes, seen
        )
        for label in unchecked_view(seen, 0, n_seen):
            estimate = np.float32(votes[label] / total)
            votes[label] = 0
            if estimate > thresholds[label]:
                found[n_found] = label
                estimates[n_found] = estimate
                n_found += 1
                counts[i] += 1


@njit(error_model="numpy")
def top_labels(neighbours, weights, label_starts, labels, votes, seen, label_weights, best, scores):
    """Find the k labels with the largest weighted shares of the votes. Ties go to the smaller
    label.

    Parameters
    ----------
    neighbours, weights, label_starts, labels, votes, seen
        See `list_shares`.
    label_weights : float64 (m,) or (0,)
        Factor of each label's share, or none.
    best : int32 (n, k), scores : float32 (n, k)
        All -1 and 0 before the call. Receive the labels, best first, and their scores.
    """
    for i in range(neighbours.shape[0]):
        n_seen, total = vote(
            row_of(neighbours, i), row_of(weights, i), label_starts, labels, votes, seen
        )
        for label in unchecked_view(seen, 0, n_seen):
            score = scaled(np.float32(votes[label] / total), label_weights, label)
            votes[label] = 0
            if score > 0:
                insert_best(row_of(best, i), row_of(scores, i), np.int32(label), score)
