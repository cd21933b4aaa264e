"""Training on a stream: copies of a model, and streams in several calls."""

from copy import copy

import numpy as np
import pytest
from facts import contents
from oplt_cases import oplt, stream
from small_data import equal_bits

from xmlc.models import OPLT
from xmlc.models.oplt.tree import MARK, OnlineTree, trimmed_tree


def test_copy_of_model_does_not_change_when_model_learns():
    X, Y = stream(n=200, m=60, seed=7)
    model = oplt().partial_fit(X[:60], Y[:60])
    other = copy(model)
    expected = model.predict_proba(X)
    model.partial_fit(X, Y)
    assert equal_bits(other.predict_proba(X), expected)


def without_marks(model):
    """Return copies of the arrays of a tree, without the marks of nodes. If an array is full, the
    nodes of an instance are marked twice.
    """
    tree = OnlineTree(*map(np.array, trimmed_tree(model._model)))
    tree.nodes["stamp"] = 0
    tree.counters[MARK] = 0
    return tree


@pytest.mark.parametrize("policy", ["random", "best_greedy"])
def test_batches_loaded_models_and_progressive_streams_give_equal_arrays(policy, tmp_path):
    X, Y = stream(n=300, m=60, d=40, seed=4)
    expected = oplt(policy, 16, 40).partial_fit(X, Y)
    ranked = oplt(policy, 16, 40)
    ranked.progressive_top_k(X, Y, 1)
    batches = oplt(policy, 16, 40).partial_fit(X[:200], Y[:200])
    batches.save(tmp_path)
    stored = contents(tmp_path)
    loaded = OPLT.load(tmp_path)
    assert np.count_nonzero(loaded._model.free_rows) > 2
    for first in range(200, 300, 7):
        for model in (batches, loaded):
            model.partial_fit(X[first : first + 7], Y[first : first + 7])
    assert contents(tmp_path) == stored  # although the arrays are mapped
    for found in (ranked, batches, loaded):
        assert found.n_instances_ == 300
        for array, other in zip(without_marks(expected), without_marks(found), strict=True):
            assert other.tobytes() == array.tobytes()
