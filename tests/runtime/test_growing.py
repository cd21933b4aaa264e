"""Arrays that grow in place."""

import mmap
import sys

import numpy as np
import pytest

from xmlc.runtime import growing
from xmlc.runtime.growing import grown_array, provide_memory


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


def test_memory_that_is_provided_holds_what_it_held(monkeypatch):
    monkeypatch.setattr(growing, "LARGE", 400)
    array = grown_array(np.arange(1, 10_001), 100_000, 1.0)
    for start, end in ((0, 80_000), (79_999, 80_001), (12_345, 800_000), (800_000, 800_000)):
        provide_memory(array, start, end)
    assert array[:10_000].tolist() == list(range(1, 10_001))
    assert not array[10_000:].any()
    other = np.arange(10)  # of the allocator
    provide_memory(other, 0, 80)
    assert other.tolist() == list(range(10))


# The last test holds on any system that a call without effect does no harm.
@pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux provides memory ahead (MADV_POPULATE_WRITE): elsewhere there is no effect to measure",
)
def test_memory_is_provided_where_the_system_can():
    array = grown_array(np.ones(9), 1 << 23, 1.0)
    before = resident_bytes()
    provide_memory(array, 0, array.nbytes)
    try:
        mmap.mmap(-1, mmap.PAGESIZE).madvise(growing.POPULATE_WRITE)
    except OSError:
        assert resident_bytes() < before + array.nbytes
    else:
        assert resident_bytes() > before + array.nbytes // 2


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def test_where_the_system_cannot_provide_memory_nothing_happens(monkeypatch):
    monkeypatch.setattr(growing, "LARGE", 400)
    monkeypatch.setattr(growing, "POPULATE_WRITE", 1 << 20)
    array = grown_array(np.arange(9), 1000, 1.0)
    provide_memory(array, 0, array.nbytes)
    assert array[:9].tolist() == list(range(9))
