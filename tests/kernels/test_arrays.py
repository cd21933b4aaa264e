"""Views, copies and orders of arrays in kernels."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from xmlc.kernels.arrays import (
    bits_set,
    copy_into,
    kth_smallest,
    lowest_bit,
    row_of,
    sort,
    stable_order,
    unchecked_view,
    unowned,
)


@pytest.mark.parametrize("dtype", [np.float32, np.bool_])
@pytest.mark.parametrize("size", [0, 5])
def test_copy_into_equals_slice_assignment(dtype, size):
    source = np.arange(1, size + 1).astype(dtype)
    target = np.zeros(8, dtype)
    copy_into(target[2:], source)
    np.testing.assert_array_equal(target, np.pad(source, (2, 6 - size)))


IDS = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**32 - 1)))


@given(IDS)
def test_sort_and_stable_order_equal_numpy(ids):
    ids = np.array(ids, dtype=np.uint32)
    np.testing.assert_array_equal(stable_order(ids), np.argsort(ids, kind="stable"))
    ordered = ids.copy()
    sort(ordered)
    np.testing.assert_array_equal(ordered, np.sort(ids))


@given(IDS.filter(len), st.integers(0))
def test_kth_smallest_equals_entry_of_sorted_array(values, k):
    for dtype in (np.float32, np.int64):
        array = np.array(values, dtype=dtype)
        ordered = np.sort(array)
        assert kth_smallest(array, k % array.size) == ordered[k % array.size]
        np.testing.assert_array_equal(np.sort(array), ordered)


@njit
def doubled_slice(array, start, end):
    view = unchecked_view(array, start, end)
    for i in range(view.size):
        view[i] *= 2
    return view.copy()


@njit
def row_sums(table):
    sums = np.empty(table.shape[0], table.dtype)
    for row in range(table.shape[0]):
        sums[row] = row_of(table, row).sum()
    return sums


@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
@pytest.mark.parametrize("bounds", [(0, 0), (2, 5), (0, 8), (np.int32(1), np.uint32(3))])
def test_unchecked_view_equals_a_slice(dtype, bounds):
    array = np.arange(8).astype(dtype)
    expected = array.copy()
    expected[slice(*bounds)] *= 2
    np.testing.assert_array_equal(doubled_slice(array, *bounds), expected[slice(*bounds)])
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("shape", [(4, 0), (5, 7)])
def test_row_of_returns_rows_of_a_table(shape):
    table = np.random.default_rng(0).integers(9, size=shape)
    np.testing.assert_array_equal(row_sums(table), table.sum(axis=1))


class Mixed(NamedTuple):
    numbers: np.ndarray
    factor: float
    counters: np.ndarray


class Uniform(NamedTuple):
    numbers: np.ndarray
    counters: np.ndarray


@njit
def count_numbers(record):
    record = unowned(record)
    for number in record.numbers:
        record.counters[number] += 1
    return record.counters.sum()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_unowned_tuple_shares_arrays_and_reference_counts(dtype):
    numbers = np.array([3, 1, 3, 0], dtype=dtype)
    counters = np.zeros(4, dtype=np.int64)
    for record in (Mixed(numbers, 0.5, counters), Uniform(numbers, counters)):
        counters[:] = 0
        owners = [sys.getrefcount(array) for array in (counters, numbers)]
        assert count_numbers(record) == 4
        assert counters.tolist() == [1, 1, 0, 2]
        assert [sys.getrefcount(array) for array in (counters, numbers)] == owners


@njit
def bits_of(word):
    return bits_set(word), lowest_bit(word)


@given(st.integers(1, 2**64 - 1))
def test_bit_count_and_lowest_bit_equal_python(number):
    expected = (number.bit_count(), (number & -number).bit_length() - 1)
    assert bits_of(np.uint64(number)) == expected
