"""Sizes of forests."""

from __future__ import annotations

from xmlc.planning.shape import Shape

BYTES_OF_FEATURE = 0.45  # of a node's features most have no weight under L1
BYTES_OF_LABEL = 5.0  # 8 for each label of a leaf, which instances of the leaf share


def fastxml_bytes(shape: Shape, max_leaf: int, labels_per_leaf: int) -> float:
    """Return the bytes of one tree: sparse weights of its nodes, and the labels of its leaves."""
    features, nodes = 0.0, 1.0
    while shape.n_train / nodes > max_leaf:
        features, nodes = features + nodes * float(shape.features_of(shape.n_train / nodes)), 2 * nodes
    return BYTES_OF_FEATURE * features + BYTES_OF_LABEL * min(shape.pairs, nodes * labels_per_leaf)


def ldsm_bytes(shape: Shape, max_nodes: int, arity: int) -> float:
    """Return the bytes of one tree: for each node and feature of its instances a number and a weight per direction.

    Instances are supposed to be sent in one direction. Trees that send them in several are larger, and trees whose
    splits stop early smaller; neither is known before they are grown.
    """
    size, level, left = 0.0, 1.0, float(max_nodes)
    while left > 0 and shape.n_train / level > 1:
        nodes = min(left, level)
        size += nodes * float(shape.features_of(shape.n_train / level)) * 4 * (arity + 1)
        left, level = left - nodes, level * arity
    return size + BYTES_OF_LABEL * shape.pairs
