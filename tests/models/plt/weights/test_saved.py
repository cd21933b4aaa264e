"""Each type of weights is saved as arrays and numbers from which the same type is made again."""

import numpy as np
import pytest
from plt_cases import random_nodes

from xmlc.errors import XmlcError
from xmlc.models.plt.weights import CompactNodeWeights, HashedWeights, NodeWeights, weights_from_state


def hashed_weights():
    tree, nodes = random_nodes(9, 3, 5, 0)
    table = np.arange(16, dtype=np.float32)
    return HashedWeights(tree.children, tree.label, table, np.ones(tree.n_nodes), nodes.bias, np.uint64(7))


def every_type():
    nodes = random_nodes(9, 3, 5, 0)[1]
    return nodes, nodes.drop(0.1), hashed_weights()


@pytest.mark.parametrize(("kind", "weights"), list(zip((NodeWeights, CompactNodeWeights, HashedWeights), every_type())))
def test_weights_come_back_from_their_state(kind, weights):
    arrays, meta = weights.state()
    assert all(isinstance(array, np.ndarray) for array in arrays.values())
    again = weights_from_state(arrays, meta, 10**6, 9)
    assert type(again) is type(weights) is kind
    for one, other in zip(again, weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_arrays_of_no_weights_are_refused():
    arrays, _ = hashed_weights().state()
    with pytest.raises(XmlcError, match="found the arrays and numbers bias, children"):
        weights_from_state(arrays, {}, 10**6, 9)


def test_hashed_weights_say_what_they_cannot_do():
    weights = hashed_weights()
    with pytest.raises(XmlcError, match="hash_bits=4: hashed weights are not searched by beam"):
        weights.beam_search(None, 3)
    with pytest.raises(XmlcError, match="hash_bits=4: hashed weights are shared by all nodes"):
        weights.drop(0.1)
