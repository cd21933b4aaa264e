"""Node weights hashed into one table (plt2016, Section 6: feature hashing shared over all nodes)."""

from __future__ import annotations

from typing import NamedTuple, NoReturn, Self

import numpy as np

from xmlc.errors import XmlcError
from xmlc.models.plt.search._by_instance import search_threshold, search_top_k
from xmlc.models.plt.search._single import rank_single
from xmlc.models.plt.search.queries import Queries
from xmlc.models.plt.weights._searches import Found, Ranked


class _Arrays(NamedTuple):
    children: np.ndarray
    label: np.ndarray
    table: np.ndarray
    scale: np.ndarray
    bias: np.ndarray
    seed: np.uint64


class HashedWeights(_Arrays):
    """Tree and hashed weights in the form that the kernels take.

    Attributes
    ----------
    children : int64 (n_nodes + 1,), label : int32 (n_nodes,)
        The tree, as in `NodeWeights`.
    table : float32 (2**k,)
        The weights shared by all nodes; a node's weight is its slot times the sign divided by ``scale``.
    scale : float64 (n_nodes,)
        Pi of each node (Appendix B).
    bias : float32 (n_nodes,)
        Weight of the constant feature times ``scale``; not hashed.
    seed : uint64
        Key of the hash function.
    """

    __slots__ = ()

    @property
    def n_weights(self) -> int:
        """How many weights all nodes share."""
        return int(self.table.size)

    def threshold_search(self, queries: Queries, thresholds: np.ndarray) -> Found:
        """Search each instance by itself: siblings have no weights side by side that a batch could read once."""
        return queries.one_by_one(search_threshold, self, thresholds)

    def ranking_search(self, queries: Queries, k: int, search: str, beam: int) -> Ranked:
        """Search each instance by itself, best node first; exactly, whichever search is asked for."""
        labels, estimates, inner_products = queries.one_by_one(search_top_k, self, k)
        return labels, estimates, None, inner_products

    def beam_search(self, queries: Queries, beam: int | None) -> NoReturn:
        """Refuse."""
        raise XmlcError(f"{self._named()} are not searched by beam, only weights that each node has for itself")

    def rank_one(self, ids: np.ndarray, values: np.ndarray, link: int, k: int, beam: int | None, degree: int) -> Found:
        """Rank labels for one instance exactly, whatever the beam."""
        return rank_single(ids, values, self, link, k, degree)

    def drop(self, cut: float, n_jobs: int | None = None) -> NoReturn:
        """Refuse."""
        raise XmlcError(f"{self._named()} are shared by all nodes, none can be dropped")

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return the arrays, and the seed apart from them."""
        arrays = self._asdict()
        return arrays, {"seed": int(arrays.pop("seed"))}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> Self:
        """Return the weights of these arrays and this seed."""
        return cls(**arrays, seed=np.uint64(meta["seed"]))

    def _named(self) -> str:
        return f"hash_bits={self.table.size.bit_length() - 1}: hashed weights"
