"""Random numbers from counters: equal to a plain implementation, uniform and independent."""

from collections import Counter

import numpy as np
from numba import njit

from xmlc.kernels.counter_random import (
    Stream,
    mix64,
    random_below,
    random_permutation,
    random_unit,
    stream_key,
)

MASK = (1 << 64) - 1


def twin_mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def test_mix64_equals_python_integers():
    for z in (0, 1, 12345678901234567, MASK, 1 << 63):
        assert int(mix64(np.uint64(z))) == twin_mix64(z)


def test_numbers_are_uniform_and_streams_are_uncorrelated():
    key, other = (np.uint64(stream_key(np.int64(0), np.int64(task))) for task in (0, 1))
    first = np.array([random_unit(key, i) for i in range(20000)])
    second = np.array([random_unit(other, i) for i in range(20000)])
    counts = np.histogram(first, bins=20, range=(0, 1))[0]
    # chi-square, 19 degrees of freedom, p = 0.001
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
    assert first.min() >= 0
    assert first.max() < 1


def test_bounded_numbers_and_permutations_cover_their_range():
    key = np.uint64(stream_key(np.int64(5), np.int64(2)))
    assert {int(random_below(key, i, 7)) for i in range(200)} == set(range(7))
    order = random_permutation(1000, 3, 9)
    assert sorted(order.tolist()) == list(range(1000))
    assert (order == random_permutation(1000, 3, 9)).all()
    assert (order != random_permutation(1000, 4, 9)).mean() > 0.9
    assert random_permutation(0, 0, 0).size == 0


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
