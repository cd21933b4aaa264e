"""Rankings by weighted estimates: bit-identical to brute force, and no work for excluded labels."""

import numpy as np
import pytest
from facts import raises_with
from plt_twin import ancestors
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from small_data import random_multilabel
from small_models import OURS, small

from xmlc.core.errors import InvalidDataError
from xmlc.models import OPLT, PLT, Parabel
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.oracle import Oracle
from xmlc.models.wrapped import Wrapped

N = 80
D = 20
M = 30
TREE = {"tree": "random", "arity": 3, "epochs": 2, "n_jobs": 1}
X, Y = random_multilabel(N, D, M, seed=1)


class OnlyEstimates(SparseProbabilityEstimator):
    """A custom class without a ranking."""

    def fit(self, X, Y):
        self.shares_ = self._training_data(X, Y)[1].mean(axis=0)
        return self

    def predict_proba(self, X, threshold=0.0):
        return sparse.csr_array(np.tile(self.shares_, (X.shape[0], 1)).astype(np.float32))


class OwnRanking(OnlyEstimates):
    """A custom class whose ranking takes no weights."""

    def predict_top_k(self, X, k):
        labels, scores = super().predict_top_k(X, k)
        return labels[:, ::-1], scores[:, ::-1]


class Posteriors(Oracle):
    def fit(self, X, Y):
        posteriors = np.random.default_rng(0).random(Y.shape, dtype=np.float32)
        super().fit(X, Y).use_posteriors(sparse.csr_array(posteriors * (posteriors > 0.5)))
        return self


MODELS = {name: small(name) for name in OURS} | {
    "parabel": Parabel(n_trees=3, max_leaf=3, beam=None, C=1.0, n_jobs=1),
    "fastxml alpha 1": small("fastxml").set_params(alpha=1.0),
    "pfastrexml": small("fastxml").set_params(propensity_weighted=True),
    "ldsm beta 1": small("ldsm").set_params(beta=1.0),
    "oplt online": OPLT(online=True, n_jobs=1),
    "adapted": Wrapped(OneVsRestClassifier(MultinomialNB())),
    "oracle": Posteriors(),
    "only estimates": OnlyEstimates(),
    "plt certified": PLT(search="certified", **TREE),
    "plt beam": PLT(search="beam", beam=M, **TREE),
    "plt exact": PLT(search="exact", **TREE),
    "plt narrow": PLT(beam=1, **TREE),
    "plt compact": PLT(weight_threshold=0.05, **TREE),
    "plt compact exact": PLT(weight_threshold=0.05, search="exact", **TREE),
    "plt hashed": PLT(hash_bits=8, **TREE),
    "plt hinge": PLT.for_ranking(arity=4, max_leaf=2, C=1.0, n_jobs=1),
}


def draw_weights(rng):
    """Return weights with and without zeros, ties and extremes, as arrays of several types and
    lists.
    """
    kinds = [
        rng.random(M) * (rng.random(M) < 0.5),
        rng.choice([0.5, 1.0, 2.0], M).astype(np.float32),
        10 ** rng.uniform(-15, 15, M),
        (rng.random(M) < 0.1).tolist(),
    ]
    return kinds[rng.integers(len(kinds))]


def by_brute_force(labels, scores, weights, k):
    """Weigh a ranking of all labels and sort it again. Ties keep their order."""
    # The last weight belongs to -1, which stands for no label.
    weights = np.append(np.asarray(weights, dtype=np.float64), 0)
    weighted = (scores * weights[labels]).astype(np.float32)
    order = np.argsort(-weighted, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(weighted, order, axis=1)
    return np.where(found > 0, np.take_along_axis(labels, order, axis=1), -1), found


def tie_order(model, labels, scores):
    """Order a ranking by the leaf in a label tree, else by the label, as ties are resolved."""
    numbers = labels
    if hasattr(model, "tree_"):
        leaves = np.full(M + 1, -1)
        leaves[: model.tree_.leaf.size] = model.tree_.leaf
        numbers = leaves[labels]
    order = np.argsort(np.where(labels < 0, M**2, numbers), axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1), np.take_along_axis(scores, order, axis=1)


@pytest.mark.parametrize("name", MODELS)
def test_rankings_by_weighted_estimates_equal_brute_force(name):
    model = MODELS[name].unfitted().fit(X, Y)
    rng = np.random.default_rng(len(name))
    everything = tie_order(model, *model.predict_top_k(X, M))
    for _ in range(15):
        weights = draw_weights(rng)
        k = int(rng.integers(1, M + 5))
        labels, scores = model.predict_top_k(X, k, label_weights=weights)
        assert (labels.dtype, scores.dtype) == (np.int32, np.float32)
        best, weighted = by_brute_force(*everything, weights, k)
        # places beyond the last label
        beyond = ((0, 0), (0, k - best.shape[1]))
        np.testing.assert_array_equal(labels, np.pad(best, beyond, constant_values=-1))
        np.testing.assert_array_equal(scores, np.pad(weighted, beyond))
        if model._BY_INSTANCE and name != "oracle":
            for i in range(3):
                one = model.rank_one(X[[i]].indices, X[[i]].data, k, label_weights=weights)
                np.testing.assert_array_equal(one, (labels[i], scores[i]))


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("plt ")])
def test_search_evaluates_only_paths_to_labels_with_weight(name):
    model = MODELS[name].unfitted().fit(X, Y)
    model.predict_top_k(X, 3)
    of_all = model.inner_products_
    tree = model.tree_
    for label in np.flatnonzero(tree.leaf >= 0):
        labels, scores = model.predict_top_k(X, 3, 2.0 * (np.arange(M) == label))
        assert (labels == [label, -1, -1]).all()
        assert (scores[:, 1:] == 0).all()
        path = [*ancestors(tree, tree.leaf[label])]
        assert (model.inner_products_ == 1 + np.diff(tree.children)[path].sum()).all()
    labels, _ = model.predict_top_k(X, 3, np.zeros(M))
    assert (labels == -1).all()
    assert (model.inner_products_ == 1).all()
    # Four labels are in one or two subtrees.
    model.predict_top_k(X, 3, np.isin(np.arange(M), tree.label[-4:]))
    assert (model.inner_products_ < of_all).all()


def test_excluded_labels_take_no_place_in_beams_of_parabel():
    model = Parabel(n_trees=2, max_leaf=2, beam=1, C=1.0, n_jobs=1).fit(X, Y)
    for label in np.flatnonzero(model.trees_[0].tree_.leaf >= 0):
        labels, scores = model.predict_top_k(X, 1, np.arange(M) == label)
        assert (labels == label).all()
        assert (scores > 0).all()
        depths = sum(tree.tree_.depth.max() for tree in model.trees_)
        assert model.inner_products_.max() <= 2 * depths + 2


def test_positive_weights_do_not_change_beams_of_parabel():
    model = Parabel(n_trees=2, max_leaf=2, beam=2, C=1.0, n_jobs=1).fit(X, Y)
    weights = np.linspace(3, 0.1, M)
    expected = by_brute_force(*model.predict_top_k(X, M), weights, 5)
    np.testing.assert_array_equal(model.predict_top_k(X, 5, weights), expected)


def test_weights_changed_in_place_and_refitted_trees_take_effect():
    model = PLT(**TREE).fit(X, Y)
    weights = np.ones(M)
    first = model.predict_top_k(X, 1, weights)[0][0, 0]
    weights[first] = 0
    assert model.predict_top_k(X, 1, weights)[0][0, 0] != first
    model.set_params(random_state=1).fit(X, Y)
    fresh = PLT(random_state=1, **TREE).fit(X, Y)
    expected = fresh.predict_top_k(X, 3, weights)
    np.testing.assert_array_equal(model.predict_top_k(X, 3, weights), expected)


def test_custom_ranking_may_have_no_weights():
    model = OwnRanking().fit(X, Y)
    expected = OnlyEstimates().fit(X, Y).predict_top_k(X, 3)[0][:, ::-1]
    np.testing.assert_array_equal(model.predict_top_k(X, 3)[0], expected)
    np.testing.assert_array_equal(model.rank_one([], [], 3)[0], expected[0])
    with pytest.raises(TypeError):
        model.rank_one([], [], 3, np.ones(M))


@pytest.mark.parametrize("name", ["plt", "adapted"])
def test_invalid_label_weights_are_refused(name):
    model = MODELS[name].unfitted().fit(X, Y)
    for weights, message in (
        (np.ones(M - 1), ["label_weights", "(29,)", "(30,)"]),
        (1.0, ["label_weights", "()", "(30,)"]),
        ([1.0] * 7 + [-0.5] * 23, ["label_weights[7]", "-0.5"]),
        ([1.0] * 3 + [np.nan] * 27, ["label_weights[3]", "nan"]),
        (["a"] * M, "label_weights"),
    ):
        with raises_with(InvalidDataError, message):
            model.predict_top_k(X, 1, weights)
        with raises_with(InvalidDataError, message):
            model.rank_one([0], [1.0], 1, weights)


@pytest.mark.parametrize("name", ["plt exact", "plt compact exact", "plt hashed"])
def test_equal_weights_evaluate_no_additional_nodes(name):
    model = MODELS[name].unfitted().fit(X, Y)
    model.predict_top_k(X, 2)
    evaluated = model.inner_products_
    for weight in (0.51, 1.0, 3.0):
        model.predict_top_k(X, 2, np.full(M, weight))
        np.testing.assert_array_equal(model.inner_products_, evaluated)
