"""2-means trees: equal to dense implementations, balanced, bit-identical on any number of
threads.
"""

from itertools import chain

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from oplt_cases import shape
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
    sides = np.full(n, -1)
    sides[first] = 0
    sides[second + (second >= first)] = 1
    last = -np.inf
    for _ in range(50):
        sums = np.array([rows[sides == side].sum(axis=0) for side in (0, 1)])
        lengths = np.linalg.norm(sums, axis=1)
        lengths[lengths <= 1e-3] = np.inf
        cosines = rows @ (sums.T / lengths)
        differences = np.rint((cosines[:, 1] - cosines[:, 0]) * 2**20)
        sides = np.ones(n, dtype=int)
        sides[np.argsort(differences, kind="stable")[: (n + 1) // 2]] = 0
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


@settings(max_examples=60)
@given(
    m=st.integers(1, 150),
    d=st.integers(1, 30),
    arity=st.sampled_from([2, 4, 8, 16]),
    max_leaf=st.integers(1, 20),
    seed=st.integers(0, 99),
)
def test_kmeans_tree_equals_bisections_by_plain_implementation(m, d, arity, max_leaf, seed):
    """A node with more than max_leaf labels is halved log2(arity) times, the others have a leaf for
    each label.
    """
    representations = label_representations(*random_data(100, d, m, seed))
    rows = representations.toarray()
    key = np.uint64(stream_key(np.int64(seed), np.int64(Stream.KMEANS)))

    def halves(labels, number):
        if labels.size < 2:
            return [(labels, number)]
        sides = twin_bisection(rows[labels], np.uint64(stream_key(key, np.int64(number))))
        return [(labels[sides == 0], 2 * number), (labels[sides == 1], 2 * number + 1)]

    def node(labels, number):
        if labels.size == 1:
            return labels[0]
        if labels.size <= max_leaf:
            return tuple(labels)
        parts = [(labels, number)]
        for _ in range(arity.bit_length() - 1):
            parts = list(chain.from_iterable(halves(*part) for part in parts))
        return tuple(node(*part) for part in parts)

    tree = kmeans_tree(representations, arity, max_leaf, seed)
    assert shape(tree) == node(np.arange(m), 1)
    assert tree.n_labels == m


@pytest.mark.parametrize(
    ("m", "arity", "max_leaf", "message"),
    [(5, 6, 2, "arity=6"), (5, 1, 2, "arity=1"), (5, 2, 0, "max_leaf=0"), (0, 2, 1, "label")],
)
def test_kmeans_tree_refuses_invalid_arguments(m, arity, max_leaf, message):
    with raises_with(XmlcError, message):
        kmeans_tree(sparse.csr_array((m, 3), dtype=np.float32), arity, max_leaf, seed=0)
