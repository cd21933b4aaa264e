"""Which nodes an instance reaches, against the paths of its labels."""

import numpy as np
from oplt_cases import oplt, stream

from xmlc.models.oplt.learning._queue import mark_positives
from xmlc.models.oplt.tree import ABOVE, NONE


def test_an_instance_reaches_the_nodes_above_its_labels_and_each_has_its_positive_children():
    X, Y = stream(seed=9)
    tree = oplt("random", 3, 5).partial_fit(X, Y)._online
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
            children, child = set(), tree.nodes["head"][node]
            while child != NONE:
                children.add(int(child))
                child = tree.nodes["next_positive"][child]
            assert children == {other for other in expected - {ABOVE} if tree.nodes["parent"][other] == node}
