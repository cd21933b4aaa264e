"""Compute LdSM step by step in plain, slow Python."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np


def objective(P, P_i, pi, lambda_1, lambda_2):
    """Return J by Equation (1), for P of shape (M,), P_i of shape (M, K) and pi of shape (K,)."""
    pairs = list(combinations(range(len(P)), 2))
    balance = sum(abs(P[j] - P[other]) for j, other in pairs)
    integrity = sum(
        pi[i] * abs(P_i[j][i] - P_i[other][i]) for i, (j, other) in product(range(len(pi)), pairs)
    )
    return balance - lambda_1 * integrity + lambda_2 * abs(sum(P) - 1)


def probabilities(sums, seen):
    """Return P, P_i and pi from sums of predictions by direction and label, and counts of seen
    labels.
    """
    n_seen = max(1, sum(seen))
    P_i = []
    for row in sums:
        P_i.append([own / max(1, times) for own, times in zip(row, seen)])
    return [sum(row) / n_seen for row in sums], P_i, [times / n_seen for times in seen]


def objectives_of_directions(sums, seen, labels, lambda_1, lambda_2):
    """Return J for each s = 1 .. 2**M - 1 by Algorithm 3.

    The counts ``seen`` include the instance, but ``sums`` do not.
    """
    arity = len(sums)
    result = {}
    for s in range(1, 1 << arity):
        after = [list(row) for row in sums]
        for j in range(arity):
            for label in labels:
                after[j][label] += s >> j & 1
        result[s] = objective(*probabilities(after, seen), lambda_1, lambda_2)
    return result


def train(X, label_sets, n_labels, arity, epochs, rate, lambda_1, lambda_2, adaptive, start=0.0):
    """Train by Algorithm 2 from given weights.

    In ties, the first s is chosen. X is dense and scaled, and its last column is constant. Return
    weights (M, d), J after each epoch, and the directions of each instance in the last epoch.
    """
    weights = np.zeros((arity, X.shape[1])) + start
    squares = np.zeros((arity, X.shape[1]))
    sums = [[0.0] * n_labels for _ in range(arity)]
    seen = [0] * n_labels
    norm = 0.0
    step = 0
    history = []
    for _ in range(epochs):
        given = []
        for x, labels in zip(X, label_sets):
            step += 1
            for label in labels:
                seen[label] += 1
            values = objectives_of_directions(sums, seen, labels, lambda_1, lambda_2)
            best = min(values.values())
            chosen = next(s for s, value in values.items() if value < best + 1e-9)
            given.append(chosen)
            norm += float(x @ x)
            for j in range(arity):
                gradient = (1 / (1 + math.exp(-weights[j] @ x)) - (chosen >> j & 1)) * x
                if adaptive:
                    squares[j] += gradient**2
                    used = squares[j] > 0
                    weights[j][used] -= (
                        rate * math.sqrt(step / norm) * gradient[used] / np.sqrt(squares[j][used])
                    )
                else:
                    weights[j] -= rate * gradient
                prediction = min(max(float(weights[j] @ x), 0.0), 1.0)
                for label in labels:
                    sums[j][label] += prediction
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
        if (node := todo.pop()) < 0:
            leaves.append(~node)
            continue
        own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
        margins = forest.biases[node] + x[forest.features[own]] @ forest.weights[own]
        n_products += len(margins)
        todo += [int(forest.children[node, j]) for j in directions(margins)]
    return leaves, n_products


def estimates_of(forest, x, per_label=True):
    """Return the share of each label, and the number of inner products.

    Shares are fractions, averaged over the leaves of each tree, and then over trees.
    """
    n_trees = len(forest.inner_starts) - 1
    shares = {}
    passed = 0
    for tree in range(n_trees):
        leaves, n_products = leaves_of(forest, tree, x)
        passed += n_products
        for leaf in leaves:
            own = slice(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1])
            total = int(forest.counts[own].sum() if per_label else forest.sizes[leaf])
            for label, count in zip(forest.labels[own].tolist(), forest.counts[own].tolist()):
                share = Fraction(count, total) / len(leaves) / n_trees
                shares[label] = shares.get(label, Fraction(0)) + share
    return shares, passed


def predict(forest, x):
    """Sum the leaves' histograms in fractions (Algorithm 5 for each tree).

    Return the sum of each label and the number of leaves.
    """
    hist = {}
    n_leaves = 0
    for tree in range(len(forest.inner_starts) - 1):
        for leaf in leaves_of(forest, tree, x)[0]:
            own = slice(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1])
            total = int(forest.counts[own].sum())
            n_leaves = n_leaves + 1
            for label, count in zip(forest.labels[own].tolist(), forest.counts[own].tolist()):
                hist[label] = hist.get(label, Fraction(0)) + Fraction(count, total)
    return hist, n_leaves
