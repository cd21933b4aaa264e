"""Errors of the library: their classes, also for users of scikit-learn, and their advice."""

import pickle

import numpy as np
import pytest
from facts import absent, raises_with
from scipy import sparse
from small_data import random_multilabel

import xmlc
from xmlc.core.errors import (
    InvalidDataError,
    InvalidParameterError,
    MissingFileError,
    NotFittedError,
    XmlcError,
)
from xmlc.inference import gfm, gfm_t, marginals_of
from xmlc.metrics import macro_f, precision_at_k, propensities
from xmlc.models import OPLT, PLT, Parabel, Stacking
from xmlc.models.registry import make_estimator
from xmlc.models.texts import TextClassifier
from xmlc.models.wrapped import Wrapped
from xmlc.thresholds import FTA, STO, OutOfFold

X, Y = random_multilabel(40, 12, 5)
SPE = sparse.csr_array(Y * np.float32(0.5))
TEXTS = ["boil rice", "prune roses"] * 20
CLASSES = np.arange(40) % 3


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: PLT().fit(TEXTS, Y), ["numbers", "'boil rice'", "TextClassifier"]),
        (lambda: PLT().fit(np.array(TEXTS, dtype=object), Y), "TextClassifier"),
        (lambda: PLT().fit([{"word": 1.0}] * 40, Y), "DictVectorizer"),
        (lambda: PLT().fit("train.txt", Y), ["'train.txt'", "xmlc.data.load"]),
        (lambda: PLT().fit(None, Y), "None"),
        (lambda: PLT().fit(X[:3], Y), ["3 instances", "40"]),
        (lambda: PLT().fit(X, CLASSES), ["[[one] for one in y]", "np.reshape"]),
        (lambda: PLT().fit(X, CLASSES.reshape(-1, 1)), ["2", "row 2", "[[one] for one in y]"]),
        (lambda: macro_f(Y, SPE), "apply_thresholds"),
        # swapped arguments
        (lambda: PLT().fit(Y, X), "PLT.fit(X, Y)"),
        (lambda: OPLT().partial_fit(Y, X), "OPLT.partial_fit(X, Y)"),
        (lambda: OutOfFold(PLT()).fit(Y, X), "OutOfFold.fit(X, Y)"),
        (lambda: STO().fit(Y, SPE), "fit(spe, Y)"),
        (lambda: macro_f(SPE, Y), "(Y, Y_hat)"),
        (lambda: precision_at_k(np.tile(np.arange(3), (40, 1)), Y, 1), "(Y, labels, k)"),
        (lambda: TextClassifier().fit([["a"]] * 40, TEXTS), "(texts, label_lists)"),
    ],
)  # fmt: skip
def test_error_shows_given_value_and_how_to_pass_it(call, facts):
    with raises_with(InvalidDataError, facts):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: Wrapped(PLT()).set_params(ariti=3),
        lambda: macro_f(Y, Y, beta="1"),
        lambda: propensities(Y, None),
        lambda: gfm_t(SPE, n_thresholds="x"),
        lambda: FTA(grid=3).fit(SPE, Y),
        lambda: STO(overlap="f1").fit(SPE, Y),
        lambda: gfm(TEXTS),
        lambda: gfm(sparse.csr_array(np.eye(3)), 0.1),
        lambda: marginals_of(SPE),
        lambda: OutOfFold("plt").fit(X, Y),
        lambda: PLT.load(3),
        lambda: xmlc.data.load(None),
        lambda: PLT().fit(X, Y).save(None),
        lambda: xmlc.load_model(b"model"),
        lambda: PLT().fit(X, Y).rank_one([0], ["a"]),
        lambda: TextClassifier().fit(TEXTS, None),
        lambda: TextClassifier().fit([], []),
        lambda: TextClassifier().fit(TEXTS, [["a\ud800"]] * 40),
        lambda: TextClassifier(None, "tfidf").fit(TEXTS, [["a"]] * 40),
        lambda: TextClassifier().fit(TEXTS, [["a"], ["b"]] * 20).predict(TEXTS, 0),
    ],
)  # fmt: skip
def test_invalid_values_raise_value_error(call):
    with pytest.raises(XmlcError) as raised:
        call()
    assert isinstance(raised.value, ValueError)


def test_unfitted_model_raises_picklable_not_fitted_error():
    with pytest.raises(XmlcError) as raised:
        PLT().predict(X)
    for error in (raised.value, pickle.loads(pickle.dumps(raised.value))):
        assert isinstance(error, NotFittedError)
        assert absent(str(error), "PLT", "fit") == []


@pytest.mark.parametrize("load", [PLT.load, Wrapped.load, xmlc.load_model, xmlc.data.load])
def test_missing_path_raises_file_not_found_error(load, tmp_path):
    with raises_with(MissingFileError, "nowhere"):
        load(tmp_path / "nowhere")
    assert issubclass(MissingFileError, FileNotFoundError)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: Parabel(arity=6).fit(X, Y), "arity=6"),
        (lambda: OPLT(arity=6, warm_start=1.0).fit(X, Y), "arity=6"),
        (lambda: Stacking([("plt", PLT(arity=3))]).fit(X, Y), "arity=3"),
        (lambda: TextClassifier(PLT()).set_params(estimator__ariti=3), ["'ariti'", "arity"]),
        (lambda: make_estimator("plt", {"gama": 1}, 0), ["gama", "gamma"]),
        (
            lambda: make_estimator("sklearn.linear_model:LogisticRegression", {"c": 1}, 0),
            ["'c'", "C"],
        ),
    ],
)
def test_wrong_value_of_a_parameter_raises_invalid_parameter_error(call, facts):
    with raises_with(InvalidParameterError, facts):
        call()
    assert issubclass(InvalidParameterError, ValueError)


@pytest.mark.parametrize(
    "names",
    [
        [["a"], ["b"], ["c"], ["d"], ["e"]],
        "abcde",
        set("abcde"),
        dict.fromkeys("abcde"),
        3,
        [True, False, "a", "b", "c"],
        ["a", "b", "c", "d", float("nan")],
        ["a", "b", "c", "d"],
        ["a", "b", "c", "d", "d"],
        np.eye(5),
    ],
)
def test_label_names_that_are_not_a_list_of_names_are_refused(names):
    model = PLT(n_jobs=1).fit(X, Y)
    with raises_with(InvalidDataError, "label names"):
        model.name_labels(names)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "names", [np.array(list("abcde")), iter("abcde"), dict.fromkeys("abcde").keys()]
)
def test_label_names_may_be_any_ordered_collection(names):
    assert PLT(n_jobs=1).fit(X, Y).name_labels(names).classes_.tolist() == list("abcde")
