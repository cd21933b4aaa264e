"""Stacking: candidates, features and regression, compared with plain implementations."""

import numpy as np
import pytest
from facts import raises_with
from scipy import optimize
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from small_data import equal_bits, random_multilabel

from xmlc import TextClassifier
from xmlc.core.checksums import list_files
from xmlc.core.errors import InvalidParameterError, XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.metrics import propensities
from xmlc.models import PLT, Parabel, SparseWeightedNearestNeighbors, Stacking
from xmlc.models._stacked import (
    calibrated_estimates,
    features_of,
    fit_stacked,
    merge_lists,
    n_features_of,
    row_features,
)
from xmlc.models.registry import load_model
from xmlc.models.stacking import held_out_parts, joined, log_shares
from xmlc.models.wrapped import Wrapped

SMALL = {"n_candidates": 6, "n_jobs": 1}


def candidates_twin(lists, n_labels):
    """Return whether a member ranks a label, (n, m), and the scores of all members, (n, m, M)."""
    scores = np.zeros((len(lists[0][0]), n_labels, len(lists)))
    is_ranked = np.zeros(scores.shape[:2], dtype=bool)
    for member, (labels, own) in enumerate(lists):
        rows, places = np.nonzero(labels >= 0)
        scores[rows, labels[rows, places], member] = own[rows, places]
        is_ranked[rows, labels[rows, places]] = True
    return is_ranked, scores


def features_twin(scores, log_shares):
    mean = scores.mean(axis=1).clip(1e-6, 1 - 1e-6)
    logs = np.column_stack([np.log(scores + 1e-3), log_shares])
    a, b = np.tril_indices(logs.shape[1])
    return np.column_stack([logit(mean), np.ones(len(logs)), logs, logs[:, a] * logs[:, b]])


def row_features_twin(is_candidate, z):
    """Return the features of each instance from the scores ``z`` of all candidates."""
    dense = np.full(is_candidate.shape, -np.inf)
    dense[is_candidate] = z
    best = dense.max(axis=1)
    found = np.column_stack([best, np.log(expit(dense).sum(axis=1) + 1e-3)])
    found[best == -np.inf] = 0
    return found


def with_row_features(is_candidate, z):
    """Return the features of the second regression."""
    of_rows = np.repeat(row_features_twin(is_candidate, z), is_candidate.sum(axis=1), axis=0)
    return np.column_stack([z, np.ones(z.size), of_rows])


@pytest.fixture(scope="module")
def data():
    return random_multilabel(120, 20, 12, labels=2, seed=3)


@pytest.mark.parametrize("n_members", [1, 2, 3])
def test_candidates_features_and_estimates_equal_twins(n_members):
    rng = np.random.default_rng(n_members)
    rows = np.tile(np.arange(9, dtype=np.int32), (n_members, 7, 1))
    labels = rng.permuted(rows, axis=2)[:, :, :4]
    scores = -np.sort(-rng.random(labels.shape), axis=2).astype(np.float32)
    scores[:, 3, 0] = 1
    labels[0, 2, 2:] = -1
    labels[:, 5] = -1  # an instance without candidates
    scores[labels < 0] = 0
    lists = list(zip(labels, scores, strict=True))
    is_ranked, expected = candidates_twin(lists, 9)
    counts, candidates, values = merge_lists(*joined(lists))
    np.testing.assert_array_equal(counts, is_ranked.sum(axis=1))
    np.testing.assert_array_equal(candidates, np.nonzero(is_ranked)[1])
    np.testing.assert_array_equal(values, expected[is_ranked])

    shares = np.log(rng.random(9))
    features = features_of(candidates, values, shares)
    assert features.shape[1] == n_features_of(n_members)
    expected = features_twin(values.astype(float), shares[candidates])
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-12)

    z = rng.normal(size=candidates.size)
    of_rows = row_features(counts, z)
    np.testing.assert_allclose(of_rows, row_features_twin(is_ranked, z), rtol=1e-12)
    calibration = np.array([0.8, -0.3, 0.2, 0.5])
    found = calibrated_estimates(counts, z, of_rows, calibration)
    expected = expit(with_row_features(is_ranked, z) @ calibration)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_regression_minimises_penalised_loss():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(300, 4)) * [1, 5, 0.1, 2]
    start = np.array([1.0, 0, 0, 0])
    true = rng.random(300) < expit(features @ [1, -1, 2, 0.5])
    weights = rng.random(300) * 2
    found = fit_stacked(features, true, weights, start)

    def loss(coefficients):
        z = features @ coefficients
        apart = coefficients - start
        return weights @ (np.logaddexp(0, z) - true * z) + apart @ apart / 2

    expected = optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found, expected.x, atol=1e-4)
    assert loss(found) <= expected.fun * (1 + 1e-9)


def test_regression_is_finite_on_separable_rows_and_without_rows():
    features = np.array([[-1e3, 1.0], [1e3, 1.0]] * 20)
    start = np.array([1.0, 0.0])
    true = np.array([False, True] * 20)
    assert np.isfinite(fit_stacked(features, true, np.ones(40), start)).all()
    none = fit_stacked(features[:0], true[:0], np.ones(0), start)
    np.testing.assert_array_equal(none, start)


@pytest.mark.parametrize(
    ("n", "n_held_out", "sizes"),
    [
        (29, 2000, []),
        (30, 2000, [6] * 5),
        (103, 2000, [20] * 5),
        (4880, 2000, [667] * 3),
        (10_000, 2000, [2000]),
        (50, 7, [7]),
        (100, 0, []),
    ],
)
def test_few_instances_are_held_out_in_several_parts(n, n_held_out, sizes):
    every = []
    parts = list(held_out_parts(n, n_held_out, 3))
    assert [held_out.size for _, held_out in parts] == sizes
    for part, held_out in parts:
        assert sorted([*part, *held_out]) == list(range(n))
        every += held_out.tolist()
    assert len({*every}) == len(every)


def test_estimates_equal_stacking_by_hand(data):
    X, Y = data
    given = [("near", SparseWeightedNearestNeighbors(S=5)), ("tree", PLT(arity=2, epochs=2))]
    model = Stacking(given, random_state=5, n_held_out=40, **SMALL).fit(X, Y)
    order = random_permutation(120, 5, Stream.STACKING)
    members = {name: clone(own) for name, own in given}
    is_candidate = []
    features = []
    for out in (order[:20], order[20:40]):
        part = order[~np.isin(order, out)]
        lists = []
        for name, member in members.items():
            first = clone(member).fit(X[part], Y[part])
            members[name] = member.set_params(**first._selected())
            lists.append(first.predict_top_k(X[out], 6))
        shares = log_shares(Y[part], np.ones(part.size))
        is_ranked, scores = candidates_twin(lists, 12)
        is_candidate.append(is_ranked)
        features.append(features_twin(scores[is_ranked], shares[np.nonzero(is_ranked)[1]]))
    is_candidate = np.vstack(is_candidate)
    features = np.vstack(features)
    true = Y[order[:40]].toarray()[is_candidate]
    weights = np.ones(true.size)
    found = fit_stacked(features, true, weights, np.eye(1, features.shape[1])[0])
    np.testing.assert_allclose(model.coefficients_, found, rtol=1e-9, atol=1e-9)
    logits = with_row_features(is_candidate, features @ found)
    calibration = fit_stacked(logits, true, weights, np.array([1.0, 0, 0, 0]))
    assert calibration[0] > 0
    np.testing.assert_allclose(model.calibration_, calibration, rtol=1e-7, atol=1e-7)
    rows, spe = model._held_out
    np.testing.assert_array_equal(rows, order[:40])
    expected = np.zeros(is_candidate.shape)
    expected[is_candidate] = expit(logits @ calibration)
    np.testing.assert_allclose(spe.toarray(), expected, rtol=1e-5)

    finals = [member.fit(X, Y) for member in members.values()]
    is_ranked, scores = candidates_twin([each.predict_top_k(X, 6) for each in finals], 12)
    shares = log_shares(Y, np.ones(120))
    z = features_twin(scores[is_ranked], shares[np.nonzero(is_ranked)[1]]) @ model.coefficients_
    expected = np.zeros(Y.shape)
    expected[is_ranked] = expit(with_row_features(is_ranked, z) @ model.calibration_)
    np.testing.assert_allclose(model.predict_proba(X).toarray(), expected, rtol=1e-5)
    assert (model.inner_products_ == sum(each.inner_products_ for each in finals)).all()


def test_members_are_refitted_with_hyperparameters_of_first_fit(data, monkeypatch):
    monkeypatch.setattr(PLT, "_chosen_C", lambda model, X, Y, weights: model.C or X.shape[0])
    model = Stacking([("own", PLT()), ("fixed", PLT(C=7))], **SMALL).fit(*data)
    assert [own.C_ for own in model.members_.values()] == [96, 7]
    assert model.estimators[0][1].C is None  # the given estimator is unchanged


def test_estimates_without_held_out_rows_are_mean_scores(data):
    X, Y = data
    model = Stacking(n_held_out=0, n_jobs=1).fit(X, Y)
    assert model._held_out is None
    of_members = [member.predict_proba(X).toarray() for member in model.members_.values()]
    mean = np.mean(of_members, axis=0, dtype=np.float64)
    expected = np.clip(mean, 1e-6, None) * (mean > 0)
    np.testing.assert_allclose(model.predict_proba(X).toarray(), expected, rtol=1e-5)


def test_instance_weights_reach_members_and_regression(data):
    X, Y = data
    weights = np.random.default_rng(6).random(120) + 0.5
    model = Stacking(n_jobs=1).fit(X, Y, sample_weight=weights)
    one = Stacking(n_jobs=1).fit(X, Y, sample_weight=np.ones(120))
    plain = Stacking(n_jobs=1).fit(X, Y)
    assert equal_bits(one.predict_proba(X), plain.predict_proba(X))
    assert not np.allclose(model.coefficients_, plain.coefficients_)
    member = model.members_["hinge"]
    alone = member.unfitted().set_params(**member._selected()).fit(X, Y, sample_weight=weights)
    assert equal_bits(member.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_allclose(
        model.log_shares_, np.log((weights @ Y.toarray() + 0.5) / weights.sum()), rtol=1e-6
    )
    with raises_with(TypeError, "sample_weight"):
        Stacking([("forest", "fastxml")]).fit(X, Y, sample_weight=weights)


def test_fit_works_with_one_instance():
    X, Y = random_multilabel(1, 5, 3, seed=1)
    labels, scores = Stacking(n_jobs=1).fit(X, Y).predict_top_k(X, 3)
    assert labels.shape == (1, 3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("has_label", [True, False])
def test_coefficients_stay_at_their_start_without_candidates(has_label):
    X = np.eye(40)  # no instance has a neighbour
    model = Stacking([("neighbours", "swnn")], n_jobs=1).fit(X, np.full((40, 1), has_label))
    assert model.coefficients_[0] == 1
    assert not model.coefficients_[1:].any()
    assert model.predict(X[:0]).shape == (0, 1)


def test_models_are_bit_identical_on_any_number_of_threads(data):
    X, Y = data
    one = Stacking(n_jobs=1).fit(X, Y)
    four = Stacking(n_jobs=4).fit(X, Y)
    np.testing.assert_array_equal(one.coefficients_, four.coefficients_)
    assert equal_bits(four.predict_proba(X), one.predict_proba(X))


def test_propensities_favour_rare_labels(data):
    X, Y = data
    model = Stacking(n_jobs=1).fit(X, Y)
    dense = model.predict_proba(X).toarray()
    labels, scores = model.set_params(propensity_exponent=0.5).predict_top_k(X, 4)
    p = propensities(Y)
    expected = dense * np.sqrt(p.min() / p)
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :4], rtol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(expected, labels, axis=1), scores, rtol=1e-6)
    one = model.rank_one(X[[0]].indices, X[[0]].data, 4)
    np.testing.assert_array_equal(one, (labels[0], scores[0]))
    np.testing.assert_array_equal(model.predict_proba(X).toarray(), dense)


def test_model_with_adapted_member_is_loaded_if_trusted(data, tmp_path):
    X, Y = data
    one_vs_rest = OneVsRestClassifier(MultinomialNB())
    given = [("near", "swnn"), ("trees", Parabel(n_trees=2)), ("one", one_vs_rest)]
    model = Stacking(given, **SMALL).fit_to_disk(tmp_path / "model", X, Y)
    with raises_with(XmlcError, "trusted=True"):
        load_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model", trusted=True)
    assert isinstance(loaded, Stacking)
    estimates = model.predict_proba(X)
    assert equal_bits(loaded.predict_proba(X), estimates)
    assert equal_bits(clone(loaded).fit(X, Y).predict_proba(X), estimates)


def test_description_without_members_is_refused(data, tmp_path):
    Stacking([("trees", "plt")], **SMALL).fit(*data).save(tmp_path)
    about = read_json(tmp_path / "model.json")
    about["meta"]["members"] = ["plt"]
    write_json(tmp_path / "model.json", about)
    list_files(tmp_path)
    with raises_with(XmlcError, "members", str(tmp_path)):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("n_labels", "members"),
    [(256, ["swnn", "logistic", "hinge"]), (257, ["swnn", "plt"])],
)
def test_default_members_depend_on_the_number_of_labels(n_labels, members, tmp_path):
    X, Y = random_multilabel(40, 10, n_labels, seed=2)
    model = Stacking(n_jobs=1).fit(X, Y)
    assert list(model.members_) == members
    for name in {"logistic", "hinge"} & {*members}:
        assert model.members_[name].tree_.depth.max() == 1
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.estimators is None
    assert list(loaded.members_) == members
    estimates = model.predict_proba(X)
    assert equal_bits(loaded.predict_proba(X), estimates)
    assert equal_bits(clone(loaded).fit(X, Y).predict_proba(X), estimates)


def test_default_members_stay_if_their_hyperparameters_are_set_to_the_present_values():
    model = Stacking()
    assert Stacking().set_params(**model.get_params()).estimators is None
    assert list(model.set_params(plt__arity=4).members(2)) == ["swnn", "plt"]
    assert list(model.set_params(estimators=None).members(2)) == ["swnn", "logistic", "hinge"]


def test_hyperparameters_of_members_are_set_and_read():
    model = Stacking(random_state=3)
    assert model.get_params()["plt__tree"] == "kmeans"
    assert model.get_params()["estimators"] is None
    model.set_params(plt__arity=4, swnn__S=9)
    members = model.members()
    assert (members["plt"].arity, members["swnn"].S, members["plt"].random_state) == (4, 9, 3)
    by_name = [["swnn", {"swnn": {"S": 9}}], ["plt", {"plt": {"arity": 4}}]]
    assert model.get_params()["estimators"] == by_name
    assert clone(model).get_params() == model.get_params()
    assert Stacking([("one", Wrapped(LogisticRegression()))]).get_params()["estimators"] == [
        ["one", "sklearn.linear_model._logistic:LogisticRegression"]
    ]


def seeds_of(model):
    return {name: getattr(member, "random_state", None) for name, member in model.members().items()}


def test_members_given_by_name_have_the_seed_of_the_ensemble_or_their_own():
    given = [("f", "fastxml"), ("p", "plt"), ("r", PLT(random_state=5))]
    own = Stacking(given).set_params(f__random_state=3, p__arity=4)
    in_texts = TextClassifier(clone(own)).set_params(estimator__random_state=7).estimator
    from_params = Stacking().set_params(**own.get_params() | {"random_state": 7})
    for model in (in_texts, from_params, own.set_params(random_state=7)):
        assert seeds_of(model) == {"f": 3, "p": 7, "r": 5}
        assert model.members()["p"].arity == 4


def test_ensemble_in_an_ensemble_passes_its_seed_on():
    model = Stacking([("inner", "stacking")]).set_params(inner__plt__arity=4, random_state=6)
    inner = model.members()["inner"]
    assert inner.random_state == 6
    assert seeds_of(inner)["plt"] == 6
    assert inner.members()["plt"].arity == 4


def test_loaded_ensemble_follows_the_same_rule_for_seeds(data, tmp_path):
    given = [("p", "plt"), ("s", SparseWeightedNearestNeighbors(S=5)), ("r", PLT(random_state=5))]
    model = Stacking(given, random_state=3, **SMALL).set_params(p__arity=4).fit(*data)
    model.save(tmp_path / "model")
    loaded = Stacking.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    for one in (clone(loaded), loaded):
        assert seeds_of(one.set_params(random_state=8)) == {"p": 8, "s": None, "r": 5}
        assert one.members()["p"].arity == 4


def test_members_keep_their_own_threads_if_the_ensemble_has_none():
    model = Stacking([("p", PLT(n_jobs=3)), ("f", "fastxml")], n_jobs=2).set_params(p__arity=4)
    for n_jobs, of_members in ((2, [2, 2]), (None, [3, None])):
        members = model.set_params(n_jobs=n_jobs).members()
        assert [member.n_jobs for member in members.values()] == of_members


@pytest.mark.parametrize(
    ("estimators", "fact"),
    [
        ([], "estimators="),
        ([("a__b", "plt")], "estimators="),
        ([("a" * 300, "plt")], "estimators="),
        ([("plt", "plt"), ("plt", "swnn")], "estimators="),
        (["plt"], "estimators="),
        (3, "estimators="),
        ([("n_jobs", "plt")], "estimators="),
        ([("plt", PLT)], "PLT()"),
        ([("p", {})], "{}"),
        ([("p", {"plt": {}, "swnn": {}})], "swnn"),
        ([("p", {"plt": 4})], "4"),
        ([("p", {"plt": {"arty": 4}})], "arity"),
    ],
)
def test_members_that_are_not_named_estimators_are_refused(data, estimators, fact):
    with raises_with(InvalidParameterError, fact):
        Stacking(estimators).fit(*data)


@pytest.mark.parametrize("name", ["arity", "plt__arty", "pld__arity"])
def test_unknown_hyperparameters_are_refused(name):
    with raises_with(ValueError, repr(name.removeprefix("plt__"))):
        Stacking().set_params(**{name: 2})
