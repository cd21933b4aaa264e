"""Test the seeded split: its size, its dependence on the seed, and its reproducibility."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.suite.steps.prepared import fit_mask, sample_rows


@given(n=st.integers(0, 300), share=st.floats(0.01, 0.99), seed=st.integers(0, 99))
def test_split_has_requested_size_and_depends_only_on_seed(n, share, seed):
    mask = fit_mask(n, share, seed)
    expected = min(max(round(share * n), 1), n - 1) if n >= 2 else round(share * n)
    assert mask.dtype == bool
    assert mask.shape == (n,)
    assert (~mask).sum() == expected
    np.testing.assert_array_equal(mask, fit_mask(n, share, seed))


def test_split_is_the_same_on_every_platform():
    # Results of other machines and versions are compared on this split, so it must not change.
    assert np.flatnonzero(~fit_mask(40, 0.2, 0)).tolist() == [5, 10, 12, 19, 24, 34, 37, 39]
    assert np.flatnonzero(~fit_mask(40, 0.2, 1)).tolist() == [5, 9, 13, 19, 26, 28, 33, 35]


@pytest.mark.parametrize("share", [0, 1, -0.2, 1.5, float("nan")])
def test_share_outside_0_and_1_is_refused(share):
    with raises_with(XmlcError, str(share)):
        fit_mask(10, share, 0)


def test_sample_of_rows_is_ordered_and_within_a_larger_sample():
    rows = np.flatnonzero(fit_mask(400, 0.2, 0))
    few, many, every = (sample_rows(rows, most, 3).tolist() for most in (20, 100, 320))
    assert (len(few), len(many)) == (20, 100)
    assert many == sorted(many)
    assert {*few} < {*many} < {*rows}
    assert every == rows.tolist()
    assert {*sample_rows(rows, 20, 4)} != {*few}
