"""Windows of the stream: a model is the same, array by array, whatever the window and the number of threads."""

import numpy as np
import pytest
from oplt_cases import oplt, stream
from scipy import sparse

from xmlc.models.oplt.learning import stream as learning
from xmlc.models.oplt.learning._queue import DONE, MUST_GROW, QUIET
from xmlc.models.oplt.tree import MARK
from xmlc.runtime.parallel import Team

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
    monkeypatch.setattr(learning, "SHARES", 5)
    found = oplt(policy, arity, max_leaf, n_jobs=n_jobs).partial_fit(X, Y)
    assert_same(found, expected)


def assert_same(found, expected):
    """All arrays of two models are the same bytes; how often nodes were marked may differ."""
    for name, array in arrays_of(expected).items():
        if name == "counters":
            assert np.delete(arrays_of(found)[name], MARK).tolist() == np.delete(array, MARK).tolist()
        else:
            assert arrays_of(found)[name].tobytes() == array.tobytes(), name


@pytest.mark.parametrize(("policy", "arity", "max_leaf"), SHAPES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_window_is_taken_up_while_the_one_before_is_settled(policy, arity, max_leaf, n_jobs, monkeypatch):
    X, Y = stream(n=40, m=12, seed=3)
    few, late = stream(n=300, m=12, seed=4), stream(n=60, m=20, seed=5)
    wider = sparse.csr_array((Y.data, Y.indices, Y.indptr), shape=(40, 20))
    known = few[1].multiply(np.isin(np.arange(12), np.unique(Y.indices))).tocsr()
    known = sparse.csr_array((known.data, known.indices, known.indptr), shape=(300, 20))
    X, Y = sparse.vstack((X, few[0], late[0])).tocsr(), sparse.vstack((wider, known, late[1])).tocsr()
    expected = oplt(policy, arity, max_leaf)
    expected.progressive_top_k(X, Y, 1)
    monkeypatch.setattr(learning, "ROWS_QUIET", 50)
    monkeypatch.setattr(learning, "ROWS_GROWING", 40)
    states, together, run = [], [], Team.run

    def spied(team, work, pieces, *others):
        results = run(team, work, pieces, *others)
        if pieces[0][0] is learning.take_up_rows:
            states.append(results[0][1])
            together.append(any(getattr(piece[0], "__name__", "") == "learn" for piece in pieces))
        return results

    monkeypatch.setattr(Team, "run", spied)
    found = oplt(policy, arity, max_leaf, n_jobs=n_jobs).partial_fit(X, Y)
    assert_same(found, expected)
    assert any(together)
    if policy in ("best_greedy", "cpet"):  # which read classifiers to place a label
        assert not all(together)
        assert {QUIET, MUST_GROW, DONE} <= set(states)
    else:
        assert sum(together) >= 9  # 400 instances, 40 at a time, each while those before change rows
        assert not {QUIET, MUST_GROW} & set(states)


def test_learning_goes_on_after_a_call_as_within_it():
    X, Y = stream(n=200, m=30, seed=6)
    expected = oplt("random", 2, 20, n_jobs=2).partial_fit(X, Y)
    found = oplt("random", 2, 20, n_jobs=2)
    for first in range(0, 200, 70):
        found.partial_fit(X[first : first + 70], Y[first : first + 70])
    assert_same(found, expected)
