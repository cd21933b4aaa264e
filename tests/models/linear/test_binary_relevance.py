import itertools
import warnings

import numpy as np
import pytest
from facts import raises_with, warns_with
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from xmlc.core.errors import XmlcError
from xmlc.kernels import elementwise
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.float64 import sigmoid
from xmlc.models import BinaryRelevance
from xmlc.models.linear import label_logistic
from xmlc.models.linear.binary_relevance import sigmoids_above


@pytest.fixture(scope="module")
def problem():
    """Return 60 instances and 4 labels, with features of various scales.

    Label 2 is never positive, label 3 always.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [0.1, 1, 5, 1, 0] + [0, 1, 0, 0, 2]
    X[rng.random(X.shape) < 0.2] = 0
    X[:, 4] = 2
    Y = X[:, :4] @ rng.normal(size=(4, 4)) / 3 + rng.normal(size=(60, 4)) > 0
    Y[:, 2] = False
    Y[:, 3] = True
    return sparse.csr_array(X.astype(np.float32)), sparse.csr_array(Y)


@pytest.mark.parametrize("standardize", [True, False])
def test_estimates_equal_scikit_learn(problem, standardize):
    X, Y = problem
    spe = BinaryRelevance(C=0.3, standardize=standardize).fit(X, Y).predict_proba(X).toarray()
    dense = X.toarray().astype(np.float64)
    if standardize:
        dense[:, :4] /= dense[:, :4].std(axis=0, ddof=1)  # the last feature is constant
    for j in range(2):
        baseline = LogisticRegression(C=0.3, tol=1e-12, solver="newton-cholesky")
        expected = baseline.fit(dense, Y.toarray()[:, j]).predict_proba(dense)[:, 1]
        np.testing.assert_allclose(spe[:, j], expected, atol=1e-6)


def test_labels_with_one_class_are_certain(problem):
    X, Y = problem
    model = BinaryRelevance().fit(X, Y)
    spe = model.predict_proba(X).toarray()
    assert (spe[:, 2] < 1e-12).all()
    assert (spe[:, 3] > 1 - 1e-6).all()
    assert np.isnan(model.C_[2:]).all()
    assert not np.isnan(model.C_[:2]).any()
    assert (model.predict_proba(X, threshold=0.5).toarray() == np.where(spe > 0.5, spe, 0)).all()


def test_validation_losses_equal_scikit_learn(problem):
    X, Y = problem
    grid = (0.01, 0.3, 4.0)
    model = BinaryRelevance(C_grid=grid, standardize=False, common=False).fit(X, Y)
    fold_of = random_permutation(60, 0, Stream.LOGISTIC_FOLD) % 3
    dense = X.toarray().astype(np.float64)
    for j, fold, place in itertools.product(range(2), range(3), range(3)):
        y = Y.toarray()[:, j]
        inside = fold_of != fold
        single = LogisticRegression(C=grid[place], tol=1e-12, solver="newton-cholesky")
        estimates = single.fit(dense[inside], y[inside]).predict_proba(dense[~inside])
        loss = log_loss(y[~inside], estimates[:, 1], labels=[False, True])
        assert model.losses_[j, fold, place] == pytest.approx(loss, rel=1e-6)
    assert np.isnan(model.losses_[2:]).all()


def test_model_is_bit_identical_for_any_threads_and_blocks(problem, monkeypatch):
    X, Y = problem
    one = BinaryRelevance(n_jobs=1).fit(X, Y)
    whole = one.predict_proba(X, 0.1)
    monkeypatch.setattr(label_logistic, "CELLS", 28)
    monkeypatch.setattr(label_logistic, "LABELS_PER_TASK", 1)
    several = BinaryRelevance(n_jobs=8).fit(X, Y)
    for name in ("weights_", "constants_", "C_", "losses_", "decrements_"):
        assert getattr(several, name).tobytes() == getattr(one, name).tobytes()
    assert (whole != several.predict_proba(X, 0.1)).nnz == 0
    assert (several.inner_products_ == 4).all()


def test_fit_warns_if_solver_misses_tolerance(problem, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BinaryRelevance(C=5.0).fit(*problem)
    assert (model.decrements_[:2] <= 1e-20).all()
    assert np.isnan(model.decrements_[2:]).all()
    monkeypatch.setattr(label_logistic, "TOLERANCE", 0.0)
    with warns_with(RuntimeWarning, "2 of 4 labels"):
        BinaryRelevance(C=5.0).fit(*problem)


def test_fit_works_without_features_or_positives():
    Y = np.arange(12)[:, None] % 3 == 0
    without_features = BinaryRelevance().fit(np.zeros((12, 0)), Y)
    assert np.allclose(without_features.predict_proba(np.zeros((2, 0))).toarray(), 1 / 3)
    # The training part of each fold has only one class. All values of C are equal, so fit selects
    # the smallest.
    two = BinaryRelevance().fit(np.ones((2, 3)), [[True], [False]])
    assert np.isnan(two.losses_).all()
    assert two.C_.tolist() == [two.C_grid[0]]
    nobody = BinaryRelevance(n_jobs=2).fit(np.ones((5, 3)), np.zeros((5, 2), dtype=bool))
    assert nobody.predict_proba(np.ones((1, 3))).nnz == 0


def test_too_many_weights_are_refused_before_training(problem, monkeypatch):
    monkeypatch.setattr(label_logistic, "MAX_WEIGHTS", 19)
    with raises_with(XmlcError, "4 labels x 5 features", "PLT"):
        BinaryRelevance().fit(*problem)


def test_sigmoids_above_equal_numpy():
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 4, (7, 5))
    thresholds = rng.random(5).astype(np.float32)
    # An estimate equal to its threshold is not above the threshold.
    scores[2, 1] = 0.25
    thresholds[1] = np.float32(sigmoid(0.25))
    expected = elementwise.sigmoid(scores).astype(np.float32)
    above = expected > thresholds
    counts, labels, estimates = sigmoids_above(scores, thresholds)
    np.testing.assert_array_equal(counts, above.sum(axis=1))
    np.testing.assert_array_equal(labels, above.nonzero()[1])
    np.testing.assert_array_equal(estimates, expected[above])
