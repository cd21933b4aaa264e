"""What those who serve a PLT need: one instance at a time, small models, quick loading."""

import numpy as np
import pytest
from plt_cases import random_nodes, weights_of

from xmlc.core.errors import XmlcError
from xmlc.models import PLT
from xmlc.models.plt.compact import drop_small


@pytest.mark.parametrize("options", [{}, {"weight_cut": 0.02}, {"unit_norm": False}, {"hash_bits": 12}])
@pytest.mark.parametrize("search", ["certified", "beam", "exact"])
def test_one_instance_is_ranked_as_in_a_batch(multilabel, options, search):
    X, Y = multilabel(150, 60, 40, seed=1)
    model = PLT(tree="random", arity=3, epochs=2, search=search, beam=3, **options).fit(X, Y)
    for k in (1, 4, 50):
        labels, scores = model.predict_top_k(X, k)
        for i in range(X.shape[0]):
            row = slice(X.indptr[i], X.indptr[i + 1])
            one_labels, one_scores = model.rank_one(X.indices[row], X.data[row], k)
            np.testing.assert_array_equal(one_labels, labels[i])
            np.testing.assert_array_equal(one_scores, scores[i])


def test_an_instance_of_plain_lists_will_do(multilabel):
    X, Y = multilabel(60, 10, 8)
    model = PLT(tree="random", arity=3).fit(X, Y)
    dense = np.zeros((1, 10))
    dense[0, [2, 7]] = 0.5, 3.0
    np.testing.assert_array_equal(model.rank_one([2, 7], [0.5, 3.0], 4)[0], model.predict_top_k(dense, 4)[0][0])


def test_features_of_an_instance_may_come_in_any_order(multilabel):
    X, Y = multilabel(20, 10, 5)
    model = PLT().fit(X, Y)
    indices, values = np.array([7, 2, 4]), np.float32([0.5, 3.0, 1.7])
    for one, other in zip(
        model.rank_one(indices, values, 3), model.rank_one(indices[[1, 2, 0]], values[[1, 2, 0]], 3), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert indices.tolist() == [7, 2, 4]
    for one, other in zip(model.rank_one([], [], 3), model.predict_top_k(np.zeros((1, 10)), 3), strict=True):
        np.testing.assert_array_equal(one, other[0])


@pytest.mark.parametrize(
    ("indices", "values", "message"),
    [
        ([2, 3, 2], [1.0, 1.0, 1.0], "found feature 2 .* each feature once"),
        ([10], [1.0], "features below 10"),
        ([-1], [1.0], "found feature -1"),
        ([1 << 32], [1.0], "found feature 4294967296"),
        ([1], [np.nan], "value nan"),
        ([1, 2], [1.0], "as many values"),
        ([1.5], [1.0], "expected integers"),
        ([], [1.0], "as many values"),
    ],
)
def test_what_is_no_instance_is_refused(multilabel, indices, values, message):
    X, Y = multilabel(20, 10, 5)
    with pytest.raises(XmlcError, match=message):
        PLT().fit(X, Y).rank_one(indices, values, 1)


@pytest.mark.parametrize("seed", range(4))
def test_sparse_rows_can_be_cut_again(seed):
    _, nodes = random_nodes(30, 4, 12, seed)
    once = drop_small(nodes, 0.9)
    before = weights_of(drop_small(nodes, 0.2))
    sparse = drop_small(nodes, 0.2)
    twice = drop_small(sparse, 0.9)
    for one, other in zip(twice, once, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert weights_of(sparse) == before  # and what they were cut from is as it was


@pytest.mark.parametrize("weight_cut", [None, 0.01])
def test_dropping_weights_is_training_with_the_cut(tmp_path, multilabel, weight_cut):
    X, Y = multilabel(150, 30, 40, seed=3)
    model = PLT(tree="random", arity=4, epochs=2, weight_cut=weight_cut).fit(X, Y)
    before = model.predict_proba(X).toarray()
    smaller = model.drop_weights(0.2)
    trained = PLT(tree="random", arity=4, epochs=2, weight_cut=0.2).fit(X, Y)
    assert smaller.get_params() == trained.get_params()
    smaller.save(tmp_path / "small")
    for other in (smaller, PLT.load(tmp_path / "small")):
        for one, expected in zip(other.nodes_, trained.nodes_, strict=True):
            np.testing.assert_array_equal(one, expected)
        np.testing.assert_array_equal(other.predict_proba(X).toarray(), trained.predict_proba(X).toarray())
    np.testing.assert_array_equal(model.predict_proba(X).toarray(), before)
    assert model.weight_cut == weight_cut


def test_a_cut_of_zero_changes_no_estimate(multilabel):
    X, Y = multilabel(100, 30, 40, seed=4)
    model = PLT(tree="random", arity=4, epochs=2).fit(X, Y)
    smaller = model.drop_weights(0.0)
    np.testing.assert_array_equal(smaller.predict_proba(X).toarray(), model.predict_proba(X).toarray())
    np.testing.assert_array_equal(smaller.predict_top_k(X, 5)[0], model.predict_top_k(X, 5)[0])


def test_hashed_weights_cannot_be_dropped(multilabel):
    X, Y = multilabel(20, 10, 5)
    with pytest.raises(XmlcError, match="shared by all nodes"):
        PLT(hash_bits=8).fit(X, Y).drop_weights(0.1)
