"""Estimators of scikit-learn and of users as models: their estimates equal estimates computed by
hand.
"""

import re
import sys

import numpy as np
import pytest
import yaml
from command_line import rank_and_score
from facts import raises_with
from repository import ROOT
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from small_data import equal_bits, prepare_tiny, random_multilabel, train

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.models import wrapped
from xmlc.models.registry import load_estimator, load_model, make_estimator
from xmlc.models.wrapped import Wrapped

ONE_VS_REST = "sklearn.multiclass:OneVsRestClassifier"
SVM = {"estimator": "sklearn.calibration:CalibratedClassifierCV", "estimator__estimator__C": 0.1}
SVM |= {"estimator__estimator": "sklearn.svm:LinearSVC", "estimator__cv": 2}
EXTENDING = (ROOT / "docs/extending.md").read_text()
OWN = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler


class Shares:
    def __init__(self, scale=1.0, random_state=None):
        self.scale, self.random_state = scale, random_state

    def fit(self, X, Y):
        self.shares = self.scale * Y.mean(axis=0)

    def predict_proba(self, X):
        return np.tile(self.shares, (X.shape[0], 1))


MADE = LogisticRegression()


def scaled(C=1.0):
    return make_pipeline(MaxAbsScaler(), OneVsRestClassifier(LogisticRegression(C=C)))
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "of_mine", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "of_mine.py").write_text(OWN)


def by_hand(model, X, Y, X_test):
    """Return the estimates of scikit-learn as a matrix, also if they are a list of two columns for
    each label.
    """
    found = model.fit(X, Y.toarray().astype(int)).predict_proba(X_test)
    if isinstance(found, list):
        return np.stack([one[:, 1] for one in found], axis=1)
    return found


@pytest.mark.parametrize(
    ("name", "given", "same"),
    [
        ("sklearn.neighbors:KNeighborsClassifier", {"n_neighbors": 7}, KNeighborsClassifier(7)),
        (
            "sklearn.ensemble:RandomForestClassifier",
            {"n_estimators": 10},
            RandomForestClassifier(10, random_state=3),
        ),
        (
            ONE_VS_REST,
            SVM,
            OneVsRestClassifier(CalibratedClassifierCV(LinearSVC(C=0.1, random_state=3), cv=2)),
        ),
        (
            "sklearn.neural_network:MLPClassifier",
            {"hidden_layer_sizes": [5], "max_iter": 20},
            MLPClassifier([5], max_iter=20, random_state=3),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_estimates_equal_scikit_learn(name, given, same, tmp_path, monkeypatch):
    X, Y = random_multilabel(120, 15, 6)
    X_test, _ = random_multilabel(40, 15, 6, seed=1)
    model = make_estimator(name, given, seed=3, n_jobs=1).fit(X, Y)
    monkeypatch.setattr(wrapped, "ENTRIES", 6 * 11)  # blocks of 11 instances
    spe = model.predict_proba(X_test)
    dense = spe.toarray()
    assert spe.dtype == np.float32
    np.testing.assert_allclose(dense, by_hand(same, X, Y, X_test), atol=1e-6)
    thresholds = np.linspace(0, 0.5, 6, dtype=np.float32)
    above = model.predict_proba(X_test, thresholds).toarray()
    np.testing.assert_array_equal(above, np.where(dense > thresholds, dense, 0))
    _, scores = model.predict_top_k(X_test, 2)
    np.testing.assert_array_equal(scores, -np.sort(-dense, axis=1)[:, :2])
    model.save(tmp_path / "model")
    with raises_with(XmlcError, "joblib", "trusted=True"):
        load_model(tmp_path / "model")
    by_name = load_estimator(name, tmp_path / "model", 1)
    for loaded in (by_name, load_model(tmp_path / "model", trusted=True)):
        assert equal_bits(loaded.predict_proba(X_test), spe)
        assert {**given, "n_jobs": 1}.items() >= loaded.get_params().items() >= given.items()


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_labels_of_no_instance_or_all_instances_get_estimate_0_or_1(multilabel):
    X, Y = multilabel(60, 10, 5)
    dense = Y.toarray()
    dense[:, 1] = 0
    dense[:, 3] = 1
    for estimator in (KNeighborsClassifier(3), OneVsRestClassifier(LogisticRegression())):
        alone = estimator.fit(X, dense[:, 0]).predict_proba(X)[:, 1]
        for columns in ([0, 1, 3, 2, 4], [0, 1, 3]):  # the last three columns leave one to learn
            model = Wrapped(estimator).fit(X, dense[:, columns])
            found = model.predict_proba(X).toarray()
            assert not found[:, 1].any()
            assert (found[:, 2] == 1).all()
            np.testing.assert_allclose(found[:, 0], alone, atol=1e-6)
    assert model.predict_proba(X[:0]).shape == (0, 3)
    assert model.predict_top_k(X[:0], 2)[0].shape == (0, 2)
    with raises_with(XmlcError, "Y", "60 instances"):
        Wrapped(KNeighborsClassifier()).fit(X, dense[:, [1, 3]])


class FixedResult:
    """An estimator that returns the given result."""

    def __init__(self, result):
        self.result = result

    def fit(self, X, Y):
        assert Y.shape[1] == 2

    def predict_proba(self, X):
        return self.result


MATRIX = np.array([[0.25, 0], [1, 0.5]])
OF_LABELS = [np.array([[0.75, 0.25], [0, 1]]), np.array([[1], [0.5]])]


@pytest.fixture
def of_result():
    """Return the function that fits an estimator with a given result."""
    Y = np.array([[1, 0], [0, 1], [0, 0]])
    return lambda result: Wrapped(FixedResult(result)).fit(np.eye(3), Y)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (sparse.csc_array(MATRIX), MATRIX),
        (OF_LABELS, [[0.25, 1], [1, 0.5]]),
        (np.array([[0.25, 1 + 1e-7], [0, 0]]), [[0.25, 1], [0, 0]]),
    ],
)
def test_estimates_are_read_from_matrices_and_lists(of_result, result, expected):
    found = of_result(result).predict_proba(np.eye(3)[:2])
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize(
    ("result", "fact"),
    [
        (np.array([[0.25, 1.5], [0, 0]]), "1.5"),
        (np.array([[0.25, np.nan], [0, 0]]), "nan"),
        (np.zeros((2, 3)), "(2, 3)"),
        ([np.zeros((2, 2))], "(2, 1)"),
        (np.zeros(2), "(2,)"),
    ],
)
def test_results_that_are_no_estimates_are_refused(of_result, result, fact):
    with raises_with(XmlcError, "FixedResult.predict_proba", fact):
        of_result(result).predict_proba(np.eye(3)[:2])


def test_large_dense_label_sets_are_refused_and_model_stays_unchanged(multilabel, monkeypatch):
    X, Y = multilabel(60, 10, 5)
    model = Wrapped(KNeighborsClassifier(3)).fit(X, Y)
    before = model.predict_proba(X)
    monkeypatch.setattr(wrapped, "MOST_BYTES", 8 * 60 * 5 - 1)
    with raises_with(
        XmlcError, "KNeighborsClassifier", (60, 5), "sklearn.multiclass:OneVsRestClassifier"
    ):
        model.fit(X[:, :4], Y)
    assert equal_bits(model.predict_proba(X), before)
    Wrapped(OneVsRestClassifier(LogisticRegression())).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "given", "facts"),
    [
        (ONE_VS_REST, {"estimator": "sklearn.naive_bayes:GaussianNB"}, "GaussianNB"),
        ("of_mine.py:np", {}, ["of_mine.py:np", "predict_proba"]),
        ("of_mine.py:MADE", {}, ["of_mine.py:MADE", "LogisticRegression()"]),
        ("of_mine.py:Share", {}, ["no class Share in of_mine.py", "expected Shares"]),
        ("./a.csv:Share", {}, ["./a.csv:Share", "path/to/file.py:ClassName"]),
        (".mine:Share", {}, [".mine:Share", "package.module:ClassName"]),
        ("of_mine.py:Shares", {"estimator": 1}, ["of_mine.py:Shares", "estimator", "scale"]),
    ],
)
def test_unsuitable_estimators_are_refused(own_module, name, given, facts):
    with raises_with(XmlcError, facts):
        make_estimator(name, given, seed=0)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("of_mine.py:Shares", {"scale": 0.5}),
        ("of_mine.py:scaled", {"C": 2.0, "onevsrestclassifier__estimator__tol": 0.01}),
        # more neighbours than the rows of a usual warm-up
        ("sklearn.neighbors:KNeighborsClassifier", {"n_neighbors": 20}),
    ],
)
def test_workflow_steps_accept_adapted_estimators(own_module, tmp_path, name, given):
    about = train(tmp_path, prepare_tiny(tmp_path), name, **given)
    rank_and_score(*about[1::2], tmp_path / "ranking.json")
    training = read_json(tmp_path / "train.json")
    ranking = read_json(tmp_path / "ranking.json")
    assert training["hyperparameters"] == given
    assert "sklearn" in training["environment"]
    assert ranking["metrics"]["p@1"] > 0
    assert ranking["costs"]["inner_products_per_instance"] is None


def test_examples_of_documentation_page_can_be_fitted(tmp_path, monkeypatch, multilabel):
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"^```(python|yaml)\n(.*?)^```$", EXTENDING, re.MULTILINE | re.DOTALL)
    (code,) = (text for _, text in found if text.startswith("# my_estimator.py\n"))
    (tmp_path / "my_estimator.py").write_text(code)
    models = yaml.safe_load(next(text for language, text in found if language == "yaml"))["models"]
    X, Y = multilabel(60, 10, 5)
    for model in models.values():
        made = make_estimator(model["estimator"], model["hyperparameters"], seed=0)
        assert made.fit(X, Y).predict_proba(X).nnz > 0


def test_unpicklable_estimators_and_changed_files_are_refused(tmp_path):
    X = np.eye(4)
    Y = np.array([[1, 0], [0, 1], [0, 0], [0, 1]])
    with raises_with(XmlcError, "Wrapped"):
        Wrapped(FixedResult(lambda: 0)).fit(X, Y).save(tmp_path / "model")
    Wrapped(KNeighborsClassifier(1)).fit(X, Y).save(tmp_path / "model")
    with (tmp_path / "model/estimator.joblib").open("ab") as file:
        file.write(b"x")
    with raises_with(XmlcError, "estimator.joblib"):
        load_model(tmp_path / "model", trusted=True)


VOTING = VotingClassifier([("a", LogisticRegression())])


@pytest.mark.parametrize(
    ("estimator", "facts"),
    [
        (
            LogisticRegression(),
            ["LogisticRegression", "Wrapped(OneVsRestClassifier(LogisticRegression(...)))"],
        ),
        (OneVsRestClassifier(LinearSVC()), ["LinearSVC", "CalibratedClassifierCV"]),
        (OneVsRestClassifier(VOTING), ["VotingClassifier", "voting='soft'"]),
        (OneVsRestClassifier(HistGradientBoostingClassifier()), "HistGradientBoostingClassifier"),
        (KNeighborsClassifier(n_neighbors=0), "n_neighbors"),
        (KNeighborsClassifier, "Wrapped(KNeighborsClassifier(...))"),
        (MaxAbsScaler(), ["MaxAbsScaler", "predict_proba"]),
        ("sklearn.neighbors:KNeighborsClassifier", "'sklearn.neighbors:KNeighborsClassifier'"),
    ],
)
def test_estimators_that_cannot_learn_label_sets_are_refused(estimator, facts, multilabel):
    with raises_with(XmlcError, facts):
        Wrapped(estimator).fit(*multilabel(30, 5, 3))


def test_estimators_in_lists_are_created_by_name(multilabel):
    voting = {
        "estimator": "sklearn.ensemble:VotingClassifier",
        "estimator__voting": "soft",
        "estimator__a__C": 3.0,
        "estimator__estimators": [["a", "sklearn.linear_model:LogisticRegression"]],
    }
    model = make_estimator(ONE_VS_REST, voting, seed=5)
    inner = model.estimator.estimator.estimators[0][1]
    assert (inner.C, inner.random_state) == (3.0, 5)
    assert model.fit(*multilabel(30, 5, 3)).predict_proba(np.eye(5)).shape == (5, 3)


class Seeded(FixedResult):
    """An estimator with a parameter whose name only ends in `random_state`."""

    def __init__(self, split_random_state=None):
        self.split_random_state = split_random_state

    def get_params(self, deep=True):
        return vars(self)


def test_seed_is_set_only_for_parameters_named_random_state():
    assert wrapped.adapt("Seeded", Seeded, {}, seed=7).estimator.split_random_state is None
