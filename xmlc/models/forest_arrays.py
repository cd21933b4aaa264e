"""Forests as flat arrays: what `AveragedForest` does with them, and how several are put one after the other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np

from xmlc.gate.fields import check_below, check_indices, check_starts, field_of


class Trees(Protocol):
    """The trees of a forest: a NamedTuple of arrays, which kernels take and a saved model holds by name.

    Attributes
    ----------
    biases : ndarray, shape (n_inner, ...)
        Of the inner nodes.
    features : ndarray
        Of the weights of all inner nodes.
    leaf_starts, labels, counts : ndarray
        Label histograms of all leaves, as in `xmlc.models._leaf_averages.Histograms`.
    sizes : ndarray, shape (n_leaves,)
        Number of training instances of each leaf.
    """

    @property
    def biases(self) -> np.ndarray: ...  # noqa: D102 - attributes stand above

    @property
    def features(self) -> np.ndarray: ...  # noqa: D102

    @property
    def leaf_starts(self) -> np.ndarray: ...  # noqa: D102

    @property
    def labels(self) -> np.ndarray: ...  # noqa: D102

    @property
    def counts(self) -> np.ndarray: ...  # noqa: D102

    @property
    def sizes(self) -> np.ndarray: ...  # noqa: D102

    def _asdict(self) -> dict[str, np.ndarray]: ...

    @property
    def n_trees(self) -> int:
        """Number of trees."""

    def first(self, n: int, /) -> Self:
        """Return the first ``n`` trees, on the same arrays."""

    @classmethod
    def joined(cls, forests: Sequence[Self], /) -> Self:
        """Put forests one after the other."""


F = TypeVar("F", bound=Trees)


def check_parts(arrays: Mapping[str, np.ndarray], n_features: int, n_labels: int, tail: tuple[int, ...]) -> None:
    """Prove the weights of a stored forest's inner nodes, and the label histograms of its leaves.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    n_features, n_labels : int
    tail : tuple of int
        Shape of the weight of one feature: () or (M,).

    Raises
    ------
    Malformed
    """
    n_inner, n_leaves = len(arrays.get("biases", ())), len(arrays.get("sizes", ()))
    field_of(arrays, "biases", np.float32, (n_inner, *tail))
    features = field_of(arrays, "features", np.uint32, (None,))
    field_of(arrays, "weights", np.float32, (features.size, *tail))
    weight_starts = field_of(arrays, "weight_starts", np.int64, (n_inner + 1,))
    check_starts(weight_starts, "weight_starts", features.size, "features")
    check_indices(features, "features", n_features, weight_starts, strict=False)
    # Of no count and no size: a kernel divides by sizes, and knows a label that it has met by its sum.
    check_below(field_of(arrays, "sizes", np.uint32, (n_leaves,)), "sizes", 1 << 32, least=1)
    labels = field_of(arrays, "labels", np.uint32, (None,))
    check_below(field_of(arrays, "counts", np.uint32, labels.shape), "counts", 1 << 32, least=1)
    leaf_starts = field_of(arrays, "leaf_starts", np.int64, (n_leaves + 1,))
    check_starts(leaf_starts, "leaf_starts", labels.size, "labels")
    check_indices(labels, "labels", n_labels, leaf_starts, strict=False)


def joined_forest(forests: Sequence[F], starts: Collection[str], codes: Collection[str]) -> F:
    """Put forests one after the other.

    Parameters
    ----------
    forests : sequence of a NamedTuple of arrays
    starts : collection of str
        Names of the arrays that say where the parts of another one start.
    codes : collection of str
        Names of the arrays of nodes: inner nodes, or ~leaf.
    """
    n_inner = np.cumsum([0] + [len(forest.biases) for forest in forests])
    n_leaves = np.cumsum([0] + [forest.sizes.size for forest in forests])
    joined: dict[str, np.ndarray] = {}
    for name in forests[0]._asdict():
        parts = [getattr(forest, name) for forest in forests]
        if name in codes:
            parts = [shifted_codes(*part) for part in zip(parts, n_inner, n_leaves)]
        joined[name] = joined_starts(parts) if name in starts else np.concatenate(parts)
    return type(forests[0])(**joined)


def shifted_codes(codes: np.ndarray, n_inner: int, n_leaves: int) -> np.ndarray:
    """Renumber nodes that come behind others: ``codes`` are inner nodes, or ~leaf; int32 of the same shape."""
    return np.where(codes >= 0, codes + n_inner, codes - n_leaves).astype(np.int32)


def joined_starts(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join arrays that say where the parts of an array start, each from 0 to its size; int64."""
    offsets = np.cumsum([0] + [part[-1] for part in parts])
    return np.concatenate([[0], *(part[1:] + offset for part, offset in zip(parts, offsets))]).astype(np.int64)
