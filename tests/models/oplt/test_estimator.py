from copy import deepcopy

import numpy as np
import pytest
from facts import raises_with
from oplt_cases import assert_same_nodes, oplt, shape, stream, trained_apart
from oplt_twin import NaiveOPLT
from scipy import sparse
from small_data import equal_bits

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import OPLT, PLT
from xmlc.models.oplt.growth import initial_tree
from xmlc.models.oplt.tree import with_labels
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.models.trees.kmeans import kmeans_tree
from xmlc.models.trees.representations import label_representations
from xmlc.thresholds import OFO

SHAPES = [
    ("best_greedy", 2, 4),
    ("random", 2, 4),
    ("best_greedy", 2, 2),
    ("random", 3, 3),
    ("best_greedy", 3, 5),
]
GROWN = [(*shape, "paper") for shape in SHAPES]
GROWN += [(*shape, "program") for shape in SHAPES]
GROWN += [("best_greedy", 4, 7, "program"), ("random", 4, 4, "program")]


@pytest.mark.parametrize("balance", ["ratio", "printed"])
@pytest.mark.parametrize(("policy", "arity", "max_leaf", "growth"), GROWN)
def test_tree_and_estimates_equal_plain_algorithms(policy, arity, max_leaf, growth, balance):
    X, Y = stream(n=200, m=100)
    more = {"balance": balance, "growth": growth, "unit_norm": False, "random_state": 7}
    model = oplt(policy, arity, max_leaf, **more).partial_fit(X, Y)
    key = np.uint64(stream_key(np.int64(7), np.int64(Stream.OPLT_POLICY)))
    twin = NaiveOPLT(X.shape[1], policy, 0.75, balance, arity, max_leaf, key, growth)
    instances = X.toarray().astype(float)
    twin.partial_fit(instances, Y.toarray())
    assert shape(model.tree_) == twin.shape()
    assert model.tree_depths_.tolist() == [model.tree_.depth.max()]
    assert model.n_nodes_.tolist() == [model.tree_.n_nodes]
    for instance, row in zip(instances[:20], model.predict_proba(X[:20]).toarray()):
        expected = twin.estimates(instance)
        found = row[list(expected)]
        np.testing.assert_allclose(found, list(expected.values()), rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize(("policy", "arity", "max_leaf", "growth"), GROWN)
def test_classifiers_equal_iplt_on_final_tree_after_any_prefix(policy, arity, max_leaf, growth):
    """Definition 1 (a proper online PLT algorithm)."""
    X, Y = stream(seed=1)
    model = oplt(policy, arity, max_leaf, growth=growth)
    done = 0
    for prefix in (1, 3, 10, 37, 80, 120):
        model.partial_fit(X[done:prefix], Y[done:prefix])
        done = prefix
        if model.labels_.size == 0:
            continue
        np.testing.assert_array_equal(model.labels_, np.unique(Y[:prefix].indices))
        assert_same_nodes(model.to_plt().nodes_, trained_apart(model, X[:prefix], Y[:prefix]))


def test_model_without_online_is_saved_and_refuses_partial_fit(tmp_path):
    X, Y = stream(seed=2)
    model = oplt(epochs=2).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = OPLT.load(tmp_path / "model")
    assert (loaded.n_instances_, loaded.gamma_) == (240, 1.0)
    for other in (model, loaded):
        with raises_with(XmlcError, "online=True", "partial_fit"):
            other.partial_fit(X, Y)
    assert oplt(online=True).fit(X, Y).partial_fit(X, Y).n_instances_ == 240


def test_weight_threshold_drops_small_weights():
    X, Y = stream(seed=2)
    model = oplt(weight_threshold=0.1).fit(X, Y)
    every = oplt().fit(X, Y).to_plt().nodes_.weights
    found = model.to_plt().nodes_.weights
    np.testing.assert_array_equal(np.sort(found), np.sort(every[np.abs(every) > np.float32(0.1)]))
    assert model.weight_threshold_ == 0.1


@pytest.mark.parametrize(
    ("gamma", "kind", "threshold"), [(0.02, CompactNodeWeights, 0.1), (1.0, NodeWeights, None)]
)
def test_auto_keeps_the_smaller_form_of_weights(tmp_path, gamma, kind, threshold):
    X, Y = stream(seed=2)
    model = oplt(gamma=gamma, eps=0.1, weight_threshold="auto").fit(X, Y)
    plt = model.to_plt()
    assert isinstance(plt.nodes_, kind)
    plt.save(tmp_path / "plt")
    assert model.weight_threshold_ == PLT.load(tmp_path / "plt").weight_threshold_ == threshold
    again = model.unfitted().set_params(**model._selected()).fit(X, Y)
    model.save(tmp_path / "model")
    for other in (again, OPLT.load(tmp_path / "model")):
        assert other._selected() == model._selected()
        for array, expected in zip(other.to_plt().nodes_, plt.nodes_, strict=True):
            np.testing.assert_array_equal(array, expected)
    for options in ({"unit_norm": False}, {"online": True}):  # an online model learns more
        model.set_params(**options).fit(X, Y)
        assert model.weight_threshold_ is None
        assert isinstance(model.to_plt().nodes_, NodeWeights)


def test_interrupted_stream_goes_on_after_the_learned_instances(monkeypatch, tmp_path):
    X, Y = stream(n=300, m=200, seed=2)
    model = oplt().partial_fit(X[:50], Y[:50, :20])
    expected = deepcopy(model).partial_fit(X[50:], Y[50:]).predict_proba(X)
    updates = []

    def interrupted(_, amount):
        updates.append(amount)
        if len(updates) == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("xmlc.core.progress.Progress.update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[50:], Y[50:])
    n = model.n_instances_
    assert 50 < n < 300
    model.save(tmp_path / "model")
    for each in (model, OPLT.load(tmp_path / "model")):
        assert equal_bits(each.partial_fit(X[n:], Y[n:]).predict_proba(X), expected)


def test_warm_start_1_gives_the_tree_of_a_plt():
    X, Y = stream(seed=2)
    model = oplt(warm_start=1.0, max_leaf=8, random_state=3).fit(X, Y)
    plt = PLT(tree="kmeans", arity=2, max_leaf=8, random_state=3, epochs=1).fit(X, Y)
    assert shape(model.tree_) == shape(plt.tree_)


@pytest.mark.parametrize("first_max_leaf", [None, 2])
def test_warm_start_makes_all_passes_over_first_instances_before_the_rest(first_max_leaf):
    """oplt2021, Section 5.1, and the authors' script: a model of the first instances is trained,
    and then resumed.
    """
    X, Y = stream(n=200, m=60, seed=2)
    warm = {"warm_start": 0.2, "first_max_leaf": first_max_leaf, "epochs": 3, "online": True}
    model = oplt(max_leaf=8, random_state=3, **warm).fit(X, Y)
    order = random_permutation(200, 3, Stream.PLT_ORDER)
    first = order[:40]
    rest = order[40:]
    labels = np.unique(Y[first].indices)
    representations = label_representations(unit_rows(X[first]), Y[first][:, labels], 1)
    begun = kmeans_tree(representations, 2, first_max_leaf or 8, 3, 1).over(labels)
    apart = oplt(max_leaf=8, random_state=3).partial_fit(X[:1], Y[:1, :0])
    apart._model = with_labels(initial_tree(apart._settings(), begun), 60)
    for part in (first, rest):
        for _ in range(3):
            apart.partial_fit(X[part], Y[part])
    assert shape(model.tree_) == shape(apart.tree_)
    assert_same_nodes(model.to_plt().nodes_, apart.to_plt().nodes_)


CHANGES = {
    "policy": "random",
    "alpha": 0.5,
    "balance": "printed",
    "growth": "program",
    "arity": 5,
    "max_leaf": 80,
    "gamma": 0.3,
    "eps": 0.5,
    "unit_norm": False,
    "random_state": 9,
}


@pytest.mark.parametrize("begun_by", ["partial_fit", "load", "fit"])
def test_partial_fit_refuses_changed_hyperparameters(begun_by, tmp_path):
    X, Y = stream()
    model = OPLT(online=True)
    if begun_by == "fit":
        model.fit(X, Y)
    else:
        model.partial_fit(X, Y)
    if begun_by == "load":
        model.save(tmp_path / "model")
        model = OPLT.load(tmp_path / "model")
    learned = model.n_instances_
    for name, value in CHANGES.items():
        before = getattr(model, name)
        model.set_params(**{name: value})
        for go_on in (model.partial_fit, model.progressive_top_k):
            with raises_with(InvalidParameterError, f"{name}={value!r}", f"{name}={before!r}"):
                go_on(X, Y)
        model.set_params(**{name: before})
    assert model.n_instances_ == learned
    assert model.partial_fit(X, Y).n_instances_ == learned + 120
    model.set_params(**CHANGES).fit(X, Y).partial_fit(X, Y)


def test_hyperparameters_of_fit_may_change_between_partial_fits():
    X, Y = stream()
    model = OPLT().partial_fit(X, Y)
    expected = deepcopy(model).partial_fit(X, Y).predict_proba(X)
    model.set_params(epochs=1, warm_start=0.1, online=True, n_jobs=1).partial_fit(X, Y)
    assert equal_bits(model.predict_proba(X), expected)


def test_labels_and_features_may_appear_later():
    X, Y = stream(seed=5)
    whole = oplt().partial_fit(X, Y)
    known = Y[:60].indices.max() + 1
    appendable = oplt().partial_fit(X[:60, : X[:60].indices.max() + 1], Y[:60, :known])
    assert appendable.n_labels_ == known
    found = appendable.partial_fit(X[60:], Y[60:]).predict_proba(X)
    assert equal_bits(found, whole.predict_proba(X))
    # Instances may have fewer or more features than the training set. Features without weights do
    # not matter.
    narrow = X[:, :9]
    wide = sparse.csr_array((narrow.data, narrow.indices, narrow.indptr), shape=(120, 1000))
    assert equal_bits(whole.predict_proba(wide), whole.predict_proba(narrow))


def test_progressive_rankings_equal_predictions_before_each_instance():
    X, Y = stream(n=40, seed=6)
    labels, scores = oplt().progressive_top_k(X, Y, 3)
    assert (labels[0] == -1).all()
    model = oplt().partial_fit(X[:1], Y[:1])
    for i in range(1, 40):
        expected = model.predict_top_k(X[[i]], 3)
        np.testing.assert_array_equal(labels[[i]], expected[0])
        np.testing.assert_array_equal(scores[[i]], expected[1])
        model.partial_fit(X[[i]], Y[[i]])
    with raises_with(XmlcError, "k=0"):
        model.progressive_top_k(X, Y, 0)


def test_number_of_weights_is_within_constant_factor_of_iplt():
    """Definition 2 (an efficient online PLT algorithm), for the number of weights along the
    stream.
    """
    X, Y = stream(n=400, d=60, m=120, seed=8)
    for prefix in (50, 200, 400):
        model = oplt(max_leaf=10).partial_fit(X[:prefix], Y[:prefix])
        nodes = model._model.nodes
        counters = model._model.counters
        held = (nodes["width"].astype(np.int64) * (nodes["n_features"] + 1))[: counters[0]].sum()
        apart = trained_apart(model, X[:prefix], Y[:prefix])
        assert held <= 2 * (apart.weights.size + apart.bias.size)


def test_streams_may_have_no_label_or_one_label():
    X, _ = stream(n=10)
    nothing = oplt().partial_fit(X, sparse.csr_array((10, 3), dtype=bool))
    assert nothing.predict_proba(X).nnz == 0
    assert (nothing.predict_top_k(X, 2)[0] == -1).all()
    with raises_with(XmlcError, "partial_fit"):
        nothing.to_plt()
    one = nothing.partial_fit(X, sparse.csr_array(np.ones((10, 1), dtype=bool)))
    assert one.labels_.tolist() == [0]
    assert (one.predict_proba(X).toarray()[:, 0] > 0).all()
    assert one.predict_top_k(X, 2)[0][:, 1].tolist() == [-1] * 10


def test_fit_does_not_depend_on_earlier_training():
    X, Y = stream(seed=9)
    expected = oplt(random_state=2).fit(X, Y).predict_proba(X)
    model = oplt(random_state=2).partial_fit(X[:30], Y[:30]).fit(X, Y)
    assert equal_bits(model.predict_proba(X), expected)
    assert not equal_bits(model.set_params(random_state=3).fit(X, Y).predict_proba(X), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": "greedy"}, "policy='greedy'"),
        ({"arity": 5, "max_leaf": 4}, "arity=5, max_leaf=4"),
        ({"growth": "program", "warm_start": 0.1}, "warm_start=0.1"),
        ({"first_max_leaf": 2}, ["first_max_leaf=2", "warm_start=None"]),
        ({"online": True, "weight_threshold": 0.1}, "weight_threshold=0.1"),
    ],
)
def test_invalid_hyperparameters_are_refused(parameters, message):
    X, Y = stream(n=5)
    with raises_with(XmlcError, message):
        OPLT(**parameters).partial_fit(X, Y)


def test_ofo_learns_thresholds_during_training():
    """Section 4.3 of plt2016: the model predicts each instance before OFO and the model learn from
    the instance.
    """
    X, Y = stream(n=80, m=12, seed=7)
    model = oplt().partial_fit(X[[0]], Y[[0]])
    ofo = OFO(a=1.0, b=4.0)
    a = np.full(12, 1.0)
    b = np.full(12, 4.0)
    predicted = 0
    for i, true in enumerate(Y.toarray()[1:], 1):
        spe = model.predict_proba(X[[i]])
        expected = spe.toarray()[0] > (a / b).astype(np.float32)
        if i > 1:
            np.testing.assert_array_equal(ofo.predict(spe).toarray()[0], expected)
        ofo.partial_fit(spe, Y[[i]])
        model.partial_fit(X[[i]], Y[[i]])
        a += true & expected
        b += true.astype(int) + expected
        predicted += expected.sum()
    assert 0 < predicted < 12 * 79
    np.testing.assert_array_equal(ofo.thresholds_, (a / b).astype(np.float32))
