from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from facts import raises_with
from oplt_cases import assert_same_nodes, oplt, shape, stream, trained_apart
from oplt_twin import NaiveOPLT
from plt_cases import nbytes
from scipy import sparse
from sklearn.base import clone

from xmlc.core.errors import NotFittedError, XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation, stream_key
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import OPLT, PLT
from xmlc.models.oplt.growth import initial_tree
from xmlc.models.oplt.tree import NODE, with_labels
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
PROGRAM_SHAPES = [
    (policy, arity, max_leaf, "program")
    for policy, (arity, max_leaf) in product(
        ("best_greedy", "random"),
        ((2, 2), (2, 4), (2, 10), (3, 3), (3, 5), (3, 10), (4, 4), (4, 7)),
    )
]
GROWN = [(*shape, "paper") for shape in SHAPES] + PROGRAM_SHAPES


@pytest.mark.parametrize("balance", ["ratio", "printed"])
@pytest.mark.parametrize(("policy", "arity", "max_leaf", "growth"), GROWN)
def test_tree_and_estimates_equal_plain_algorithms(policy, arity, max_leaf, growth, balance):
    X, Y = stream(n=200, m=100)
    model = oplt(
        policy, arity, max_leaf, balance=balance, growth=growth, unit_norm=False, random_state=7
    )
    model.partial_fit(X, Y)
    key = np.uint64(stream_key(np.int64(7), np.int64(Stream.OPLT_POLICY)))
    twin = NaiveOPLT(policy, 0.75, balance, arity, max_leaf, key=key, growth=growth)
    instances = [
        dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist())) for i in range(X.shape[0])
    ]
    twin.partial_fit(instances, [set(Y[[i]].indices.tolist()) for i in range(Y.shape[0])])
    assert shape(model.tree_) == twin.shape()
    assert (model.tree_depths_.tolist(), model.n_nodes_.tolist()) == (
        [model.tree_.depth.max()],
        [model.tree_.n_nodes],
    )
    found = model.predict_proba(X[:20]).toarray()
    for i in range(20):
        expected = twin.estimates(instances[i])
        np.testing.assert_allclose(
            found[i, list(expected)], list(expected.values()), rtol=2e-4, atol=1e-6
        )


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


GROWTHS = [("paper", None), ("paper", 0.3), ("program", None)]
# In these cases, 2-means trees have an arity of 2.
STARTED = [
    (*shape, *start)
    for shape, start in product(SHAPES, GROWTHS)
    if start[1] is None or shape[1] == 2
]


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize(("policy", "arity", "max_leaf", "growth", "warm_start"), STARTED)
def test_fit_is_bit_identical_to_training_on_the_stream(
    policy, arity, max_leaf, epochs, growth, warm_start
):
    """`fit` has two phases, the second on any number of threads.

    With online=True, `fit` has one phase.
    """
    X, Y = stream(n=200, m=100, seed=2)
    more = {"growth": growth, "warm_start": warm_start, "epochs": epochs, "random_state": 3}
    online = oplt(policy, arity, max_leaf, online=True, **more).fit(X, Y)
    order = random_permutation(X.shape[0], 3, Stream.PLT_ORDER)
    n_first = 0 if warm_start is None else round(warm_start * 200)
    visits = [*order[:n_first]] * epochs + [*order[n_first:]] * epochs
    assert_same_nodes(online.to_plt().nodes_, trained_apart(online, X, Y, np.array(visits)))
    for n_jobs in (1, 2):
        model = oplt(policy, arity, max_leaf, n_jobs=n_jobs, **more).fit(X, Y)
        for name, array in online.to_plt().nodes_._asdict().items():
            assert getattr(model.to_plt().nodes_, name).tobytes() == array.tobytes(), name
        assert model.n_instances_ == online.n_instances_ == epochs * 200
        np.testing.assert_array_equal(model.labels_, online.labels_)


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


def test_weight_threshold_drops_small_weights_and_excludes_online():
    X, Y = stream(seed=2)
    model = oplt(weight_threshold=0.1).fit(X, Y)
    whole = oplt().fit(X, Y)
    kept = model.to_plt().nodes_
    all_weights = whole.to_plt().nodes_.weights
    np.testing.assert_array_equal(
        np.sort(kept.weights), np.sort(all_weights[np.abs(all_weights) > np.float32(0.1)])
    )
    assert (model.weight_threshold_, whole.weight_threshold_) == (0.1, None)
    with raises_with(XmlcError, "weight_threshold=0.1"):
        oplt(weight_threshold=0.1, online=True).fit(X, Y)


@pytest.mark.parametrize(("gamma", "kind"), [(0.02, CompactNodeWeights), (1.0, NodeWeights)])
def test_auto_keeps_the_smaller_form_of_weights(tmp_path, gamma, kind):
    X, Y = stream(seed=2)
    given = {"gamma": gamma, "eps": 0.1}
    dense, rows, model = (
        oplt(weight_threshold=cut, **given).fit(X, Y) for cut in (None, 0.1, "auto")
    )
    assert isinstance(model.to_plt().nodes_, kind)
    smaller = min(dense, rows, key=lambda one: nbytes(one.to_plt().nodes_))
    assert (
        model.weight_threshold_
        == smaller.weight_threshold_
        == (0.1 if kind is CompactNodeWeights else None)
    )
    model.save(tmp_path / "model")
    again = model.unfitted().set_params(**model._selected()).fit(X, Y)
    for other in (smaller, again, OPLT.load(tmp_path / "model")):
        assert other._selected() == model._selected()
        for name, array in model.to_plt().nodes_._asdict().items():
            np.testing.assert_array_equal(getattr(other.to_plt().nodes_, name), array, err_msg=name)
    model.to_plt().save(tmp_path / "plt")
    assert PLT.load(tmp_path / "plt").weight_threshold_ == model.weight_threshold_


def test_auto_keeps_all_weights_of_a_model_that_learns_more_and_without_unit_norm():
    X, Y = stream(seed=2)
    given = {"gamma": 0.02, "weight_threshold": "auto"}
    for model in (
        oplt(online=True, **given).fit(X, Y),
        oplt(**given).partial_fit(X, Y),
        oplt(unit_norm=False, **given).fit(X, Y),
    ):
        assert model.weight_threshold_ is None
        assert isinstance(model.to_plt().nodes_, NodeWeights)
    online, offline = (oplt(online=online, **given).fit(X, Y) for online in (True, False))
    assert isinstance(offline.to_plt().nodes_, CompactNodeWeights)
    np.testing.assert_array_equal(online.partial_fit(X, Y).labels_, offline.labels_)


def test_interrupted_fit_leaves_estimator_unfitted(monkeypatch):
    X, Y = stream(seed=2)
    model = oplt()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("xmlc.models.oplt.estimator.train_nodes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict_proba(X)
    assert model.partial_fit(X, Y).n_instances_ == 120


@pytest.mark.parametrize("is_loaded", [False, True])
def test_interrupted_stream_goes_on_after_the_learned_instances(monkeypatch, tmp_path, is_loaded):
    X, Y = stream(n=300, m=200, seed=2)
    model = oplt().partial_fit(X[:50], Y[:50, :20])
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
    if is_loaded:
        model.save(tmp_path / "model")
        model = OPLT.load(tmp_path / "model")
    model.partial_fit(X[n:], Y[n:])
    expected = oplt().partial_fit(X[:50], Y[:50, :20]).partial_fit(X[50:], Y[50:])
    np.testing.assert_array_equal(
        model.predict_proba(X).toarray(), expected.predict_proba(X).toarray()
    )


def test_warm_start_1_gives_the_tree_of_a_plt():
    X, Y = stream(seed=2)
    assert shape(oplt(warm_start=1.0, max_leaf=8, random_state=3).fit(X, Y).tree_) == shape(
        PLT(tree="kmeans", arity=2, max_leaf=8, random_state=3, epochs=1).fit(X, Y).tree_
    )
    assert oplt(warm_start=0.3, random_state=3).fit(X, Y).labels_.size == np.unique(Y.indices).size


@pytest.mark.parametrize("first_max_leaf", [None, 2])
def test_warm_start_makes_all_passes_over_first_instances_before_the_rest(first_max_leaf):
    """oplt2021, Section 5.1, and the authors' script: a model of the first instances is trained,
    and then resumed.
    """
    X, Y = stream(n=200, m=60, seed=2)
    warm = {
        "max_leaf": 8,
        "epochs": 3,
        "random_state": 3,
        "online": True,
        "first_max_leaf": first_max_leaf,
    }
    model = oplt(warm_start=0.2, **warm).fit(X, Y)
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


def test_first_max_leaf_limits_only_the_first_tree():
    X, Y = stream(seed=2)
    small, given = (
        oplt(warm_start=1.0, max_leaf=m, first_max_leaf=f, random_state=3)
        for m, f in ((2, None), (8, 2))
    )
    assert shape(small.fit(X, Y).tree_) == shape(given.fit(X, Y).tree_)
    with raises_with(XmlcError, "first_max_leaf=2", "warm_start=None"):
        oplt(first_max_leaf=2).fit(X, Y)


CHANGES = {
    "policy": "random",
    "alpha": 0.5,
    "balance": "printed",
    "growth": "program",
    "arity": 5,
    "max_leaf": 80,
}
CHANGES |= {"gamma": 0.3, "eps": 0.5, "unit_norm": False, "random_state": 9}


@pytest.mark.parametrize("name", CHANGES)
def test_partial_fit_refuses_changed_hyperparameters(name, tmp_path):
    X, Y = stream()
    model = OPLT().partial_fit(X, Y)
    model.save(tmp_path / "model")
    for begun in (
        model,
        OPLT.load(tmp_path / "model"),
        OPLT(online=True).fit(X, Y),
        deepcopy(model),
    ):
        learned = begun.n_instances_
        before = getattr(begun, name)
        begun.set_params(**{name: CHANGES[name]})
        for go_on in (begun.partial_fit, begun.progressive_top_k):
            with raises_with(
                InvalidParameterError, f"{name}={CHANGES[name]!r}", f"{name}={before!r}"
            ):
                go_on(X, Y)
        assert begun.n_instances_ == learned
        begun.set_params(**{name: before}).partial_fit(X, Y)
        begun.set_params(**{name: CHANGES[name]}, online=True).fit(X, Y).partial_fit(X, Y)


def test_hyperparameters_of_fit_may_change_between_partial_fits():
    X, Y = stream()
    model = OPLT().partial_fit(X, Y)
    model.set_params(epochs=1, warm_start=0.1, online=True, n_jobs=1).partial_fit(X, Y)
    same = OPLT().partial_fit(X, Y).partial_fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X).toarray(), same.predict_proba(X).toarray())


def test_batches_and_loaded_models_continue_bit_identically(tmp_path):
    X, Y = stream(seed=4)
    whole = oplt().partial_fit(X, Y)
    parts = oplt().partial_fit(X[:50], Y[:50])
    parts.save(tmp_path / "model")
    resumed = OPLT.load(tmp_path / "model")
    np.testing.assert_array_equal(
        resumed.predict_proba(X).toarray(), parts.predict_proba(X).toarray()
    )
    for i in range(50, 120, 7):
        resumed.partial_fit(X[i : i + 7], Y[i : i + 7])
    assert resumed.n_instances_ == whole.n_instances_ == 120
    for name, array in whole.to_plt().nodes_._asdict().items():
        np.testing.assert_array_equal(getattr(resumed.to_plt().nodes_, name), array)
    # The mapped file on disk is unchanged.
    np.testing.assert_array_equal(
        OPLT.load(tmp_path / "model").to_plt().nodes_.bias, parts.to_plt().nodes_.bias
    )


def test_labels_and_features_may_appear_later():
    X, Y = stream(seed=5)
    whole = oplt().partial_fit(X, Y)
    known = max(int(Y[:60].indices.max()), 0) + 1
    appendable = oplt().partial_fit(X[:60, : X[:60].indices.max() + 1], Y[:60, :known])
    assert appendable.n_labels_ == known
    appendable.partial_fit(X[60:], Y[60:])
    np.testing.assert_array_equal(
        appendable.predict_proba(X).toarray(), whole.predict_proba(X).toarray()
    )
    # Instances may have fewer or more features than the training set. Features without weights do
    # not matter.
    narrow = X[:, :9]
    wide = sparse.csr_array((narrow.data, narrow.indices, narrow.indptr), shape=(X.shape[0], 1000))
    np.testing.assert_array_equal(
        whole.predict_top_k(wide, 3)[0], whole.predict_top_k(narrow, 3)[0]
    )


def test_progressive_rankings_equal_predictions_before_each_instance():
    X, Y = stream(n=40, seed=6)
    labels, scores = oplt().progressive_top_k(X, Y, 3)
    model = oplt()
    for i in range(40):
        if i > 0 and model.labels_.size:
            expected_labels, expected_scores = model.predict_top_k(X[[i]], 3)
            np.testing.assert_array_equal(scores[[i]], expected_scores)
            np.testing.assert_array_equal(labels[[i]], expected_labels)
        else:
            assert (labels[i] == -1).all()
        model.partial_fit(X[[i]], Y[[i]])


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
    model = oplt(random_state=2).fit(X, Y)
    again = clone(model).partial_fit(X[:30], Y[:30])
    again.partial_fit(X[30:], Y[30:])
    np.testing.assert_array_equal(
        again.fit(X, Y).predict_proba(X).toarray(), model.predict_proba(X).toarray()
    )
    other = clone(model).set_params(random_state=3).fit(X, Y)
    assert not np.array_equal(other.predict_proba(X).toarray(), model.predict_proba(X).toarray())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": "greedy"}, "policy='greedy'"),
        ({"arity": 5, "max_leaf": 4}, "arity=5, max_leaf=4"),
        ({"growth": "program", "warm_start": 0.1}, "warm_start=0.1"),
    ],
)
def test_invalid_hyperparameters_are_refused(parameters, message):
    X, Y = stream(n=5)
    with raises_with(XmlcError, message):
        OPLT(**parameters).partial_fit(X, Y)


def test_inconsistent_data_and_k_of_0_are_refused():
    X, Y = stream(n=5)
    with raises_with(XmlcError, "5 instances", "4"):
        oplt().partial_fit(X, Y[:4])
    with raises_with(XmlcError, "k=0"):
        oplt().progressive_top_k(X, Y, 0)


def test_node_takes_at_most_104_bytes_besides_weights():
    assert NODE.itemsize <= 104


def test_ofo_learns_thresholds_during_training():
    """Section 4.3 of plt2016: the model predicts each instance before OFO and the model learn from
    the instance.
    """
    X, Y = stream(n=80, m=12, seed=7)
    X = unit_rows(X)
    dense = Y.toarray()
    model = oplt().partial_fit(X[[0]], Y[[0]])
    ofo = OFO(a=1.0, b=4.0)
    a = np.full(12, 1.0)
    b = np.full(12, 4.0)
    predicted = 0
    for i in range(1, 80):
        spe = model.predict_proba(X[[i]])
        expected = spe.toarray()[0] > (a / b).astype(np.float32)
        if i > 1:
            np.testing.assert_array_equal(ofo.predict(spe).toarray()[0], expected)
        ofo.partial_fit(spe, Y[[i]])
        model.partial_fit(X[[i]], Y[[i]])
        a += dense[i] & expected
        b += dense[i].astype(int) + expected
        predicted += expected.sum()
    assert 0 < predicted < 12 * 79
    np.testing.assert_array_equal(ofo.thresholds_, (a / b).astype(np.float32))
