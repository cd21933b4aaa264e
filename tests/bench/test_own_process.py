"""Work in processes of their own, and its peak of memory."""

import numpy as np
import pytest

from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.errors import XmlcError


def test_a_process_that_fails_is_an_error(tmp_path):
    with pytest.raises(XmlcError, match=r"(?s)xmlc\.bench\.oplt\.variants .* failed:.*no prepared dataset here"):
        in_own_process("xmlc.bench.oplt.variants", str(tmp_path), "plt", "{}", "0")


def test_the_peak_of_some_work_is_its_own():
    np.ones(15_000_000)  # an earlier peak is none of its
    result, small = peak_above(lambda: np.ones(1_000_000).sum())
    _, large = peak_above(lambda: np.ones(9_000_000).sum())
    assert result == 1_000_000
    assert small < 40e6
    assert large > 60e6
