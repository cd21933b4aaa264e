"""Arrays that grow in place."""

import mmap

import numpy as np
import pytest

from xmlc.runtime import growing
from xmlc.runtime.growing import grown_array


def sizes(array):
    """Grow an array step by step; return where its numbers were, and check what it holds."""
    places, written = [], array.copy()
    for size in (100, 101, 1000, 30_000):
        array = grown_array(array, size, 1.5)
        assert array.size >= size
        np.testing.assert_array_equal(array[: written.size], written)
        assert not array[written.size :].any()
        array[:] = np.arange(array.size)
        written = array.copy()
        places.append(array.ctypes.data)
    return places


def test_small_arrays_are_copied_and_large_ones_stay_where_they_are(monkeypatch):
    sizes(np.arange(9, dtype=np.float32))
    monkeypatch.setattr(growing, "LARGE", 400)
    assert len(set(sizes(np.arange(9, dtype=np.uint64)))) == 1


def test_an_array_that_is_long_enough_is_returned_and_others_are_not_too_short():
    array = np.arange(9)
    assert grown_array(array, 9, 2.0) is array
    assert grown_array(array, 10, 2.0).size == 18


@pytest.mark.parametrize("error", [OSError, ValueError])
def test_where_no_address_space_can_be_reserved_arrays_are_copied(monkeypatch, error):
    def refuse(*arguments, **more):
        raise error

    monkeypatch.setattr(growing, "LARGE", 400)
    monkeypatch.setattr(growing.mmap, "mmap", refuse)
    monkeypatch.setattr(growing, "_mapping_of", lambda array: None)
    sizes(np.arange(9, dtype=np.float32))
    monkeypatch.undo()
    assert mmap.mmap is not refuse
