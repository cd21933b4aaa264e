"""2-means trees: against a dense twin, balanced, the same on any number of threads."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.counter_random import random_below, stream_key
from xmlc.csr import kernel_csr
from xmlc.errors import XmlcError
from xmlc.trees import kmeans
from xmlc.trees._kmeans import bisect_segments
from xmlc.trees.kmeans import kmeans_tree, label_representations


def random_data(n, d, m, seed):
    """Sparse instances and label sets; some instances and some labels have nothing."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.3, rng=rng, dtype=np.float32, format="csr")
    return X, sparse.csr_array(rng.random((n, m)) < 0.15)


def clustered_labels(m, n_clusters, d, seed):
    """Unit representations around cluster centres, and the cluster of each label, as many labels in each."""
    rng = np.random.default_rng(seed)
    clusters = rng.permutation(m) % n_clusters
    centres = rng.random((n_clusters, d)) * (rng.random((n_clusters, d)) < 0.2)
    rows = centres[clusters] + 0.02 * rng.random((m, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return sparse.csr_array(rows.astype(np.float32)), clusters


def twin_bisection(rows, key):
    """The two halves in plain NumPy on dense rows, and the mean cosine of each round."""
    n = len(rows)
    first, second = random_below(key, 0, n), random_below(key, 1, n - 1)
    halves = [[first], [second + (second >= first)]]
    means = [-np.inf]
    while len(means) <= 50:
        sums = [np.add.accumulate(rows[half])[-1] for half in halves]  # float32, one member after the other
        products = np.array([np.add.accumulate(rows * np.float64(total), axis=1)[:, -1] for total in sums])
        squares = [np.add.accumulate(products[side][halves[side]])[-1] for side in (0, 1)]
        cosines = np.array([p / np.sqrt(q) if q > 0 else p for p, q in zip(products, squares)])
        ranking = sorted(range(n), key=lambda i: (cosines[1, i] - cosines[0, i], i))
        halves = [sorted(ranking[: (n + 1) // 2]), sorted(ranking[(n + 1) // 2 :])]
        means.append(sum(cosines[side][halves[side]].sum() for side in (0, 1)) / n)
        if means[-1] - means[-2] < 1e-4:
            break
    return halves, means


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 30), st.integers(0, 99))
def test_bisection_equals_the_twin(m, d, seed):
    X, Y = random_data(30, d, m, seed)
    representations = label_representations(X, Y)
    key = np.uint64(stream_key(np.int64(seed), np.int64(5)))
    order = np.arange(m)
    one = np.array([0]), np.array([m]), np.array([3])
    bisect_segments(kernel_csr(representations), d, order, *one, key)
    halves, means = twin_bisection(representations.toarray(), np.uint64(stream_key(key, np.int64(3))))
    assert order.tolist() == halves[0] + halves[1]
    # Each step of balanced 2-means is the best one given the other, so no round makes it worse.
    assert all(after >= before - 1e-6 for before, after in pairwise(means))


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 25), st.integers(1, 12), st.integers(1, 20), st.integers(0, 99))
def test_representations_are_unit_sums_of_unit_instances(n, d, m, seed):
    X, Y = random_data(n, d, m, seed)
    X.data *= 7
    lengths = np.linalg.norm(X.toarray().astype(np.float64), axis=1, keepdims=True)
    sums = Y.toarray().T.astype(np.float64) @ (X.toarray() / np.where(lengths > 0, lengths, 1))
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    result = label_representations(X, Y)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.toarray(), sums / np.where(lengths > 0, lengths, 1), atol=1e-6)
    assert (np.diff(result.indptr) > 0).tolist() == (lengths[:, 0] > 0).tolist()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 150), st.sampled_from([2, 4, 8, 16]), st.integers(1, 12), st.integers(0, 20))
def test_tree_is_balanced(m, arity, max_leaf, seed):
    X, Y = random_data(40, 12, m, seed)
    tree = kmeans_tree(label_representations(X, Y), arity, max_leaf, seed)
    assert tree.n_labels == m
    sizes = (tree.label >= 0).astype(int)  # labels below each node
    for node in range(tree.n_nodes - 1, 0, -1):
        sizes[tree.parent[node]] += sizes[node]
    assert sizes[0] == m
    for node in range(tree.n_nodes):
        below = sizes[tree.children[node] : tree.children[node + 1]]
        if sizes[node] == 1:
            assert below.size == 0
        elif sizes[node] <= max_leaf:
            assert below.tolist() == [1] * sizes[node]
        else:
            # log2(arity) times every part of at least two is cut into halves, the first with the odd one.
            parts = [sizes[node]]
            for _ in range(arity.bit_length() - 1):
                parts = [half for part in parts for half in ((part + 1) // 2, part // 2) if half]
            assert below.tolist() == parts


@pytest.mark.parametrize("arity", [2, 8])
def test_tree_does_not_depend_on_the_number_of_threads(arity, monkeypatch):
    representations = label_representations(*random_data(300, 50, 500, seed=1))
    monkeypatch.setattr(kmeans, "NONZEROS_PER_PIECE", 256)  # many pieces even here
    trees = [kmeans_tree(representations, arity, 5, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2, 5)]
    monkeypatch.undo()
    trees.append(kmeans_tree(representations, arity, 5, seed=3, n_jobs=1))  # pieces do not matter either
    assert all(tree.label.tobytes() == trees[0].label.tobytes() for tree in trees)
    assert kmeans_tree(representations, arity, 5, seed=4).label.tolist() != trees[0].label.tolist()


def test_clusters_are_found():
    representations, clusters = clustered_labels(200, 2, 60, seed=0)
    tree = kmeans_tree(representations, 2, 100, seed=0)
    halves = [tree.label[tree.children[node] : tree.children[node + 1]] for node in (1, 2)]
    assert [len(set(clusters[half])) for half in halves] == [1, 1]


def test_arity_flattens_the_levels_of_the_binary_tree():
    representations = label_representations(*random_data(200, 40, 256, seed=2))
    binary, flat = (kmeans_tree(representations, arity, 1, seed=0) for arity in (2, 4))
    assert binary.depth.max() == 8
    assert flat.depth.max() == 4
    leaves = [tree.label[tree.label >= 0].tolist() for tree in (binary, flat)]
    assert leaves[0] == leaves[1]


def test_labels_without_instances_keep_their_order():
    tree = kmeans_tree(sparse.csr_array((40, 3), dtype=np.float32), 2, 5, seed=0)
    assert tree.label[tree.label >= 0].tolist() == list(range(40))


@pytest.mark.parametrize(
    ("m", "arity", "max_leaf", "message"),
    [(5, 6, 2, "power of two"), (5, 1, 2, "power of two"), (5, 2, 0, "max_leaf=0"), (0, 2, 1, "at least one label")],
)
def test_arguments_are_checked(m, arity, max_leaf, message):
    with pytest.raises(XmlcError, match=message):
        kmeans_tree(sparse.csr_array((m, 3), dtype=np.float32), arity, max_leaf, seed=0)


def test_instances_and_label_sets_must_match():
    with pytest.raises(XmlcError, match="4 instances but Y has 5"):
        label_representations(np.ones((4, 2)), np.ones((5, 3), dtype=bool))
