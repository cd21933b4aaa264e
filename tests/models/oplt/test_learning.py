"""Training on a stream: the nodes of an instance, and streams in several calls."""

from copy import copy

import numpy as np
import pytest
from oplt_cases import oplt, stream

from xmlc.models.oplt.learning import mark_positives
from xmlc.models.oplt.tree import ABOVE, MARK, NONE


def test_instance_reaches_nodes_above_its_labels():
    X, Y = stream(seed=9)
    tree = oplt("random", 3, 5).partial_fit(X, Y)._model
    reached = np.empty(tree.nodes.size, dtype=np.int32)
    for row in range(Y.shape[0]):
        labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].astype(np.uint32)
        expected = {ABOVE}
        for label in labels:
            node = tree.leaves[label]
            while node != NONE:
                expected.add(int(node))
                node = tree.nodes["parent"][node]
        found = reached[: mark_positives(tree, labels, reached)].tolist()
        assert sorted(found) == sorted(expected)
        for node in found:
            children = set()
            child = tree.nodes["head"][node]
            while child != NONE:
                children.add(int(child))
                child = tree.nodes["next_positive"][child]
            assert children == {
                other for other in expected - {ABOVE} if tree.nodes["parent"][other] == node
            }


def test_copy_of_model_does_not_change_when_model_learns():
    X, Y = stream(n=200, m=60, seed=7)
    model = oplt().partial_fit(X[:60], Y[:60])
    other = copy(model)
    expected = model.predict_proba(X).toarray()
    model.partial_fit(X, Y)
    np.testing.assert_array_equal(other.predict_proba(X).toarray(), expected)


@pytest.mark.parametrize("policy", ["random", "best_greedy"])
def test_streams_in_parts_and_progressive_streams_give_equal_arrays(policy):
    X, Y = stream(n=200, m=30, seed=6)
    expected, parts, ranked = (oplt(policy, 3, 20) for _ in range(3))
    expected.partial_fit(X, Y)
    ranked.progressive_top_k(X, Y, 1)
    for first in range(0, 200, 70):
        parts.partial_fit(X[first : first + 70], Y[first : first + 70])
    for found in (parts, ranked):
        for name, array in expected._state()[0].items():
            other = found._state()[0][name].copy()
            if name == "counters":  # a full array causes a second marking of nodes
                other[MARK] = array[MARK]
            assert other.tobytes() == array.tobytes(), name
