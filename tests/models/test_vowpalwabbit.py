"""Vowpal Wabbit's memory tree as an estimator.

The tests need the extra `baselines`, which CI installs.
"""

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.models.vowpalwabbit import VowpalWabbitCMT

pytestmark = pytest.mark.needs("baselines")
SMALL = {"hash_bits": 18, "passes": 2}


def classes(n, m=12, d=15, seed=0):
    """Return points around a centre for each class."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(m, d))
    y = rng.integers(m, size=n)
    X = centres[y] + rng.normal(scale=0.3, size=(n, d))
    Y = sparse.csr_array((np.ones(n, dtype=bool), (np.arange(n), y)), shape=(n, m))
    return sparse.csr_array(X.astype(np.float32)), Y, y


def test_memory_tree_learns_classes_and_loaded_model_predicts_the_same(tmp_path, multilabel):
    (X, Y, _) = classes(600)
    (X_test, _, y_test) = classes(200, seed=1)
    model = VowpalWabbitCMT(**SMALL).fit(X, Y)
    labels, scores = model.predict_top_k(X_test, 3)  # The program predicts only one class.
    assert (labels.dtype, scores.dtype) == (np.int32, np.float32)
    assert (labels[:, 0] == y_test).mean() > 0.9
    assert (labels[:, 1:] == -1).all()
    assert (scores[:, 1:] == 0).all()
    spe = model.predict_proba(X_test)
    np.testing.assert_array_equal(spe.indices, labels[:, 0])
    assert (spe.data == 1).all()
    assert model.predict_proba(X_test, 1.0).nnz == 0
    model.save(tmp_path / "model")
    for other in (VowpalWabbitCMT.load(tmp_path / "model"), VowpalWabbitCMT(**SMALL).fit(X, Y)):
        np.testing.assert_array_equal(other.predict_top_k(X_test, 3)[0], labels)
    with pytest.raises(XmlcError):
        model.fit(*multilabel(50, 20, 6))  # label sets


def test_progressive_predictions_precede_learning():
    X, Y, y = classes(600)
    model = VowpalWabbitCMT(**SMALL, online=True)
    labels, scores = model.progressive_top_k(X, Y)
    assert labels.shape == scores.shape == (600, 1)
    assert labels[0, 0] == -1
    assert scores[0, 0] == 0
    for instance in range(1, 600):
        # The program cannot predict a class that it has not seen.
        assert labels[instance, 0] in y[:instance]
    assert (labels[300:, 0] == y[300:]).mean() > 0.8
    assert (model.predict_top_k(X, 1)[0][:, 0] == y).mean() > 0.9  # after training


def test_each_option_changes_predictions():
    X, Y, _ = classes(400, m=60)
    default = VowpalWabbitCMT(**SMALL).progressive_top_k(X, Y)[0]
    for change in (
        {"leaf_multiplier": 1},
        {"dream_repeats": 9},
        {"eta": 1.0},
        {"online": True},
        {"random_state": 5},
    ):
        changed = VowpalWabbitCMT(**SMALL | change).progressive_top_k(X, Y)[0]
        assert (changed != default).any(), change


@pytest.mark.parametrize(
    "limits",
    [{"time_limit": 1, "dream_repeats": 400, "passes": 30}, {"memory_limit": 0.4, "hash_bits": 26}],
)
def test_training_stops_at_limits_and_error_shows_both(limits):
    X, Y, _ = classes(1500)
    limits = {"time_limit": 600, "memory_limit": 20} | limits
    with raises_with(XmlcError, limits["time_limit"], limits["memory_limit"]):
        VowpalWabbitCMT(**SMALL | limits).fit(X, Y)
