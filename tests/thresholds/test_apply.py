"""The rule: strictly greater, in float32, of what is stored."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threshold_cases import random_case

from xmlc.errors import XmlcError
from xmlc.thresholds import FTA, OFO, STO, apply_thresholds


def test_an_estimate_must_exceed_its_threshold():
    spe = sparse.csr_array(np.array([[0.5, 0.25, 0.0]], dtype=np.float32))
    predicted = apply_thresholds(spe, np.array([0.5, 0.2, -1], dtype=np.float32))
    assert predicted.toarray().tolist() == [[False, True, False]]
    assert predicted.dtype == bool
    assert apply_thresholds(spe, 0.3).toarray().tolist() == [[True, False, False]]


def test_comparison_is_in_float32_whatever_comes():
    tenth = np.array([np.float32(0.1)])  # greater than the float64 0.1
    for spe in (np.array([[0.1]]), np.array([[0.1]], dtype=np.float32)):
        for thresholds in (tenth, np.array([0.1])):
            assert apply_thresholds(spe, thresholds).nnz == 0
    assert apply_thresholds(np.array([[0.1]]), np.nextafter(tenth, np.float32(0))).nnz == 1


def test_indices_stay_32_bit_and_sorted():
    spe, _ = random_case(20, 6, 2)
    wide = sparse.csr_array((spe.data, spe.indices.astype(np.int64), spe.indptr.astype(np.int64)), shape=spe.shape)
    predicted = apply_thresholds(wide, 0.4)
    assert predicted.indices.dtype == predicted.indptr.dtype == np.int32
    assert predicted.has_sorted_indices
    np.testing.assert_array_equal(predicted.toarray(), spe.toarray() > np.float32(0.4))


def test_bad_thresholds_are_named():
    spe, _ = random_case(4, 3, 0)
    for wrong in (np.zeros(2), np.zeros(9)):
        with pytest.raises(XmlcError, match=r"thresholds has shape .* expected a number or \(3,\)"):
            apply_thresholds(spe, wrong)
    with pytest.raises(XmlcError, match="thresholds holds NaN"):
        apply_thresholds(spe, np.array([0.1, np.nan, 0.2]))


def test_methods_follow_scikit_learn():
    spe, Y = random_case(8, 3, 0)
    lower = np.full(3, 0.1, dtype=np.float32)
    for method in (STO(kappa=lower, clip=0.5), FTA(grid=(2, 4), label_wise=True, lower_bounds=lower), OFO(2, 9, lower)):
        with pytest.raises(NotFittedError):
            method.predict(spe)
        copy = clone(method)
        assert method.fit(spe, Y) is method
        np.testing.assert_array_equal(copy.fit(spe, Y).thresholds_, method.thresholds_)
        assert method.thresholds_.dtype == np.float32
