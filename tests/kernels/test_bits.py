"""Bits of words, compared with Python's integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from xmlc.kernels.arrays import bits_set, lowest_bit


@njit
def both(word):
    return bits_set(word), lowest_bit(word)


@given(st.integers(1, 2**64 - 1))
def test_bit_count_and_lowest_bit_equal_python(number):
    assert both(np.uint64(number)) == (number.bit_count(), (number & -number).bit_length() - 1)
