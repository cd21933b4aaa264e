"""Sizes of label trees' node classifiers, and the work of training them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xmlc.planning.shape import Shape

BYTES_OF_WEIGHT, BYTES_OF_FEATURE = 4.0, 4.0


class Blocks(NamedTuple):
    """Equal blocks of siblings on one level of a tree.

    Attributes
    ----------
    number : float
        How many blocks there are.
    siblings : float
        Nodes in each.
    labels : float
        Leaves under each.
    """

    number: float
    siblings: float
    labels: float


class TreeCosts(NamedTuple):
    """What the classifiers of a tree amount to.

    Attributes
    ----------
    dense_bytes : float
        A weight for each sibling and feature of the instances that reach a block.
    compact_bytes : float
        At most so much is left where small weights are dropped: those of the features of a node's own instances.
    pairs : float
        Pairs (non-zero, node) that one pass over the training set updates.
    reached : float
        Pairs (instance, node).
    positions : float
        Pairs of an instance and a node that has a label of it.
    """

    dense_bytes: float
    compact_bytes: float
    pairs: float
    reached: float
    positions: float


def complete_blocks(m: float, arity: int) -> Iterator[Blocks]:
    """List the blocks of a complete tree of so many labels, level by level: the last level holds what is left over."""
    if m <= arity:
        yield Blocks(1.0, m, m)
        return
    inner = 1.0
    while inner * arity < m:
        yield Blocks(inner, arity, m / inner)
        inner *= arity
    yield Blocks((m - inner) / (arity - 1), arity, arity)  # nodes of the last level but one that are parted


def clustered_blocks(m: float, arity: int, max_leaf: int) -> Iterator[Blocks]:
    """List the blocks of a tree that parts nodes into equal halves until they have at most so many labels."""
    inner, labels = 1.0, m
    while labels > max_leaf:
        yield Blocks(inner, arity, labels)
        inner, labels = inner * arity, labels / arity
    yield Blocks(inner, labels, labels)


def tree_costs(shape: Shape, blocks: Iterator[Blocks]) -> TreeCosts:
    """Sum up blocks, each reached by the instances of as many random labels."""
    size = kept = pairs = reached = positions = 0.0
    for block in blocks:
        everyone = block.number == 1
        instances = shape.n_train if everyone else float(shape.instances_of(block.labels))
        features = float(shape.features_of(instances))
        size += block.number * features * (BYTES_OF_WEIGHT * block.siblings + BYTES_OF_FEATURE)
        own = float(shape.features_of(shape.instances_of(block.labels / block.siblings)))
        kept += block.number * block.siblings * min(own, features) * (BYTES_OF_WEIGHT + BYTES_OF_FEATURE)
        pairs += block.number * instances * shape.nonzeros * block.siblings
        reached += block.number * instances * block.siblings
        positions += block.number * instances
    return TreeCosts(size, kept, pairs, reached, positions + shape.pairs)
