"""Make weights of small PLTs, in the forms that the kernels accept."""

import numpy as np
from hypothesis import strategies as st

from xmlc.core.appendable import Appendable
from xmlc.models.plt.compact import DenseBlocks, append_rows, sibling_type, starts_of
from xmlc.models.plt.weights import CompactNodeWeights, HashedWeights, NodeWeights
from xmlc.models.trees import random_complete_tree

# Number of labels, children of a node, and seed of small label trees.
TREES = {"m": st.integers(1, 40), "arity": st.integers(2, 9), "seed": st.integers(0, 99)}


def random_nodes(m, arity, d, seed):
    """Return a tree and dense blocks of random weights.

    Some weights are zero, and some blocks are empty.
    """
    rng = np.random.default_rng(seed)
    tree = random_complete_tree(m, arity, seed)
    degrees = np.concatenate(([1], np.diff(tree.children)))
    chosen = [
        np.flatnonzero(rng.random(d) < rng.random() * (degree > 0)).astype(np.uint32)
        for degree in degrees
    ]
    sizes = np.array([features.size for features in chosen])
    weight_starts = np.concatenate(([0], np.cumsum(sizes * degrees)))
    weights = rng.normal(size=weight_starts[-1]).astype(np.float32)
    weights[rng.random(weights.size) < 0.4] = 0
    bias = rng.normal(size=tree.n_nodes).astype(np.float32)
    feature_starts = np.concatenate(([0], np.cumsum(sizes)))
    return tree, NodeWeights(
        tree.children,
        tree.label,
        feature_starts,
        np.concatenate(chosen),
        weight_starts,
        weights,
        bias,
    )


def drop_small(nodes, cut, n_jobs=None):
    """Return dense nodes without weights of absolute value up to ``cut``, as after training with
    this threshold.
    """
    degrees = np.concatenate(([1], np.diff(nodes.children)))
    appendable = Appendable()
    counts = append_rows(
        appendable, DenseBlocks(*nodes[2:6]), degrees, cut, sibling_type(degrees), n_jobs
    )
    feature_starts, entry_starts = (
        starts_of(np.concatenate(part)) for part in zip(*counts, strict=True)
    )
    starts = {"feature_starts": feature_starts, "entry_starts": entry_starts}
    return CompactNodeWeights(
        nodes.children, nodes.label, bias=nodes.bias, **starts, **appendable.finished()
    )


def nbytes(nodes):
    """Return the bytes of weights in dense or compact form, without the arrays that both forms
    have.
    """
    both = ("children", "label", "bias", "feature_starts", "weight_starts", "entry_starts")
    return sum(array.nbytes for name, array in nodes._asdict().items() if name not in both)


def hashed_nodes(tree, seed):
    """Return hashed weights in a table of 16 numbers, with biases."""
    rng = np.random.default_rng(seed)
    n = tree.n_nodes
    table = rng.normal(size=16).astype(np.float32)
    bias = rng.normal(size=n).astype(np.float32)
    return HashedWeights(tree.children, tree.label, table, 1 + rng.random(n), bias, np.uint64(seed))


def every_store(tree, nodes, seed):
    """Return the dense nodes, the same nodes in compact form without zeros, and random hashed
    nodes.
    """
    return nodes, drop_small(nodes, 0.0), hashed_nodes(tree, seed)


def weights_of(nodes):
    """Return dense or compact weights as {(block, feature, sibling): weight}."""
    found = {}
    for block in range(nodes.feature_starts.size - 1):
        start, end = nodes.feature_starts[block : block + 2]
        degree = 1 if block == 0 else int(np.diff(nodes.children)[block - 1])
        for row, feature in enumerate(nodes.features[start:end]):
            if isinstance(nodes, CompactNodeWeights):
                at = start + block + row
                entries = nodes.entry_starts[block] + nodes.row_starts[at : at + 2].astype(np.int64)
                siblings, values = (
                    array[slice(*entries)] for array in (nodes.siblings, nodes.weights)
                )
            else:
                at = nodes.weight_starts[block] + row * degree
                siblings = np.arange(degree)
                values = nodes.weights[at : at + degree]
            found |= {(block, int(feature), int(c)): value for c, value in zip(siblings, values)}
    return found
