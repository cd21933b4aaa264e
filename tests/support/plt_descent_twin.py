"""Slow, obvious searches in a label tree: what the kernels that descend level by level must equal."""

import numpy as np
from numba import njit

from xmlc.models.plt.weights import child_estimates, children_of, empty_scratch

MOST_FEATURES = 1000


@njit
def block_estimates(x, row, nodes, node, link):
    """Estimates of the children of one node for one instance, to the bit."""
    estimates, shape = np.empty(children_of(nodes, node)[1], dtype=np.float32), (MOST_FEATURES, x.data.size, 1)
    child_estimates(x, np.array([row], dtype=np.int32), node, nodes, link, empty_scratch(shape, 0, 0), estimates)
    return estimates


def all_estimates(x, row, nodes, link):
    """Estimates of all nodes for one instance: products along the paths, in float32."""
    estimates = np.ones(nodes.label.size, dtype=np.float32)
    for node in [-1, *np.flatnonzero(nodes.label < 0)]:
        first, degree = children_of(nodes, node)
        above = estimates[node] if node >= 0 else np.float32(1)
        estimates[first : first + degree] = above * block_estimates(x, row, nodes, node, link)
    return estimates


def labels_above(nodes, estimates, thresholds):
    """The labels above thresholds of nodes, their estimates, and how many classifiers were evaluated."""
    reached = np.flatnonzero(estimates > thresholds)
    leaves = reached[nodes.label[reached] >= 0]
    return nodes.label[leaves], estimates[leaves], 1 + np.diff(nodes.children)[reached].sum()


def best_labels(nodes, estimates, k):
    """The k best labels, their estimates, and how many classifiers a best-first search evaluates."""
    order = np.lexsort((np.arange(estimates.size), -estimates))
    places = np.flatnonzero(nodes.label[order] >= 0)[:k]
    opened = order[: places[-1]] if places.size == k else order
    labels, values = np.full(k, -1), np.zeros(k, dtype=np.float32)
    labels[: places.size], values[: places.size] = nodes.label[order[places]], estimates[order[places]]
    return labels, values, 1 + np.diff(nodes.children)[opened].sum()


def node_estimate(nodes, node, features, squared_hinge=False):
    """Estimate of one node for one instance given as {feature: value}, from dense blocks."""
    parent = int(np.searchsorted(nodes.children, node, side="right")) - 1 if node else -1
    block, first = parent + 1, int(nodes.children[parent]) if node else 0
    degree = int(nodes.children[parent + 1]) - first if node else 1
    start, end = nodes.feature_starts[block : block + 2]
    weights = nodes.weights[nodes.weight_starts[block] :][: (end - start) * degree].reshape(end - start, degree)
    score = float(nodes.bias[node])
    for row, feature in enumerate(nodes.features[start:end]):
        score += features.get(int(feature), 0.0) * float(weights[row, node - first])
    return np.exp(-(max(0.0, 1 - score) ** 2)) if squared_hinge else 1 / (1 + np.exp(-score))


def beam_search(nodes, features, k, beam, squared_hinge=False):
    """Labels of one instance and their estimates, best first."""
    return search_and_missed(nodes, features, k, beam, squared_hinge)[:2]


def search_and_missed(nodes, features, k, beam, squared_hinge=False):
    """The same, and the largest estimate of an inner node that is not expanded, -1 if all are.

    Each level is a list, sorted by (estimate, smaller node).
    """

    def best(candidates, size):
        return sorted(candidates, key=lambda pair: (-pair[0], pair[1]))[:size]

    level, leaves, missed = [(node_estimate(nodes, 0, features, squared_hinge), 0)], [], -1.0
    while level:
        leaves = best(leaves + [pair for pair in level if nodes.label[pair[1]] >= 0], k)
        every_inner = best([pair for pair in level if nodes.label[pair[1]] < 0], len(level))
        inner = every_inner[:beam]
        missed = max([missed] + [estimate for estimate, _ in every_inner[beam:]])
        level = [
            (estimate * node_estimate(nodes, child, features, squared_hinge), child)
            for estimate, node in inner
            for child in range(nodes.children[node], nodes.children[node + 1])
        ]
    return [int(nodes.label[node]) for _, node in leaves], [estimate for estimate, _ in leaves], missed
