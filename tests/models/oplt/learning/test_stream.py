"""Windows of the stream: a model is the same, array by array, whatever the window and the number of threads."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

from xmlc.models.oplt.learning import stream as learning
from xmlc.models.oplt.tree import MARK

SHAPES = [
    ("random", 2, 20),
    ("best_greedy", 2, 20),
    ("best_greedy", 3, 5),
    ("complete", 3, 3),
    ("cpet", 2, 4),
    ("one_vs_rest", 2, 4),
]


def arrays_of(model):
    return model._state()[0]


@pytest.mark.parametrize(("policy", "arity", "max_leaf"), SHAPES)
@pytest.mark.parametrize(
    ("n_jobs", "n_slots", "n_updates"), [(1, 1, 1), (2, 60, 1 << 10), (3, 1 << 16, 7), (2, 1 << 16, 1 << 10)]
)
def test_a_model_is_that_of_one_instance_after_the_other(
    policy, arity, max_leaf, n_jobs, n_slots, n_updates, monkeypatch
):
    X, Y = stream(n=150, m=60, seed=8)
    expected = oplt(policy, arity, max_leaf)
    expected.progressive_top_k(X, Y, 1)  # which leaves nothing to wait
    monkeypatch.setattr(learning, "WINDOW_SLOTS", n_slots)
    monkeypatch.setattr(learning, "WINDOW_UPDATES", n_updates)
    monkeypatch.setattr(learning, "PAIRS_PER_PIECE", 50)
    found = oplt(policy, arity, max_leaf, n_jobs=n_jobs).partial_fit(X, Y)
    for name, array in arrays_of(expected).items():
        if name == "counters":
            assert np.delete(arrays_of(found)[name], MARK).tolist() == np.delete(array, MARK).tolist()
        else:
            assert arrays_of(found)[name].tobytes() == array.tobytes(), name
