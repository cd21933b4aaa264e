"""Random numbers from counters, so that they depend on (seed, piece) and never on the thread.

The generator is SplitMix64's finaliser applied to a key and a counter (Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014): stateless, and each number costs a few instructions.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, inline="always")
def mix64(z):
    """Scramble a 64-bit number: SplitMix64's output function, a bijection."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def stream_key(seed, piece):
    """Return the uint64 key of one stream: piece ``piece`` of the work seeded with ``seed``."""
    return mix64(mix64(np.uint64(seed) + GOLDEN) ^ (np.uint64(piece) * GOLDEN + np.uint64(1)))


@njit(cache=True)
def random_bits(key, counter):
    """Return the ``counter``-th 64 random bits of a stream."""
    return mix64(key + (np.uint64(counter) + np.uint64(1)) * GOLDEN)


@njit(cache=True)
def random_unit(key, counter):
    """Return the ``counter``-th random number of a stream, uniform in [0, 1), float64."""
    return np.float64(random_bits(key, counter) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def random_below(key, counter, bound):
    """Return the ``counter``-th random integer of a stream in 0 .. bound - 1, as int64 (bias below bound / 2**53)."""
    return np.int64(random_unit(key, counter) * bound)


@njit(cache=True)
def shuffle(order, key):
    """Shuffle an array in place (Fisher-Yates) with the first ``len(order) - 1`` numbers of a stream."""
    for i in range(order.size - 1, 0, -1):
        j = random_below(key, order.size - 1 - i, i + 1)
        order[i], order[j] = order[j], order[i]


@njit(cache=True)
def shuffle_stream(order, seed, piece):
    """Shuffle an array in place with the stream of (seed, piece)."""
    shuffle(order, stream_key(seed, piece))


def random_permutation(n: int, seed: int, piece: int, dtype: type = np.int64) -> np.ndarray:
    """Return a random permutation of 0 .. n - 1 that depends on (seed, piece) alone.

    Parameters
    ----------
    n : int
        Length.
    seed : int
        The user's seed, not negative.
    piece : int
        Which stream: each use of random numbers has its own constant.
    dtype : type
        Integer type of the result.
    """
    order: np.ndarray = np.arange(n, dtype=dtype)
    shuffle_stream(order, np.int64(seed), np.int64(piece))
    return order
