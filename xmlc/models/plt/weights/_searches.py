"""What all weights of a label tree can do, and how those are searched that each node has for itself."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np

from xmlc.models.plt.search._beam import rank_by_beam
from xmlc.models.plt.search._best_first import rank_best_first
from xmlc.models.plt.search._certified import rank_certified
from xmlc.models.plt.search._levels import EVERY_NODE, estimate_by_levels
from xmlc.models.plt.search._single import rank_single, rank_single_by_beam
from xmlc.models.plt.search.queries import Queries
from xmlc.models.plt.search.sharing import rank_shared, sharing_pays

SEARCHES = ("certified", "beam", "exact")

Found = tuple[np.ndarray, ...]
Ranked = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]


class TreeWeights(Protocol):
    """Weights of all node classifiers of a label tree, and the tree: a named tuple, which kernels take as it is."""

    @property
    def children(self) -> np.ndarray: ...

    @property
    def label(self) -> np.ndarray: ...

    def _asdict(self) -> dict[str, Any]: ...

    @property
    def n_weights(self) -> int:
        """How many weights are stored, without those of the constant feature."""

    def threshold_search(self, queries: Queries, thresholds: np.ndarray) -> Found:
        """Find all labels whose estimates are above thresholds (plt2016, Algorithm 4).

        Parameters
        ----------
        queries : Queries
        thresholds : float32 (n_nodes,)
            A node is expanded, a leaf reported, when its estimate is greater.

        Returns
        -------
        counts : int64 (n,)
            Labels found for each instance.
        labels : int32, estimates : float32
            Those of all instances, one after the other.
        inner_products : int64 (n,)
            Node classifiers evaluated for each instance.
        """

    def ranking_search(self, queries: Queries, k: int, search: str, beam: int) -> Ranked:
        """Find the k labels with the largest estimates, best first.

        Parameters
        ----------
        queries : Queries
        k : int
        search : str
            One of `SEARCHES`. Hashed weights are searched exactly, instance by instance, whichever it is.
        beam : int
            Of the inner nodes of a level a beam expands so many, and at least k.

        Returns
        -------
        labels : int32 (n, k), estimates : float32 (n, k)
            -1 and 0 where there are fewer than k labels.
        certified : bool (n,) or None
            Whether what the beam found is provably exact; None where no beam searched.
        inner_products : int64 (n,)
            Node classifiers evaluated for each instance.
        """

    def beam_search(self, queries: Queries, beam: int | None) -> Found:
        """Estimate all labels below the ``beam`` best inner nodes of each level, None for all; as `threshold_search`.

        Raises
        ------
        XmlcError
            The weights are hashed.
        """

    def rank_one(self, ids: np.ndarray, values: np.ndarray, link: int, k: int, beam: int | None, degree: int) -> Found:
        """Rank labels for one instance: the labels and estimates of `ranking_search`, of shape (k,).

        Parameters
        ----------
        ids : uint32, values : float32
            The instance.
        link : int
            See `estimate_scores`.
        k, beam : int, int or None
        degree : int
            Largest number of siblings in the tree.
        """

    def drop(self, cut: float, n_jobs: int | None = None) -> TreeWeights:
        """Return these weights without those w with abs(w) <= cut, the rest stored sparse.

        Raises
        ------
        XmlcError
            ``cut`` is negative or no number, or the weights are hashed.
        """

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return the arrays, of the tree too, and the numbers that are saved."""

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> Self:
        """Return the weights that `state` describes."""


class OwnWeights:
    """Base of weights that each node has for itself: siblings' weights lie side by side and are searched together.

    The methods are those of `TreeWeights`.
    """

    __slots__ = ()
    label: np.ndarray
    weights: np.ndarray

    @property
    def n_weights(self) -> int:
        """How many weights are stored, zeros among them where the form has these."""
        return int(self.weights.size)

    def threshold_search(self, queries: Queries, thresholds: np.ndarray) -> Found:
        """Descend level by level, all instances of a batch at once."""
        return queries.in_batches(estimate_by_levels, self, thresholds, EVERY_NODE)

    def ranking_search(self, queries: Queries, k: int, search: str, beam: int) -> Ranked:
        """Search best-first, by beam, or by beam and what it left out, all instances of a batch at once."""
        if search == "exact":
            labels, estimates, inner_products = queries.in_batches(rank_best_first, self, k)
            return labels, estimates, None, inner_products
        certifies, beam = search == "certified", max(beam, k)
        if sharing_pays(queries, self):
            labels, estimates, certified, inner_products = rank_shared(queries, self, k, beam, certifies)
        else:
            kernel = rank_certified if certifies else rank_by_beam
            labels, estimates, certified, inner_products = queries.in_batches(kernel, self, k, beam)
        return labels, estimates, certified, inner_products

    def beam_search(self, queries: Queries, beam: int | None) -> Found:
        """Descend level by level with all nodes, or with the best of each instance."""
        no_thresholds = np.zeros(self.label.size, dtype=np.float32)
        return queries.in_batches(estimate_by_levels, self, no_thresholds, EVERY_NODE if beam is None else beam)

    def rank_one(self, ids: np.ndarray, values: np.ndarray, link: int, k: int, beam: int | None, degree: int) -> Found:
        """Rank labels for one instance."""
        if beam is None:
            return rank_single(ids, values, self, link, k, degree)
        return rank_single_by_beam(ids, values, self, link, k, max(beam, k), degree)
