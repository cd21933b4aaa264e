"""Test the checks of stored online trees."""

import numpy as np
import pytest

from xmlc.kernels.indices import Malformed
from xmlc.models import OPLT
from xmlc.models.oplt.stored import checked_tree
from xmlc.models.oplt.tree import trimmed_tree


def test_a_leaf_that_another_label_claims_is_refused():
    model = OPLT().partial_fit(np.eye(4), np.eye(4, dtype=bool))
    tree = trimmed_tree(model._model)
    checked_tree(tree, 4)
    first, second = tree.leaves[:2]
    nodes = tree.nodes.copy()
    nodes["label"][first] = 1
    nodes["label"][second] = 0
    leaves = tree.leaves.copy()
    leaves[1] = first
    with pytest.raises(Malformed):
        checked_tree(tree._replace(nodes=nodes, leaves=leaves), 4)
