"""Streams of random numbers differ, also in kernels."""

from collections import Counter

from numba import njit

from xmlc.kernels.counter_random import Stream, stream_key

SHARED = {"SYNTHETIC_ROW", "LDSM_ORDER"}  # equal stream numbers, but never equal keys


def test_streams_have_distinct_numbers_except_listed_ones():
    counts = Counter(int(member) for member in Stream.__members__.values())
    assert {name for name, member in Stream.__members__.items() if counts[member] > 1} == SHARED


@njit
def key_in_a_kernel(seed):
    return stream_key(seed, Stream.LDSM_ORDER.value), stream_key(
        seed, Stream.SYNTHETIC_ROW.value + 3
    )


def test_stream_keys_are_equal_in_kernels_and_python():
    assert key_in_a_kernel(5) == (stream_key(5, 1 << 40), stream_key(5, (1 << 40) + 3))
