"""Views and copies of arrays in kernels, and that no kernel of the demo copies in the way that is costly to compile."""

import ast
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from repository import ROOT

from xmlc.kernels.arrays import borrowed, copy_into, row_of, unowned

PACKAGE = ROOT / "xmlc"


@pytest.mark.parametrize("dtype", [np.float32, np.uint32, np.bool_])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_copying_is_slice_assignment(dtype, size):
    source = np.arange(1, size + 1).astype(dtype)
    target, expected = np.zeros(8, dtype), np.zeros(8, dtype)
    copy_into(target[2:], source)
    expected[2 : 2 + size] = source
    np.testing.assert_array_equal(target, expected)


@njit
def doubled_slice(array, start, end):
    view = borrowed(array, start, end)
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
def test_a_borrowed_view_is_a_slice(dtype, bounds):
    array = np.arange(8).astype(dtype)
    expected = array.copy()
    expected[slice(*bounds)] *= 2
    np.testing.assert_array_equal(doubled_slice(array, *bounds), expected[slice(*bounds)])
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (1, 1), (5, 7)])
def test_rows_of_a_table_are_its_rows(shape):
    table = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
    np.testing.assert_array_equal(row_sums(table), table.sum(axis=1))


class Mixed(NamedTuple):
    numbers: np.ndarray
    factor: float
    counters: np.ndarray


class Alike(NamedTuple):
    numbers: np.ndarray
    counters: np.ndarray


@njit
def numbers_counted(record):
    record = unowned(record)
    for number in record.numbers:
        record.counters[number] += 1
    return record.counters.sum()


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
def test_arrays_of_a_tuple_without_owner_are_those_of_the_tuple(dtype):
    numbers = np.array([3, 1, 3, 0], dtype=dtype)
    for make in (lambda counters: Mixed(numbers, 0.5, counters), lambda counters: Alike(numbers, counters)):
        counters = np.zeros(4, dtype=np.int64)
        record = make(counters)
        owners = sys.getrefcount(counters), sys.getrefcount(numbers)
        assert numbers_counted(record) == 4
        assert counters.tolist() == [1, 1, 0, 2]
        assert (sys.getrefcount(counters), sys.getrefcount(numbers)) == owners


def test_the_search_for_slice_assignments_finds_one():
    assert list(array_assignments("def f(a, b):\n    a[1:] = b[:2]\n    a[:] = 0\n")) == [2]


def array_assignments(text):
    """Lines in which a name or a slice is written to a slice; what is written may still be one number."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Subscript | ast.Call | ast.Attribute):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                    if not (isinstance(node.value, ast.Name) and node.value.id.isupper()):
                        yield node.lineno


@pytest.mark.parametrize("room", ["models/plt", "models/fastxml", "thresholds", "inference", "data/formats"])
def test_kernels_of_the_demo_copy_by_the_kernel_for_it(room):
    kernels = [file for file in sorted((PACKAGE / room).rglob("*.py")) if "@njit" in file.read_text()]
    assert len(kernels) > 1
    found = [f"{file.name}:{line}" for file in kernels for line in array_assignments(file.read_text())]
    assert found == []
