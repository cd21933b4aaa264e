"""Sizes of forests, and how long they take to predict."""

from __future__ import annotations

import math

from xmlc.planning.forest_seconds import ldsm_levels
from xmlc.planning.shape import Shape

BYTES_OF_FEATURE = 0.45  # of a node's features most have no weight under L1
BYTES_OF_LABEL = 5.0  # 8 for each label of a leaf, which instances of the leaf share
KEPT = 0.85  # of the features of a node of LdSM, where small weights are dropped
# Seconds of predicting.
PASSED = 8.7e-10  # of a non-zero and a node of a tree (LdSM: and a direction) that an instance comes through
VOTED = 5e-9  # of a label of the leaf that it reaches


def fastxml_bytes(shape: Shape, max_leaf: int, labels_per_leaf: int) -> float:
    """Return the bytes of one tree: sparse weights of its nodes, and the labels of its leaves."""
    features, nodes = 0.0, 1.0
    while shape.n_train / nodes > max_leaf:
        features, nodes = features + nodes * float(shape.features_of(shape.n_train / nodes)), 2 * nodes
    return BYTES_OF_FEATURE * features + BYTES_OF_LABEL * min(shape.pairs, nodes * labels_per_leaf)


def ldsm_bytes(shape: Shape, max_nodes: int, arity: int, prune: bool) -> float:
    """Return the bytes of one tree: for each node and feature of its instances a number and a weight per direction.

    The tree is supposed to have all its nodes, see `ldsm_levels`. Whether it stops early is not known before it is
    grown: where most instances have one label, as in scene, leaves are soon pure.
    """
    size, members = 0.0, shape.n_train
    for level in ldsm_levels(shape.n_train, max_nodes, arity, prune):
        features = float(shape.features_of(min(level.instances, shape.n_train)))
        size += level.nodes * features * 4 * (arity + 1)
        members = max(members, level.nodes * level.instances)
    return (KEPT if prune else 1.0) * size + BYTES_OF_LABEL * members * shape.labels_per_instance


def fastxml_search(shape: Shape, max_leaf: int, labels_per_leaf: int) -> float:
    """Return the seconds of passing one instance through one tree, and adding up its leaf."""
    levels = max(1.0, math.log2(shape.n_train / max_leaf))
    labels = min(labels_per_leaf, max_leaf * shape.labels_per_instance / 2)
    return PASSED * shape.nonzeros * levels + VOTED * labels


def ldsm_search(shape: Shape, max_nodes: int, arity: int, prune: bool) -> float:
    """Return the seconds of passing one instance through one tree, in one direction or several; see `ldsm_levels`."""
    levels = list(ldsm_levels(shape.n_train, max_nodes, arity, prune))
    members = [level.nodes * level.instances for level in levels] or [shape.n_train]
    in_leaf = levels[-1].instances / arity if levels else shape.n_train
    labels = min(shape.m, in_leaf * shape.labels_per_instance)
    passed, reached = sum(members[: len(levels)]) / shape.n_train, max(members) / shape.n_train
    return PASSED * arity * passed * shape.nonzeros + VOTED * reached * labels
