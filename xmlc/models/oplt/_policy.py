"""Where a new label goes (oplt2021, A_policy of Algorithm 4), and which nodes can still be extended: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.kernels.float64 import log
from xmlc.models.oplt._blocks import score_block
from xmlc.models.oplt._pending import UPDATES_USED
from xmlc.models.oplt._settle import make_inverses, settle
from xmlc.models.oplt.tree import NONE, ROOT, SELECTED, SELECTED_FOR
from xmlc.runtime.kernel_cache import njit

FIXED, RANDOM, BEST_GREEDY, COMPLETE, CPET, ONE_LEVEL = range(6)  # a fixed tree takes no new labels
RATIO, PRINTED, BINARY_LOG = range(3)  # how much smaller than its siblings a child is, for `best_child`
LOG_2 = 0.6931471805599453


@njit(cache=True, nogil=True)
def reads_rows(settings):
    """Tell whether classifiers are read to place a label, so that they must have learned all that came before."""
    return settings.policy == BEST_GREEDY or settings.policy == CPET


@njit(cache=True, nogil=True)
def extends_inner(settings, degree, leaf_children):
    """Tell whether a later label may extend an inner node with so many children, so many of them leaves."""
    if settings.policy == RANDOM or settings.policy == BEST_GREEDY:
        return leaf_children == degree or degree < settings.arity
    if settings.policy == COMPLETE:
        return degree < settings.arity
    return settings.policy == ONE_LEVEL


@njit(cache=True, nogil=True)
def extends_leaf(settings, degree, leaf_children):
    """Tell whether a later label may extend a leaf whose parent has so many children, so many of them leaves."""
    if settings.policy == RANDOM or settings.policy == BEST_GREEDY:
        return leaf_children < degree
    return settings.policy == COMPLETE or settings.policy == CPET


@njit(cache=True, nogil=True)
def node_for_label(tree, pending, ids, values, scratch, settings, instance):
    """Return the node that a new label of an instance extends: a leaf, or an inner node (lines 4-6 of Algorithm 4)."""
    if settings.policy == ONE_LEVEL:
        return np.int64(ROOT)
    if settings.policy == COMPLETE:
        return next_of_complete(tree, settings.arity)
    if settings.policy == CPET:
        return cpet_leaf(tree, pending, ids, values, scratch, settings)
    # Once for an instance, however many of its labels are new.
    counters = tree.counters
    if counters[SELECTED_FOR] == instance:
        v = counters[SELECTED]
    else:
        v = select_node(tree, pending, ids, values, scratch, settings, instance)
    v = only_leaf(tree, v)
    counters[SELECTED], counters[SELECTED_FOR] = v, instance
    return v


@njit(cache=True, nogil=True)
def next_of_complete(tree, arity):
    """Return the node to extend so that a complete tree stays complete (oplt2021, Section 4.1).

    Nodes counted level by level, from 0: with m leaves it is number (m - 1) // (arity - 1), the last inner node while
    that has fewer than ``arity`` children, then the first leaf. The children of node q have the numbers from
    arity * q + 1 on, so that the path to it is found in its number, without a look at any instance.
    """
    nodes, number = tree.nodes, (np.int64(tree.nodes[ROOT].n_leaves) - 1) // (arity - 1)
    first, size = np.int64(0), np.int64(1)  # of the level that the node is in
    while first + size <= number:
        first, size = first + size, size * arity
    within, v = number - first, np.int64(ROOT)
    while size > 1:
        size //= arity
        v = np.int64(nodes[v].first_child)
        for _ in range(within // size):
            v = np.int64(nodes[v].next_sibling)
        within %= size
    return v


@njit(cache=True, nogil=True)
def cpet_leaf(tree, pending, ids, values, scratch, settings):
    """Descend to the leaf that CPET splits for a new label (Beygelzimer et al., UAI 2009; oplt2021, Section 4.2).

    There a node has one classifier, of its right child: with its estimate p and L and R leaves to the left and right,
    the label goes right if (1 - alpha) 2 (p - 1/2) + alpha log2(L / R) > 0. Here each child has its own, and
    eta(x, right) - eta(x, left) stands for 2 (p - 1/2): where the two add up to 1, as they do for classes, it is that.
    The rule was not checked against the UAI paper, which was not at hand; oplt2021 names the policy without its rule.
    """
    v = np.int64(ROOT)
    while tree.nodes[v].degree > 0:
        v = best_child(tree, pending, v, ids, values, scratch, settings, BINARY_LOG)
    return v


@njit(cache=True, nogil=True)
def select_node(tree, pending, ids, values, scratch, settings, instance):
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
            balance = PRINTED if settings.printed else RATIO
            v = best_child(tree, pending, v, ids, values, scratch, settings, balance)
        level += 1
    return v


@njit(cache=True, nogil=True)
def best_child(tree, pending, v, ids, values, scratch, settings, balance):
    """Return the child c with the largest score, the first of equals (oplt2021, Section 4.2).

    (1 - alpha) eta(x, c) + alpha log(|L_v| / (|Ch(v)| |L_c|)): how well the instance fits, and how much smaller c is
    than its siblings on the average. The second part is alpha log(|L_v| / |Ch(v)|) / |L_c| with ``PRINTED``, and with
    ``BINARY_LOG`` -alpha log2 |L_c|, as what all siblings share decides nothing.
    """
    nodes, alpha = tree.nodes, settings.alpha
    make_inverses(tree.rows, pending, v, scratch, settings)
    settle(tree.rows, pending, v, pending.counters[UPDATES_USED], scratch, settings)
    scores = score_block(tree, v, ids, values, scratch)
    share = log(np.float64(nodes[v].n_leaves)) - log(np.float64(nodes[v].degree))
    best, best_score = np.int64(NONE), -np.inf
    child = np.int64(nodes[v].first_child)
    while child != NONE:
        size = np.float64(nodes[child].n_leaves)
        if balance == RATIO:
            smaller = share - log(size)
        elif balance == PRINTED:
            smaller = share / size
        else:
            smaller = -log(size) / LOG_2
        score = (1.0 - alpha) * np.float64(sigmoid(scores[nodes[child].column])) + alpha * smaller
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
