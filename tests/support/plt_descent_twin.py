"""Compute estimates and searches of a label tree in plain code.

The kernels that descend level by level must return equal results. None of this is the code under
test. Only a multiply-add, two functions of one number and a hash function come from the package.
"""

import numpy as np
from numba import njit
from plt_cases import weights_of

from xmlc.kernels.counter_random import mix64
from xmlc.kernels.float32 import exp_of_negative, fma, sigmoid


@njit
def linear_scores(ids, values, weights, bias):
    """Return the linear scores of all nodes for one instance, exact to the bit.

    Weights have the shape (nodes, features).
    """
    scores = bias.copy()
    for k in range(ids.size):
        for node in range(bias.size):
            scores[node] = fma(values[k], weights[node, ids[k]], scores[node])
    return scores


@njit
def hashed_scores(ids, values, table, scale, bias, seed):
    """Return the scores of all nodes from hashed weights."""
    scores = bias.copy()
    for node in range(bias.size):
        key = mix64(np.uint64(seed) ^ mix64(np.uint64(node) + np.uint64(1)))
        for k in range(ids.size):
            bits = mix64(key + np.uint64(ids[k]))
            sign = np.float32(1) if bits >> np.uint64(63) else np.float32(-1)
            scores[node] += (sign * values[k]) * table[bits & np.uint64(table.size - 1)]
        scores[node] *= np.float32(1 / scale[node])
    return scores


@njit
def estimates_of(scores, link):
    """Return estimates from linear scores.

    Link 0 is for the logistic loss. With link p > 0, an estimate is exp(-h^p) for the hinge loss h.
    """
    estimates = np.empty_like(scores)
    for node in range(scores.size):
        gap = max(np.float32(1) - scores[node], np.float32(0))
        power = gap
        for _ in range(1, link):
            power *= gap
        estimates[node] = exp_of_negative(-power) if link > 0 else sigmoid(scores[node])
    return estimates


def given_parents(x, nodes, link):
    """Return the estimates of all nodes, given that their parents are positive, shape (instances,
    nodes).
    """
    rows = [slice(*x.indptr[i : i + 2]) for i in range(x.indptr.size - 1)]
    if hasattr(nodes, "table"):
        weights = nodes.table, nodes.scale, nodes.bias, nodes.seed
        return np.array(
            [estimates_of(hashed_scores(x.indices[row], x.data[row], *weights), 0) for row in rows]
        )
    weights = np.zeros(
        (nodes.label.size, max(nodes.features.max(initial=0), x.indices.max(initial=0)) + 1),
        np.float32,
    )
    for (block, feature, sibling), weight in weights_of(nodes).items():
        weights[(nodes.children[block - 1] if block else 0) + sibling, feature] = weight
    return np.array(
        [
            estimates_of(linear_scores(x.indices[row], x.data[row], weights, nodes.bias), link)
            for row in rows
        ]
    )


def all_estimates(x, nodes, link):
    """Return the estimates of all nodes, shape (instances, nodes).

    Each is the product along the node's path, in float32.
    """
    estimates = given_parents(x, nodes, link)
    for node in np.flatnonzero(nodes.label < 0):
        estimates[:, nodes.children[node] : nodes.children[node + 1]] *= estimates[:, [node]]
    return estimates


def labels_above(nodes, estimates, thresholds):
    """Return the labels whose estimates exceed thresholds, their estimates, and the number of
    classifiers evaluated.
    """
    reached = np.flatnonzero(estimates > thresholds)
    leaves = reached[nodes.label[reached] >= 0]
    return nodes.label[leaves], estimates[leaves], 1 + np.diff(nodes.children)[reached].sum()


def weighted(nodes, estimates, largest):
    """Return the scores that rank nodes.

    The estimate of a leaf is multiplied by its weight, and of an inner node by a power of two.
    Without weights, the scores are the estimates.
    """
    if largest.size == 0:
        return estimates
    scales = np.where(nodes.label >= 0, largest, 2.0 ** np.ceil(np.log2(largest)))
    return (estimates * scales).astype(np.float32)


def best_labels(nodes, estimates, k):
    """Return the k best labels, their estimates, and the number of classifiers that a best-first
    search evaluates.

    Estimates may be weighted.
    """
    order = np.lexsort((np.arange(estimates.size), -estimates))
    order = order[~np.isnan(estimates[order])]
    places = np.flatnonzero(nodes.label[order] >= 0)[:k]
    opened = order[: places[-1]] if places.size == k else order
    labels = np.full(k, -1)
    values = np.zeros(k, dtype=np.float32)
    labels[: places.size] = nodes.label[order[places]]
    values[: places.size] = estimates[order[places]]
    return labels, values, 1 + np.diff(nodes.children)[opened].sum()


def best_of_beam(nodes, estimates, k, beam):
    """Return labels and estimates that a beam search finds, best first, and the largest estimate
    left out, or -1.
    """

    def best(found):
        return sorted(found, key=lambda node: (-estimates[node], node))

    level = [0]
    leaves = []
    missed = -1.0
    while level:
        level = [node for node in level if not np.isnan(estimates[node])]
        leaves = best([*leaves, *(node for node in level if nodes.label[node] >= 0)])[:k]
        inner = best([node for node in level if nodes.label[node] < 0])
        missed = max([missed, *estimates[inner[beam:]]])
        level = []
        for node in inner[:beam]:
            level += range(*nodes.children[node : node + 2])
    return nodes.label[leaves], estimates[leaves], missed
