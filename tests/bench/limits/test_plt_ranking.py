"""What the bare accesses of a ranking by a PLT touch, against the searches themselves."""

import numpy as np
import pytest

from xmlc.bench.harness import Data
from xmlc.bench.limits import plt_ranking
from xmlc.bench.limits._plt_visits import touch_blocks
from xmlc.bench.limits.work import Work
from xmlc.models import PLT

SEARCHES = ("certified", "beam", "exact")


@pytest.fixture(params=[None, 0.02], ids=["dense", "compact"])
def fitted(request, multilabel):
    X, Y = multilabel(120, 30, 150, seed=6)
    model = PLT(tree="random", arity=20, epochs=1, beam=3, weight_cut=request.param, n_jobs=1).fit(X, Y)
    return model, Data("some", X, Y, X[:50], Y[:50])


@pytest.mark.parametrize("search", SEARCHES)
def test_visits_are_the_blocks_that_the_search_opened(fitted, search):
    model, data = fitted
    model.set_params(search=search).predict_top_k(data.X_test, 5)
    queries = model._queries(data.X_test, "")
    visits = plt_ranking.visits_of(queries, model)
    degrees = np.concatenate((np.diff(model.tree_.children), [1]))  # the last is that of node -1
    assert degrees[visits.nodes].sum() == model.inner_products_.sum()
    assert (visits.nodes == -1).sum() == data.X_test.shape[0]
    assert np.isin(visits.values, queries.x.data).all()
    assert np.diff(visits.ends).max() > 5


def test_best_first_search_opens_the_root_and_then_a_block_of_each_instance_in_a_round(fitted):
    model, data = fitted
    model.set_params(search="exact").predict_top_k(data.X_test, 5)
    visits, n = plt_ranking.visits_of(model._queries(data.X_test, ""), model), data.X_test.shape[0]
    assert (visits.nodes[:n] == -1).all()
    assert (visits.nodes[n : 2 * n] == 0).all()
    rounds = np.flatnonzero(np.diff(visits.nodes) < 0)  # in each the blocks are in order
    assert np.diff(rounds).max() <= n


@pytest.mark.parametrize("degree", [1, 3, 4, 8, 16, 17, 40, 64, 100])
def test_bare_sums_are_those_of_plain_loops(degree):
    rng = np.random.default_rng(degree)
    nodes = _one_block(rng.normal(size=(7, degree)).astype(np.float32))
    ids, values = np.array([0, 2, 3, 6], dtype=np.uint32), rng.normal(size=4).astype(np.float32)
    ends = np.array([0, 3, 4])
    expected = np.zeros(max(degree, 16))
    expected[:degree] = values @ nodes.weights.reshape(7, degree)[ids]
    for weights in (nodes, nodes.drop(0.0)):
        sums = np.zeros(max(degree, 16), dtype=np.float32)
        touch_blocks(np.zeros(2, dtype=np.int32), ends, ids, values, weights, sums)
        columns = slice(0, degree) if degree <= 16 or degree % 16 == 0 else slice(0, degree - 16)  # vectors overlap
        np.testing.assert_allclose(sums[columns], expected[columns], rtol=1e-4, atol=1e-5)


def _one_block(weights):
    """Return the weights of a root whose children have these, features down and siblings across."""
    from xmlc.models.plt.weights import NodeWeights

    n_features, degree = weights.shape
    empty = np.zeros(degree, dtype=np.int64)
    return NodeWeights(
        children=np.concatenate(([1], np.full(degree + 1, degree + 1))),
        label=np.concatenate(([-1], np.arange(degree))).astype(np.int32),
        feature_starts=np.concatenate(([0, 0], np.full(degree + 1, n_features))),
        features=np.arange(n_features, dtype=np.uint32),
        weight_starts=np.concatenate(([0, 0, weights.size], empty + weights.size)),
        weights=weights.ravel(),
        bias=np.zeros(degree + 1, dtype=np.float32),
    )


def test_work_is_that_of_both_solvers_and_each_search(monkeypatch, multilabel):
    X, Y = multilabel(120, 30, 60, seed=6)
    settings = {"adagrad": {"arity": 4, "epochs": 1}, "batch": {"solver": "batch", "epochs": 1, "weight_cut": 0.05}}
    monkeypatch.setattr(plt_ranking, "solver_settings", lambda name: settings)
    works: list[Work] = list(plt_ranking.works(Data("some", X, Y, X[:40], Y[:40])))
    assert [work.contender for work in works][:3] == [f"PLT, adagrad, {name}" for name in plt_ranking.SEARCHES]
    assert len(works) == 6
    for work in works:
        one, two = work.call(1), work.call(2)
        for name, array in one.items():
            np.testing.assert_array_equal(array, two[name])
        assert work.units == work.bare_units > 0
        work.bare(1)
        work.bare(2)
