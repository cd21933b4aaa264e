"""Synthetic data: the posteriors are the model's, the labels follow them, and nothing depends on threads or blocks."""

import itertools

import numpy as np
import pytest

from xmlc.data._synthetic import MODIFIERS, draw_label_parameters
from xmlc.data.synthetic import POSTERIOR_FLOOR, RANK_PENALTY, SyntheticModel
from xmlc.errors import XmlcError

SHAPE = {"n_features": 300, "n_labels": 80, "labels_per_instance": 3.0, "nonzeros": 25, "seed": 4}


@pytest.fixture(scope="module")
def drawn():
    model = SyntheticModel(**SHAPE)
    return model, *model.draw(0, 4000)


def test_posteriors_equal_the_documented_formula(drawn):
    model, X, _, P = drawn
    n_triggers = -(-8 * 3 * 300 // (25 * 80))
    parameters = draw_label_parameters(SHAPE["seed"], 300, 80, n_triggers, 3)
    triggers, weights, modifiers, modifier_weights = parameters
    dense, posteriors = X[:200].toarray().astype(np.float64), P[:200].toarray()
    for j in range(80):
        score = sum(dense[:, triggers[j, t]] * weights[j, t] for t in range(n_triggers))
        triggered = (dense[:, triggers[j]] > 0).any(axis=1)
        score += sum(dense[:, modifiers[j, s]] * modifier_weights[j, s] for s in range(MODIFIERS))
        eta = 1 / (1 + np.exp(model.intercept + RANK_PENALTY * np.log1p(j) - score))
        eta = np.where(triggered & (eta >= POSTERIOR_FLOOR), eta, 0)
        np.testing.assert_allclose(posteriors[:, j], eta, atol=1e-6)


def test_labels_are_drawn_from_the_posteriors(drawn):
    """In each stratum of posteriors the share of positives is their mean, within four standard errors."""
    _, _, Y, P = drawn
    posteriors, truth = P.toarray().ravel(), Y.toarray().ravel()
    assert not truth[posteriors == 0].any()
    edges = np.quantile(posteriors[posteriors > 0], np.linspace(0, 1, 11))
    for low, high in itertools.pairwise(edges):
        chosen = (posteriors >= low) & (posteriors <= high) & (posteriors > 0)
        p = posteriors[chosen].astype(np.float64)
        error = np.sqrt((p * (1 - p)).sum()) / p.size
        assert abs(truth[chosen].mean() - p.mean()) < 4 * error


def test_averages_and_power_law(drawn):
    _, X, Y, _ = drawn
    assert Y.nnz / 4000 == pytest.approx(3.0, rel=0.05)
    assert 15 < X.nnz / 4000 <= 25
    frequency = np.sort(np.bincount(Y.indices, minlength=80))[::-1]
    rank = np.arange(1, 81)
    slope = np.polyfit(np.log(rank[2:60]), np.log(frequency[2:60] + 0.5), 1)[0]
    assert -2.0 < slope < -0.5
    occurrences = np.bincount(X.indices, minlength=300)
    assert occurrences[:30].mean() > 3 * occurrences[-30:].mean()


def test_values_are_short_decimals(drawn):
    X = drawn[1]
    steps = np.rint(X.data.astype(np.float64) * 10000)
    np.testing.assert_array_equal(X.data, (steps / 10000).astype(np.float32))
    assert X.data.min() >= np.float32(0.1)
    assert X.data.max() <= 1


def test_rows_do_not_depend_on_blocks_or_threads(drawn):
    model, *whole = drawn
    for one, other in zip(whole, model.draw(0, 4000, n_jobs=2)):
        assert one.data.tobytes() == other.data.tobytes()
        assert one.indices.tobytes() == other.indices.tobytes()
    for one, other in zip(whole, model.draw(1000, 1500)):
        np.testing.assert_array_equal(one[1000:1500].toarray(), other.toarray())
    again = SyntheticModel(**SHAPE).draw(0, 50)
    np.testing.assert_array_equal(whole[2][:50].toarray(), again[2].toarray())
    other_seed = SyntheticModel(**SHAPE | {"seed": 5}).draw(0, 50)
    assert (whole[0][:50].toarray() != other_seed[0].toarray()).any()


def test_impossible_shapes_are_named():
    with pytest.raises(XmlcError, match="all must be positive"):
        SyntheticModel(0, 5)
    with pytest.raises(XmlcError, match="50 labels per instance cannot be had"):
        SyntheticModel(20, 10, labels_per_instance=50)


def test_an_extreme_shape_costs_what_is_stored():
    X, Y, P = SyntheticModel(135_909, 670_091, 5.0, 75).draw(0, 2000)
    assert (X.shape, Y.shape) == ((2000, 135_909), (2000, 670_091))
    assert Y.nnz / 2000 == pytest.approx(5.0, rel=0.15)
    assert P.nnz / 2000 < 500
