"""Streams of random numbers differ, in kernels too."""

from collections import Counter

from numba import njit

from xmlc.kernels.counter_random import Stream, stream_key

SHARED = {"SYNTHETIC_ROW", "LDSM_ORDER"}  # equal numbers, under keys that are never equal


def test_streams_differ_but_for_those_under_different_keys():
    counts = Counter(int(member) for member in Stream.__members__.values())
    assert {name for name, member in Stream.__members__.items() if counts[member] > 1} == SHARED


@njit
def key_in_a_kernel(seed):
    return stream_key(seed, Stream.LDSM_ORDER.value), stream_key(seed, Stream.SYNTHETIC_ROW.value + 3)


def test_kernels_take_the_same_number():
    assert key_in_a_kernel(5) == (stream_key(5, 1 << 40), stream_key(5, (1 << 40) + 3))
