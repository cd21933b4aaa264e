"""Exact node weights, kept block by block."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from xmlc.models.plt.weights._compact import CompactNodeWeights, compact_blocks, join_compact
from xmlc.models.plt.weights._searches import OwnWeights


class _Arrays(NamedTuple):
    children: np.ndarray
    label: np.ndarray
    feature_starts: np.ndarray
    features: np.ndarray
    weight_starts: np.ndarray
    weights: np.ndarray
    bias: np.ndarray


class NodeWeights(_Arrays, OwnWeights):
    """Tree and exact weights in the form that the kernels take.

    The children of node t are trained and stored together as block t + 1; block 0 holds the root alone.

    Attributes
    ----------
    children : int64 (n_nodes + 1,)
        First child of each node.
    label : int32 (n_nodes,)
        Label of each leaf, -1 for inner nodes.
    feature_starts : int64 (n_nodes + 2,)
        Where the features of each block start.
    features : uint32
        Features of each block, ascending.
    weight_starts : int64 (n_nodes + 2,)
        Where the weights of each block start.
    weights : float32
        Weights of each block, feature after feature, siblings side by side.
    bias : float32 (n_nodes,)
        Weight of the constant feature of each node.
    """

    __slots__ = ()

    def drop(self, cut: float, n_jobs: int | None = None) -> CompactNodeWeights:
        """Drop the weights w with abs(w) <= cut, and the features that are left without any.

        Parameters
        ----------
        cut : float
            At least 0; with 0 nothing but zeros is dropped, and the estimates stay the same bits.
        n_jobs : int or None
            Threads, see `run_pieces`.

        Raises
        ------
        XmlcError
            ``cut`` is negative or no number, or a block keeps more than 2**32 - 1 weights.
        """
        degrees = np.concatenate(([1], np.diff(self.children)))
        dense = (self.features, self.feature_starts, self.weights, self.weight_starts)
        return join_compact(self.children, self.label, self.bias, [compact_blocks(*dense, degrees, cut, n_jobs)])

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Return all arrays."""
        return self._asdict(), {}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> Self:
        """Return the weights of these arrays."""
        return cls(**arrays)
