"""The candidate thresholds of STO, compared with plain counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threshold_cases import BELOW, CASES, random_case

from xmlc.thresholds import STO
from xmlc.thresholds.methods import checked_pair
from xmlc.thresholds.sto import candidates_of


@pytest.mark.parametrize("value", [1, 0.5, np.finfo(np.float32).tiny, 1e-45])
def test_best_threshold_is_next_float_below_the_estimate(value):
    value = np.float32(value)
    (found,) = STO().fit([[value]], [[1]]).thresholds_
    assert found == np.nextafter(value, BELOW)
    assert found < value


@given(**CASES, entries=st.integers(1, 30), common=st.booleans())
def test_cuts_are_estimates_of_positives_with_counts_above_them(n, m, seed, entries, common):
    spe, Y = checked_pair(*random_case(n, m, seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlc.kernels.csr.ENTRIES_PER_BLOCK", entries)
        candidates = candidates_of(spe, Y, 2, common)
    columns = zip(spe.toarray().T, Y.toarray().T)
    if common:
        columns = [(spe.toarray().ravel(), Y.toarray().ravel())]
    lowest = candidates.lowest.view(np.float32)
    for j, (own, true) in enumerate(columns):
        part = slice(candidates.starts[j], candidates.starts[j + 1])
        cuts = lowest[part]
        reached = own >= cuts[:, None]
        np.testing.assert_array_equal(cuts, np.unique(own[true & (own > 0)]))
        np.testing.assert_array_equal(candidates.hits[part], (reached & true).sum(axis=1))
        np.testing.assert_array_equal(candidates.predicted[part], reached.sum(axis=1))
        assert candidates.largest.view(np.float32)[j] == own.max(initial=0)
        assert candidates.positives[j] == true.sum()
