"""Test synthetic data: posteriors are the model's, labels follow them, and threads and blocks
change nothing.
"""

import itertools

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse
from small_data import equal_bits

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic.labels import (
    MODIFIERS,
    POSTERIOR_FLOOR,
    RANK_PENALTY,
    SyntheticModel,
    draw_label_parameters,
)

SHAPE = {"n_features": 300, "n_labels": 80, "labels_per_instance": 3.0, "nonzeros": 25, "seed": 4}


def check_canonical(matrix):
    again = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    again.check_format(full_check=True)
    assert again.has_canonical_format


@pytest.fixture(scope="module")
def drawn():
    model = SyntheticModel(**SHAPE)
    return model, *model.draw(0, 4000)


def test_posteriors_equal_documented_formula(drawn):
    model, X, _, P = drawn
    n_triggers = -(-8 * 3 * 300 // (25 * 80))
    triggers, weights, modifiers, modifier_weights = draw_label_parameters(
        SHAPE["seed"], 300, 80, n_triggers, 3
    )
    dense = X[:200].toarray().astype(np.float64)
    posteriors = P[:200].toarray()
    for j in range(80):
        score = sum(dense[:, triggers[j, t]] * weights[j, t] for t in range(n_triggers))
        triggered = (dense[:, triggers[j]] > 0).any(axis=1)
        score += sum(dense[:, modifiers[j, s]] * modifier_weights[j, s] for s in range(MODIFIERS))
        eta = 1 / (1 + np.exp(model.intercept + RANK_PENALTY * np.log1p(j) - score))
        eta = np.where(triggered & (eta >= POSTERIOR_FLOOR), eta, 0)
        np.testing.assert_allclose(posteriors[:, j], eta, atol=1e-6)


def test_labels_are_drawn_from_the_posteriors(drawn):
    """In each stratum of posteriors, the share of positives is within four standard errors of the
    mean posterior.
    """
    _, _, Y, P = drawn
    posteriors = P.toarray().ravel()
    truth = Y.toarray().ravel()
    assert not truth[posteriors == 0].any()
    limits = np.quantile(posteriors[posteriors > 0], np.linspace(0, 1, 11))
    for low, high in itertools.pairwise(limits):
        chosen = (posteriors >= low) & (posteriors <= high) & (posteriors > 0)
        p = posteriors[chosen].astype(np.float64)
        error = np.sqrt((p * (1 - p)).sum()) / p.size
        assert abs(truth[chosen].mean() - p.mean()) < 4 * error


def test_values_are_short_decimals(drawn):
    X = drawn[1]
    rounded = X.data.astype(np.float64).round(4)
    np.testing.assert_array_equal(X.data, rounded.astype(np.float32))
    assert X.data.min() >= np.float32(0.1)
    assert X.data.max() <= 1


def test_rows_do_not_depend_on_blocks_or_threads():
    model = SyntheticModel(**SHAPE)
    whole = model.draw(0, 4000, n_jobs=1)
    assert all(map(equal_bits, whole, model.draw(0, 4000, n_jobs=2)))
    again = SyntheticModel(**SHAPE).draw(1000, 1500)
    assert all(map(equal_bits, [matrix[1000:1500] for matrix in whole], again))
    assert not equal_bits(whole[0][:50], SyntheticModel(**SHAPE | {"seed": 5}).draw(0, 50)[0])


@pytest.mark.parametrize(
    ("n_features", "n_labels", "labels_per_instance", "nonzeros"),
    [
        (1, 1, 0.5, 1),
        (5, 10, 1, 3),
        (120, 101, 4.4, 120),
        (50, 3000, 3, 10),
        (100_000, 10, 2, 50),
        (135_909, 670_091, 5.0, 75),  # the cost depends on the stored entries
    ],
)
def test_every_shape_has_requested_labels(n_features, n_labels, labels_per_instance, nonzeros):
    X, Y, P = SyntheticModel(n_features, n_labels, labels_per_instance, nonzeros).draw(0, 2000)
    assert X.shape == (2000, n_features)
    assert Y.nnz / 2000 == pytest.approx(labels_per_instance, rel=0.15)
    for matrix in (X, Y, P):
        check_canonical(matrix)
    assert P.data.min() >= np.float32(POSTERIOR_FLOOR)
    assert P.nnz < 2000 * 500


@pytest.mark.parametrize(
    "wrong", [{"n_features": 0}, {"labels_per_instance": 50}, {"seed": -1}, {"seed": 1 << 63}]
)
def test_impossible_values_are_named(wrong):
    with raises_with(XmlcError, *wrong.values()):
        SyntheticModel(**{"n_features": 20, "n_labels": 10, "labels_per_instance": 1, **wrong})
