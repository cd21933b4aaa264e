"""Forests as flat arrays: what `AveragedForest` does with them, and how several are put one after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, Self, TypeVar

import numpy as np

from xmlc.gate.stored import Field
from xmlc.models.tail_classifiers import TAIL_FIELDS


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

LEAF = np.iinfo(np.int32).min  # the least code of a leaf


def forest_fields(*more: str) -> tuple[Field, ...]:
    """List the arrays that all forests have; ``more``: further sizes of the weight of one feature."""
    return (
        Field("biases", np.float32, ("inner", *more)),
        Field("weight_starts", np.int64, ("inner + 1",), starts="weights"),
        Field("features", np.uint32, ("weights",), below="n_features"),
        Field("weights", np.float32, ("weights", *more)),
        Field("sizes", np.uint32, ("leaves",), least=1, below=1 << 32),
        Field("leaf_starts", np.int64, ("leaves + 1",), starts="entries"),
        Field("labels", np.uint32, ("entries",), below="n_labels"),
        Field("counts", np.uint32, ("entries",)),
        *TAIL_FIELDS,
    )


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
