"""Train a PLT in plain, slow Python. The kernels of xmlc.models.plt must train equal models."""

import numpy as np


def ancestors(tree, node):
    """Return the path from a node to the root."""
    path = []
    while node >= 0:
        path.append(node)
        node = tree.parent[node]
    return path


def positive_nodes(tree, labels):
    """Return the nodes with z_t = 1 for a label set."""
    found = set()
    for label in labels:
        found.update(ancestors(tree, tree.leaf[label]))
    return found


def train(tree, X, label_sets, order, gamma, lam, epochs):
    """Train by Algorithm 3 with the two-phase step of Appendix B, dense and in double precision.

    X has the constant feature 1 appended as its last column.
    """
    weights = np.zeros((tree.n_nodes, X.shape[1]))
    positives = [positive_nodes(tree, labels) for labels in label_sets]
    for node in range(tree.n_nodes):
        parent = tree.parent[node]
        t = 0
        for _ in range(epochs):
            for i in order:
                if parent >= 0 and parent not in positives[i]:
                    continue
                gamma_t = gamma / (1 + lam * gamma * t)
                estimate = 1 / (1 + np.exp(-weights[node] @ X[i]))
                gradient = (estimate - (node in positives[i])) * X[i]
                weights[node] = (weights[node] - gamma_t * gradient) / (1 + lam * gamma_t)
                t += 1
    return weights


def estimates(tree, weights, x):
    """Return Equation (9) for every label by brute force, with node estimates multiplied from the
    root down.
    """
    node_estimates = 1 / (1 + np.exp(-(weights @ x)))
    return np.array([np.prod(node_estimates[ancestors(tree, leaf)[::-1]]) for leaf in tree.leaf])
