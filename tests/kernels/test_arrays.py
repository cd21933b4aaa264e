"""Views, copies and orders of arrays in kernels."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from xmlc.kernels.arrays import (
    copy_into,
    kth_smallest,
    row_of,
    sort,
    stable_order,
    unchecked_view,
    unowned,
)


@pytest.mark.parametrize("dtype", [np.float32, np.uint32, np.bool_])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_copy_into_equals_slice_assignment(dtype, size):
    source = np.arange(1, size + 1).astype(dtype)
    target = np.zeros(8, dtype)
    expected = np.zeros(8, dtype)
    copy_into(target[2:], source)
    expected[2 : 2 + size] = source
    np.testing.assert_array_equal(target, expected)


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
        found = np.array(values, dtype=dtype)
        ordered = np.sort(found)
        assert kth_smallest(found, k % found.size) == ordered[k % found.size]
        np.testing.assert_array_equal(np.sort(found), ordered)


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


@pytest.mark.parametrize("dtype", [np.float32, np.uint16, np.int64])
@pytest.mark.parametrize("bounds", [(0, 0), (2, 5), (0, 8), (8, 8), (np.int32(1), np.uint32(3))])
def test_unchecked_view_equals_a_slice(dtype, bounds):
    array = np.arange(8).astype(dtype)
    expected = array.copy()
    expected[slice(*bounds)] *= 2
    np.testing.assert_array_equal(doubled_slice(array, *bounds), expected[slice(*bounds)])
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (1, 1), (5, 7)])
def test_row_of_returns_rows_of_a_table(shape):
    table = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
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
    for make in (
        lambda counters: Mixed(numbers, 0.5, counters),
        lambda counters: Uniform(numbers, counters),
    ):
        counters = np.zeros(4, dtype=np.int64)
        record = make(counters)
        owners = sys.getrefcount(counters), sys.getrefcount(numbers)
        assert count_numbers(record) == 4
        assert counters.tolist() == [1, 1, 0, 2]
        assert (sys.getrefcount(counters), sys.getrefcount(numbers)) == owners
