"""Extreme data and hyperparameters give probabilities and labels, or an error with advice."""

import numpy as np
import pytest
from facts import absent, raises_with

from xmlc.core.errors import XmlcError
from xmlc.kernels.domains import MANY, PASSES
from xmlc.models import registry

RNG = np.random.default_rng(0)
SIGNS = RNG.choice([-1, 1], (25, 9))
SHAPE = (25, 9)
SPARSE = RNG.random(SHAPE) < 0.7
Y = RNG.random((25, 6)) < 0.3
PLAIN = (SPARSE * RNG.random(SHAPE)).astype(np.float32)
EMPTY_ROW = PLAIN * (np.arange(25) != 3)[:, None]
EMPTY_SET = Y & (np.arange(25) != 3)[:, None]
with np.errstate(under="ignore"):
    MIXED = (SPARSE * SIGNS * 10.0 ** RNG.uniform(-45, 37, SHAPE)).astype(np.float32)
    TINY = (SPARSE * SIGNS * 10.0 ** RNG.uniform(-45, -38, SHAPE)).astype(np.float32)
DATA = {
    "from 1e-45 to 1e37": (MIXED, Y),
    "below 1e-38": (TINY, Y),
    "around 1e37": (SIGNS * PLAIN * np.float32(1e37), Y),
    "around 1e19": (SIGNS * PLAIN * np.float32(1e19), Y),
    "ties": (np.tile(PLAIN[:1], (25, 1)), Y),
    "one row": (PLAIN[:1], Y[:1]),
    "one label": (PLAIN, Y[:, :1]),
    "all labels": (PLAIN, np.ones_like(Y)),
    "no labels": (PLAIN, np.zeros_like(Y)),
    "an empty row": (EMPTY_ROW, EMPTY_SET),
    "one feature": (PLAIN[:, :1], Y),
}
PLT = {"epochs": 2, "unit_norm": False}
LDSM = {"n_trees": 1, "unit_norm": False}
OPLT = {"gamma": 1.0, "unit_norm": False}
MODELS = {
    "plt": [
        {"epochs": 2},
        PLT | {"solver": "sgd", "beam": MANY, "arity": MANY, "tree": "random"},
        PLT | {"solver": "adagrad", "eps": 1e-300, "search": "exact"},
        PLT | {"solver": "batch", "loss": "squared_hinge", "C": 1e9, "weight_threshold": 0},
        PLT | {"hash_bits": 4, "gamma": 1e9, "lam": 1e9, "search": "beam"},
    ],
    "parabel": [
        {"n_trees": 1, "C": 1.0, "unit_norm": False, "max_leaf": 2},
        {"n_trees": 1, "C": 1.0, "beam": MANY},
    ],
    "fastxml": [
        {"n_trees": 2},
        {"n_trees": 2, "max_leaf": 1, "alpha": 0.5, "propensity_weighted": True},
    ],
    "ldsm": [
        LDSM,
        LDSM | {"optimizer": "sgd", "arity": 8, "learning_rate": 1e9, "beta": 0.5},
    ],
    "oplt": [
        {"gamma": 1.0},
        OPLT | {"max_leaf": 6},
        OPLT | {"gamma": 1e9, "policy": "random", "eps": 1e-300},
        OPLT | {"max_leaf": MANY},
    ],
    "br": [{"C": 1.0}, {"C": 1e9, "standardize": False}],
    "pcc": [{"C": 1.0, "n_samples": 3}],
    "swnn": [
        {"beta": 50.0, "S": 3, "alpha": 1},
        {"beta": 1e4, "alpha": 1e4, "S": PASSES},
        {"beta": 0},
    ],
}
CASES = []
for name, settings in MODELS.items():
    for values in settings:
        CASES.append((name, values))


def check_predictions(model, X):
    """Check the arrays, estimates, label sets and rankings of a model."""
    m = model.n_labels_
    for array in model._state()[0].values():
        assert array.dtype != np.float32 or np.isfinite(array).all()
    estimates = model.predict_proba(X)
    assert estimates.shape == (len(X), m)
    assert ((estimates.data > 0) & (estimates.data <= 1 + 1e-6)).all()
    assert model.predict(X).shape == (len(X), m)
    rankings = [model.predict_top_k(X, 4)]
    for row in X[:3]:
        labels, scores = model.rank_one(np.flatnonzero(row), row[row != 0], 4)
        rankings.append((labels[None], scores[None]))
    for labels, scores in rankings:
        assert ((labels >= -1) & (labels < m)).all()
        for row in labels:
            assert np.unique(row[row >= 0]).size == (row >= 0).sum()
        assert (scores[:, :-1] >= scores[:, 1:]).all()  # The check also fails for NaN.


@pytest.mark.parametrize(("name", "values"), CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_extreme_data_are_learned_or_refused_with_advice(name, values):
    for kind, (X, truth) in DATA.items():
        model = registry.make_estimator(name, values, -1, 1)
        refused = ""
        try:
            model.fit(X, truth)
        except XmlcError as error:
            refused = str(error)
        if refused:
            facts = [type(model).__name__, "single precision", "MaxAbsScaler", f"{abs(X).max():g}"]
            assert absent(refused, *facts) == [], kind
            assert not model._is_fitted()
            continue
        check_predictions(model, X)
        others = np.vstack([X, 1e30 * X, 1e-30 * X, 0 * X]).clip(-1e37, 1e37)
        check_predictions(model, others.astype(np.float32))


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
def test_refused_instances_leave_streaming_model_unchanged(policy):
    model = registry.make_estimator(
        "oplt", {"policy": policy, "max_leaf": 6, "unit_norm": False}, 0, 1
    )
    with raises_with(XmlcError, "OPLT", "1e+19"):
        model.fit(PLAIN / PLAIN.max() * np.float32(1e19), Y)
    assert not model._is_fitted()
    model.partial_fit(PLAIN, Y)
    before = model.predict_proba(PLAIN)
    learned = model.n_instances_
    for learn in (model.partial_fit, model.progressive_top_k, model.fit):
        with raises_with(XmlcError, "OPLT", "MaxAbsScaler"):
            learn(PLAIN * np.float32(1e37), Y)
        assert model.n_instances_ == learned
        assert abs(model.predict_proba(PLAIN) - before).nnz == 0
