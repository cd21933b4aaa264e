"""Bits of words against Python's integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from xmlc.kernels.bits import bits_float, bits_set, float_bits, lowest_bit


@njit
def both(word):
    return bits_set(word), lowest_bit(word)


@given(st.integers(1, 2**64 - 1))
def test_count_and_lowest_bit_are_those_of_python(number):
    assert both(np.uint64(number)) == (number.bit_count(), (number & -number).bit_length() - 1)


@njit
def there_and_back(numbers, bits, back):
    for i in range(numbers.size):
        bits[i] = float_bits(numbers[i])
        back[i] = bits_float(bits[i])


def test_the_bits_of_a_float_are_those_of_numpy():
    numbers = np.array([0.0, 1e-45, 0.5, 1.0, 3.25, 1e30, -2.0], dtype=np.float32)
    bits, back = np.empty(numbers.size, dtype=np.uint32), np.empty_like(numbers)
    there_and_back(numbers, bits, back)
    np.testing.assert_array_equal(bits, numbers.view(np.uint32))
    np.testing.assert_array_equal(back, numbers)
