"""Vowpal Wabbit behind our interface: the extra `peers` must be installed, as it is in CI."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.models.peers import vowpalwabbit as peer
from xmlc.models.peers.vowpalwabbit import VowpalWabbitPLT

pytestmark = pytest.mark.needs("peers")
SMALL = {"arity": 4, "passes": 10, "hash_bits": 16}


@pytest.fixture
def fitted(multilabel):
    """A fitted model and its data: 11 labels below nodes of 4, so that the tree has 2 places for none."""
    X, Y = multilabel(300, 20, 11, density=0.5)
    return VowpalWabbitPLT(**SMALL).fit(X, Y), X, Y


def driver_answers(model, X, folder, *asked):
    """The program's own run over a file: no instance goes through its Python interface."""
    import vowpalwabbit

    data, answers = folder / "test.vw", folder / "answers.txt"
    lines = [" ".join(f"{j}:{value!r}" for j, value in enumerate(row) if value) for row in X.toarray().tolist()]
    data.write_text("".join(f"| {line}\n" for line in lines))
    options = ["--quiet", "--testonly", "--loss_function", "logistic", "--initial_regressor", str(model / "model.vw")]
    options += ["--probabilities", *asked, "--data", str(data), "--predictions", str(answers)]
    vowpalwabbit.Workspace(arg_list=options).finish()
    pairs = [[pair.split(":") for pair in line.split(",") if pair] for line in answers.read_text().splitlines()]
    return [[(int(label), float(p)) for label, p in row] for row in pairs]


def test_it_answers_as_the_programs_own_driver_does(tmp_path, multilabel):
    X, Y = multilabel(300, 20, 11, density=0.5)
    model = VowpalWabbitPLT(**SMALL, unit_norm=False).fit(X, Y)
    model.save(tmp_path / "model")
    expected = np.zeros(Y.shape, dtype=np.float32)
    answers = driver_answers(tmp_path / "model", X, tmp_path, "--threshold", "0")
    assert {label for row in answers for label, _ in row} == set(range(13))  # two labels do not exist
    for row, answer in enumerate(answers):
        for label, estimate in answer:
            if label < 11:
                expected[row, label] = estimate
    # Its reading of decimals may be one unit of single precision off.
    np.testing.assert_allclose(model.predict_proba(X).toarray(), expected, rtol=0, atol=2.1e-6)
    assert model.inner_products_ is None


def test_labels_that_do_not_exist_take_no_place_in_the_ranking(fitted):
    model, X, Y = fitted
    estimates = model.predict_proba(X).toarray()
    for k in (1, 5, 20):
        labels, scores = model.predict_top_k(X, k)
        assert (labels.dtype, scores.dtype, labels.shape) == (np.int32, np.float32, (300, k))
        assert ((labels >= 0).sum(axis=1) == min(k, 11)).all()
        assert labels.max() < 11
        filled = min(k, 11)
        np.testing.assert_array_equal(scores[:, :filled], -np.sort(-estimates, axis=1)[:, :filled])
        np.testing.assert_array_equal(np.take_along_axis(estimates, labels[:, :filled], axis=1), scores[:, :filled])
    assert Y.toarray()[np.arange(300), model.predict_top_k(X, 1)[0][:, 0]].mean() > 0.6


@pytest.mark.parametrize("arity", [2, 3, 16])
@pytest.mark.parametrize("n_labels", [2, 3, 9, 16, 17, 40])
def test_the_number_of_labels_that_do_not_exist_is_that_of_the_program(multilabel, arity, n_labels):
    X, Y = multilabel(40, 10, n_labels, density=0.5)
    model = VowpalWabbitPLT(arity=arity, passes=1, hash_bits=12).fit(X, Y)
    program, answers = model._workspace("--threshold", "0")
    for pairs in peer.vw_pairs(model._scaled(X[:1])):
        peer._answer(program, pairs)
    (line,) = answers.read().decode().splitlines()
    assert line.count(":") == n_labels + model._phantoms()


def test_scores_above_a_threshold_are_the_others_left_out(fitted):
    model, X, _ = fitted
    everything = model.predict_proba(X).toarray()
    for limits in (0.3, everything[5, 3], np.linspace(0, 1, 11), np.full(11, np.inf)):
        spe = model.predict_proba(X, limits)
        assert spe.dtype == np.float32
        np.testing.assert_array_equal(spe.toarray(), np.where(everything > np.float32(limits), everything, 0))


def test_estimates_are_probabilities(multilabel):
    X, Y = multilabel(2000, 20, 3, density=0.5)
    known = np.diff(Y.indptr) > 0  # the program learns nothing from the others
    model = VowpalWabbitPLT(**SMALL).fit(X[known], Y[known])
    estimates = model.predict_proba(X[known]).toarray()
    np.testing.assert_allclose(estimates.mean(axis=0), Y[known].toarray().mean(axis=0), atol=0.05)


def test_instances_without_labels_teach_nothing_and_those_without_features_are_no_obstacle(multilabel):
    X, Y = multilabel(300, 20, 6, density=0.5)
    features, labels = X.toarray(), Y.toarray()
    features[:20], labels[10:150] = 0, False
    X, Y = sparse.csr_array(features), sparse.csr_array(labels)
    known = np.diff(Y.indptr) > 0
    estimates = VowpalWabbitPLT(**SMALL).fit(X, Y).predict_proba(X).toarray()
    np.testing.assert_array_equal(
        estimates, VowpalWabbitPLT(**SMALL).fit(X[known], Y[known]).predict_proba(X).toarray()
    )
    assert (estimates[:20] == estimates[0]).all()
    assert (estimates[0] > 0).all()


def test_it_survives_save_and_load_and_gives_the_same_twice(tmp_path, fitted):
    model, X, Y = fitted
    model.save(tmp_path / "model")
    loaded = VowpalWabbitPLT.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    expected = model.predict_proba(X).toarray()
    for _ in range(2):  # asked in another way between
        np.testing.assert_array_equal(loaded.predict_proba(X).toarray(), expected)
        np.testing.assert_array_equal(loaded.predict_top_k(X, 3)[0], model.predict_top_k(X, 3)[0])
    loaded.save(tmp_path / "copy")
    np.testing.assert_array_equal(VowpalWabbitPLT.load(tmp_path / "copy").predict_proba(X).toarray(), expected)
    np.testing.assert_array_equal(VowpalWabbitPLT(**SMALL).fit(X, Y).predict_proba(X).toarray(), expected)
    assert loaded.predict_proba(X[:0]).shape == (0, 11)


def test_options_reach_the_program(multilabel):
    X, Y = multilabel(300, 20, 11, density=0.5)
    usual = VowpalWabbitPLT(**SMALL).fit(X, Y).predict_proba(X).toarray()
    for change in ({"optimizer": "sgd"}, {"eta": 0.1}, {"passes": 1}, {"arity": 2}, {"unit_norm": False}):
        changed = VowpalWabbitPLT(**(SMALL | change)).fit(X, Y).predict_proba(X).toarray()
        assert np.abs(changed - usual).max() > 0.01, change
