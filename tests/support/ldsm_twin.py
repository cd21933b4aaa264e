"""Compute LdSM step by step in plain, slow Python."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations

import numpy as np


def objective(P, P_i, pi, lambda_1, lambda_2):
    """Return J by Equation (1), for P of shape (M,), P_i of shape (M, K) and pi of shape (K,)."""
    balance = 0.0
    integrity = 0.0
    for j, other in combinations(range(len(P)), 2):
        balance += abs(P[j] - P[other])
        integrity += pi @ abs(P_i[j] - P_i[other])
    return balance - lambda_1 * integrity + lambda_2 * abs(P.sum() - 1)


def probabilities(sums, seen):
    """Return P, P_i and pi from sums of predictions by direction and label, and counts of seen
    labels.
    """
    n_seen = max(1, seen.sum())
    return sums.sum(axis=1) / n_seen, sums / np.maximum(seen, 1), seen / n_seen


def objectives_of_directions(sums, seen, labels, lambda_1, lambda_2):
    """Return J for each s = 1 .. 2**M - 1 by Algorithm 3.

    The counts ``seen`` include the instance, but ``sums`` do not.
    """
    arity = len(sums)
    result = {}
    for s in range(1, 1 << arity):
        after = sums.copy()
        after[:, labels] += (s >> np.arange(arity) & 1)[:, None]
        result[s] = objective(*probabilities(after, seen), lambda_1, lambda_2)
    return result


def train(X, label_sets, n_labels, arity, epochs, rate, lambda_1, lambda_2, adaptive, start=0.0):
    """Train by Algorithm 2 from given weights.

    In ties, the first s is chosen. X is dense and scaled, and its last column is constant. Return
    weights (M, d), J after each epoch, and the directions of each instance in the last epoch.
    """
    weights = np.zeros((arity, X.shape[1])) + start
    squares = np.zeros_like(weights)
    sums = np.zeros((arity, n_labels))
    seen = np.zeros(n_labels, dtype=int)
    norm = 0.0
    step = 0
    history = []
    for _ in range(epochs):
        given = []
        for x, labels in zip(X, label_sets):
            step += 1
            seen[labels] += 1
            values = objectives_of_directions(sums, seen, labels, lambda_1, lambda_2)
            best = min(values.values())
            chosen = next(s for s, value in values.items() if value < best + 1e-9)
            given.append(chosen)
            norm += x @ x
            targets = chosen >> np.arange(arity) & 1
            gradients = np.outer(1 / (1 + np.exp(-weights @ x)) - targets, x)
            if adaptive:
                squares += gradients**2
                lengths = np.sqrt(np.where(squares > 0, squares, 1))
                weights -= rate * math.sqrt(step / norm) * gradients / lengths
            else:
                weights -= rate * gradients
            sums[:, labels] += np.clip(weights @ x, 0, 1)[:, None]
        history.append(objective(*probabilities(sums, seen), lambda_1, lambda_2))
    return weights, history, given


def directions(margins):
    """Return by Algorithm 4 all directions whose margin reaches 1/2.

    If there are none, return the direction with the largest margin.
    """
    return [j for j, margin in enumerate(margins) if margin >= 0.5] or [int(np.argmax(margins))]


def nodes_of_loop(max_nodes, arity, n_splits):
    """Return the number of nodes t after the loop of Algorithm 1, if at most ``n_splits`` nodes can
    be split.
    """
    t = 1
    while n_splits > 0 and t < max_nodes:
        t = t + arity
        n_splits = n_splits - 1
    return t


def leaves_of(forest, tree, x):
    """Return the leaves of a tree that x reaches by Algorithm 5, and the number of inner
    products.
    """
    first, last = forest.inner_starts[tree : tree + 2]
    todo = [int(first) if last > first else ~int(forest.tree_leaves[tree])]
    leaves = []
    n_products = 0
    while todo:
        node = todo.pop()
        if node < 0:
            leaves.append(~node)
            continue
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        margins = forest.biases[node] + x[forest.features[own]] @ forest.weights[own]
        n_products += len(margins)
        todo += forest.children[node, directions(margins)].tolist()
    return leaves, n_products


def shares_in(forest, leaf, per_label=True):
    """Yield each label of a leaf with its share, a fraction."""
    own = slice(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1])
    counts = forest.counts[own].tolist()
    total = sum(counts) if per_label else int(forest.sizes[leaf])
    for label, count in zip(forest.labels[own].tolist(), counts):
        yield label, Fraction(count, total)


def estimates_of(forest, x, per_label=True):
    """Return the share of each label, and the number of inner products.

    Shares are fractions, averaged over the leaves of each tree, and then over trees.
    """
    n_trees = len(forest.inner_starts) - 1
    shares = defaultdict(Fraction)
    passed = 0
    for tree in range(n_trees):
        leaves, n_products = leaves_of(forest, tree, x)
        passed += n_products
        for leaf in leaves:
            for label, share in shares_in(forest, leaf, per_label):
                shares[label] += share / len(leaves) / n_trees
    return shares, passed


def predict(forest, x):
    """Sum the leaves' histograms in fractions (Algorithm 5 for each tree).

    Return the sum of each label and the number of leaves.
    """
    hist = defaultdict(Fraction)
    n_leaves = 0
    for tree in range(len(forest.inner_starts) - 1):
        for leaf in leaves_of(forest, tree, x)[0]:
            n_leaves += 1
            for label, share in shares_in(forest, leaf):
                hist[label] += share
    return hist, n_leaves
