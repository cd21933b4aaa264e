"""F_beta and Jaccard of two sets, compared with Python's sets."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.metrics.measure import JACCARD, f_beta

SETS = st.sets(st.integers(0, 9))


@given(truth=SETS, guess=SETS, beta=st.floats(0.1, 5))
def test_overlaps_equal_their_definitions(truth, guess, beta):
    """F_beta is the weighted harmonic mean of precision and recall.

    Jaccard is intersection over union.
    """
    both = len(truth & guess)
    if not truth and not guess:
        expected = [0.25, 0.25]
    elif not both:
        expected = [0, 0]
    else:
        precision = both / len(guess)
        recall = both / len(truth)
        expected = [(1 + beta**2) / (1 / precision + beta**2 / recall), both / len(truth | guess)]
    sizes = np.array([both, len(truth), len(guess)])
    found = [overlap.of(*sizes, 0.25) for overlap in (f_beta(beta), JACCARD)]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("beta", [0, float("inf"), float("nan")])
def test_invalid_beta_is_refused(beta):
    with raises_with(XmlcError, f"beta={beta}"):
        f_beta(beta)
