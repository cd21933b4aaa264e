"""Copying between arrays in kernels, and that no kernel of the demo does it in the way that is costly to compile."""

import ast

import numpy as np
import pytest
from repository import ROOT

from xmlc.kernels.arrays import copy_into

PACKAGE = ROOT / "xmlc"


@pytest.mark.parametrize("dtype", [np.float32, np.uint32, np.bool_])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_copying_is_slice_assignment(dtype, size):
    source = np.arange(1, size + 1).astype(dtype)
    target, expected = np.zeros(8, dtype), np.zeros(8, dtype)
    copy_into(target[2:], source)
    expected[2 : 2 + size] = source
    np.testing.assert_array_equal(target, expected)


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
