"""Isotonic calibration, compared with scikit-learn's, and its input and output."""

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse
from sklearn.isotonic import IsotonicRegression

from xmlc.core.errors import XmlcError
from xmlc.metrics import groups_by_frequency
from xmlc.thresholds import IsotonicCalibration


@pytest.mark.parametrize("seed", range(3))
def test_curves_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    spe = (rng.integers(0, 8, (30, 6)) / 8).astype(np.float32)  # with ties
    Y = rng.random(spe.shape) < spe**2
    groups = np.array([0, 0, 3, 3, 3, 7])
    found = IsotonicCalibration(groups).fit(spe, Y).transform(spe).toarray()
    for group in (0, 3, 7):
        of = np.nonzero((spe > 0) & (groups == group))
        expected = IsotonicRegression().fit_transform(spe[of], Y[of])
        np.testing.assert_allclose(found[of], expected, rtol=1e-6)
    assert not found[spe == 0].any()


def test_estimate_between_two_blocks_gets_value_of_higher_block():
    curve = IsotonicCalibration().fit([[0.2], [0.3], [0.6], [0.7]], [[0], [1], [0], [1]])
    assert curve.curves_[0][1].tolist() == [0.0, 0.5, 1.0]
    found = curve.transform([[0.1], [0.25], [0.6], [0.65], [0.9]])
    assert found.toarray().ravel().tolist() == [0, 0.5, 0.5, 1, 1]


def test_group_without_curve_keeps_its_estimates():
    groups = groups_by_frequency(sparse.csr_array(np.arange(12)[:, None] < [0, 9, 12]))
    assert groups.tolist() == [0, 1, 2]
    fitted = IsotonicCalibration(groups).fit([[0.0, 0.5, 0.5]], [[0, 1, 0]])
    found = fitted.transform([[0.25, 0.25, 0.25]])
    assert found.toarray().tolist() == [[0.25, 1.0, 0.0]]
    assert found.nnz == 2


def test_unfitted_calibration_and_wrong_shapes_are_refused():
    with pytest.raises(ValueError):
        IsotonicCalibration().transform([[0.5]])
    with raises_with(XmlcError, "(1, 1)", "(1, 2)"):
        IsotonicCalibration().fit([[0.5]], [[1, 0]])
    with raises_with(XmlcError, "groups", "(2,)", "1 labels"):
        IsotonicCalibration(np.zeros(2)).fit([[0.5]], [[1]])


@pytest.mark.parametrize("groups", [None, np.array([0, 1, 1, 2, 0, 1])])
def test_thresholds_before_calibration_give_the_same_predictions(groups):
    rng = np.random.default_rng(0)
    spe = rng.integers(0, 20, (40, 6)).astype(np.float32) / 20
    spe[:, 3] = 0
    calibration = IsotonicCalibration(groups).fit(spe, rng.random((40, 6)) < spe**2)
    new = rng.random((200, 6)).astype(np.float32)
    calibrated = calibration.transform(new).toarray()
    limits = [np.zeros(6), np.ones(6), rng.random(6), calibrated[3], calibrated.max(axis=0)]
    for thresholds in np.float32(limits):
        np.testing.assert_array_equal(new > calibration.before(thresholds), calibrated > thresholds)
