"""Where a new label goes: the random and the best-greedy policy (oplt2021, Algorithm 8): kernels."""

from __future__ import annotations

import numpy as np
from numba import njit

from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.float64 import log
from xmlc.models.oplt._blocks import score_block
from xmlc.models.oplt.tree import NONE, ROOT

FIXED, RANDOM, BEST_GREEDY = 0, 1, 2  # a fixed tree takes no new labels


@njit(cache=True, nogil=True)
def select_node(tree, ids, values, scratch, settings, instance):
    """Descend to the node that a new label of an instance extends: lines 1-6 of Algorithm 8.

    Where the paper goes on while a node has b children not all of which are leaves, this does while it has b or more,
    as it may in a tree that was given. Costs a score of each block on the way (best-greedy), or a random number.
    """
    nodes, v, level = tree.nodes, np.int64(ROOT), 0
    key = stream_key(settings.key, instance)
    while nodes[v].degree >= settings.arity and nodes[v].leaf_children < nodes[v].degree:
        if settings.policy == RANDOM:
            child = np.int64(nodes[v].first_child)
            for _ in range(random_below(key, level, nodes[v].degree)):
                child = np.int64(nodes[child].next_sibling)
            v = child
        else:
            v = best_child(tree, v, ids, values, scratch, settings.alpha, settings.printed)
        level += 1
    return v


@njit(cache=True, nogil=True)
def best_child(tree, v, ids, values, scratch, alpha, printed):
    """Return the child c with the largest score, the first of equals (oplt2021, Section 4.2).

    (1 - alpha) eta(x, c) + alpha log(|L_v| / (|Ch(v)| |L_c|)): how well the instance fits, and how much smaller c is
    than its siblings on the average. ``printed`` takes alpha log(|L_v| / |Ch(v)|) / |L_c| for the second part.
    """
    nodes, scores = tree.nodes, score_block(tree, v, ids, values, scratch)
    share = log(np.float64(nodes[v].n_leaves)) - log(np.float64(nodes[v].degree))
    best, best_score = np.int64(NONE), -np.inf
    child = np.int64(nodes[v].first_child)
    while child != NONE:
        size = np.float64(nodes[child].n_leaves)
        balance = share / size if printed else share - log(size)
        score = (1.0 - alpha) * np.float64(sigmoid(scores[nodes[child].column])) + alpha * balance
        if score > best_score:
            best, best_score = child, score
        child = np.int64(nodes[child].next_sibling)
    return best


@njit(cache=True, nogil=True)
def only_leaf(tree, v):
    """Return the child of v that is a leaf if there is exactly one, else v (line 8)."""
    nodes = tree.nodes
    if nodes[v].leaf_children != 1:
        return v
    child = np.int64(nodes[v].first_child)
    while nodes[child].degree > 0:
        child = np.int64(nodes[child].next_sibling)
    return child
