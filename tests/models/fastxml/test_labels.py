"""The labels of a node, numbered anew, and those that a leaf keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.fastxml._labels import count_labels, number_labels


def test_labels_of_a_node_and_of_a_leaf():
    Y = sparse.csr_array(np.array([[0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 1]], dtype=bool))
    y, scratch = kernel_csr(Y), np.zeros(4, dtype=np.uint32)
    starts, labels, found = number_labels(y, np.array([3, 1, 0], dtype=np.uint32), scratch)
    assert found.tolist() == [0, 1, 3]
    assert starts.tolist() == [0, 2, 2, 4]
    assert labels.tolist() == [0, 2, 1, 2]
    node, even = np.array([0, 2, 3], dtype=np.uint32), np.ones(4, dtype=np.float32)
    assert [part.tolist() for part in count_labels(y, node, even, scratch, 4)] == [[0, 1, 3], [1, 2, 2]]
    assert [part.tolist() for part in count_labels(y, node, even, scratch, 2)] == [[1, 3], [2, 2]]
    rare = np.array([9, 1, 1, 1.5], dtype=np.float32)
    assert [part.tolist() for part in count_labels(y, node, rare, scratch, 2)] == [[0, 3], [1, 2]]
    assert not scratch.any()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("most", [1, 7, 29, 30])
def test_a_leaf_keeps_the_labels_with_the_largest_counts(most, weighted):
    rng = np.random.default_rng(most)
    Y = sparse.csr_array(rng.random((12, 30)) < 0.4)
    weights = rng.choice([0.5, 1, 2], 30).astype(np.float32) if weighted else np.ones(30, dtype=np.float32)
    node, times = np.arange(12, dtype=np.uint32), Y.sum(axis=0)
    labels, counts = count_labels(kernel_csr(Y), node, weights, np.zeros(30, dtype=np.uint32), most)
    best = np.argsort(-weights * times, kind="stable")[:most]  # ties to the smaller label
    assert labels.tolist() == sorted(best)
    assert counts.tolist() == times[labels].tolist()
