"""2-means trees: equal to dense implementations, balanced, bit-identical on any number of
threads.
"""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from small_data import random_data

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_below, stream_key
from xmlc.models.trees import kmeans
from xmlc.models.trees.kmeans import halve, kmeans_tree
from xmlc.models.trees.representations import label_representations


def twin_bisection(rows, key):
    """Return the side of each row by plain NumPy with dense float64 sums."""
    rows = rows.astype(np.float64)
    n = len(rows)
    first = random_below(key, 0, n)
    second = random_below(key, 1, n - 1)
    halves = [[first], [second + (second >= first)]]
    last = -np.inf
    for _ in range(50):
        sums = np.array([rows[half].sum(axis=0) for half in halves])
        lengths = np.linalg.norm(sums, axis=1)
        lengths[lengths <= 1e-3] = np.inf
        cosines = rows @ (sums.T / lengths)
        differences = np.rint((cosines[:, 1] - cosines[:, 0]) * 2**20)
        sides = np.ones(n, dtype=int)
        sides[np.argsort(differences, kind="stable")[: (n + 1) // 2]] = 0
        halves = [np.flatnonzero(sides == side) for side in (0, 1)]
        mean = cosines[np.arange(n), sides].mean()
        if mean - last < 1e-4:
            break
        last = mean
    return sides


def test_sum_that_cancels_out_has_similarity_0():
    # Side 0 has two opposite rows. Their sum is only rounding error, which must not count as a
    # direction.
    products = np.array([[3e-8, 0.1], [-2e-8, -0.1], [1e-8, 1.0]])
    halves = np.empty(3, dtype=np.int8)
    mean = halve(products, np.array([0, 0, 1], dtype=np.int8), halves)
    assert halves.tolist() == [0, 0, 1]
    assert mean == pytest.approx(1 / 3)


@pytest.mark.parametrize("side", [0, 1])
def test_ties_go_to_smaller_member(side):
    products = np.full((5, 2), 0.5)
    halves = np.empty(5, dtype=np.int8)
    halve(products, np.array([side, 1 - side, -1, -1, -1], dtype=np.int8), halves)
    assert halves.tolist() == [0, 0, 0, 1, 1]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 150), st.sampled_from([2, 4, 8, 16]), st.integers(1, 12), st.integers(0, 20))
def test_kmeans_tree_is_balanced(m, arity, max_leaf, seed):
    X, Y = random_data(40, 12, m, seed)
    tree = kmeans_tree(label_representations(X, Y), arity, max_leaf, seed)
    sizes = (tree.label >= 0).astype(int)  # labels below each node
    for node in range(tree.n_nodes - 1, 0, -1):
        sizes[tree.parent[node]] += sizes[node]
    assert sizes[0] == m == tree.n_labels
    for node, size in enumerate(sizes):
        if size == 1:
            expected = []
        elif size <= max_leaf:
            expected = [1] * size
        else:
            # Each part of at least two is halved log2(arity) times. The first half has the odd
            # label.
            expected = [size]
            for _ in range(arity.bit_length() - 1):
                halves = np.array([((part + 1) // 2, part // 2) for part in expected])
                expected = halves[halves > 0]
        below = sizes[tree.children[node] : tree.children[node + 1]]
        assert below.tolist() == list(expected)


@pytest.mark.parametrize(("arity", "limits"), [(16, [400, 6400]), (4, [200, 800]), (2, [141, 282])])
def test_default_depth_gives_leaves_nearest_to_100_labels(arity, limits):
    for depth, limit in enumerate(limits):
        for m, expected in ((limit, depth), (limit + 1, depth + 1)):
            tree = kmeans_tree(sparse.csr_array((m, 3), dtype=np.float32), arity, None, seed=0)
            # all children of the last inner node are labels
            assert tree.depth.max() - 1 == expected
            assert expected == np.argmin([abs(np.log(m / arity**d / 100)) for d in range(9)])


@pytest.mark.parametrize("arity", [2, 8])
def test_kmeans_tree_does_not_depend_on_number_of_threads(arity, monkeypatch):
    representations = label_representations(*random_data(300, 50, 500, seed=1))
    whole = kmeans_tree(representations, arity, 5, seed=3, n_jobs=1).label.tolist()
    assert kmeans_tree(representations, arity, 5, seed=4).label.tolist() != whole
    # The work is divided into many tasks, despite few non-zeros.
    monkeypatch.setattr(kmeans, "MIN_NONZEROS_TO_SPLIT", 256)
    for n_jobs in (1, 2, 5):
        tree = kmeans_tree(representations, arity, 5, seed=3, n_jobs=n_jobs)
        assert tree.label.tolist() == whole


@settings(deadline=None, max_examples=40)
@given(
    m=st.integers(1, 90),
    d=st.integers(1, 30),
    arity=st.sampled_from([2, 8]),
    max_leaf=st.integers(1, 20),
    seed=st.integers(0, 99),
)
def test_kmeans_tree_equals_bisections_by_plain_implementation(m, d, arity, max_leaf, seed):
    representations = label_representations(*random_data(100, d, m, seed))
    rows = representations.toarray()
    key = np.uint64(stream_key(np.int64(seed), np.int64(Stream.KMEANS)))

    def below(labels, number, left):
        if left == 0 and labels.size > max_leaf:
            left = arity.bit_length() - 1
        if labels.size < 2 or left == 0:
            return labels.tolist()
        sides = twin_bisection(rows[labels], np.uint64(stream_key(key, np.int64(number))))
        first = below(labels[sides == 0], 2 * number, left - 1)
        return first + below(labels[sides == 1], 2 * number + 1, left - 1)

    tree = kmeans_tree(representations, arity, max_leaf, seed)
    assert leaves_in_order(tree) == below(np.arange(m), 1, 0)


def leaves_in_order(tree, node=0):
    """Return the labels below a node in depth-first order."""
    if tree.label[node] >= 0:
        return [int(tree.label[node])]
    found = []
    for child in range(tree.children[node], tree.children[node + 1]):
        found += leaves_in_order(tree, child)
    return found


def test_labels_without_instances_keep_their_order():
    tree = kmeans_tree(sparse.csr_array((40, 3), dtype=np.float32), 2, 5, seed=0)
    assert tree.label[tree.label >= 0].tolist() == list(range(40))


@pytest.mark.parametrize(
    ("m", "arity", "max_leaf", "message"),
    [(5, 6, 2, "arity=6"), (5, 1, 2, "arity=1"), (5, 2, 0, "max_leaf=0"), (0, 2, 1, "label")],
)
def test_kmeans_tree_refuses_invalid_arguments(m, arity, max_leaf, message):
    with raises_with(XmlcError, message):
        kmeans_tree(sparse.csr_array((m, 3), dtype=np.float32), arity, max_leaf, seed=0)
