"""Compute random numbers from counters.

A number depends on its seed, stream and counter, never on the thread.

The generator applies the finaliser of SplitMix64 to a key and a counter (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014). The generator has no state, and
computes a number in a few instructions.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from xmlc.core.kernel_cache import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def mix64(z):
    """Return the scrambled bits of a uint64.

    Different inputs give different outputs, as in SplitMix64.
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def stream_key(seed, task):
    """Return the uint64 key of stream ``task`` for a seed."""
    return mix64(mix64(np.uint64(seed) + GOLDEN) ^ (np.uint64(task) * GOLDEN + np.uint64(1)))


@njit
def random_bits(key, counter):
    """Return the random number at position ``counter`` of a stream: 64 random bits, as uint64."""
    return mix64(key + (np.uint64(counter) + np.uint64(1)) * GOLDEN)


@njit
def random_unit(key, counter):
    """Return the random number at position ``counter`` of a stream, uniform in [0, 1), as
    float64.
    """
    return np.float64(random_bits(key, counter) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def random_below(key, counter, bound):
    """Return an int64 in 0 .. bound - 1 from position ``counter`` of a stream, with a bias below
    bound / 2**53.
    """
    return np.int64(random_unit(key, counter) * bound)


@njit
def shuffle(order, key):
    """Shuffle an array in place (Fisher-Yates) with the first ``len(order) - 1`` numbers of a
    stream.
    """
    for i in range(order.size - 1, 0, -1):
        j = random_below(key, order.size - 1 - i, i + 1)
        order[i], order[j] = order[j], order[i]


@njit
def shuffle_stream(order, seed, task):
    """Shuffle an array in place with stream ``task`` of a seed."""
    shuffle(order, stream_key(seed, task))


def random_permutation(n: int, seed: int, task: int, dtype: type = np.int64) -> np.ndarray:
    """Return a random permutation of 0 .. n - 1 that depends only on (seed, task).

    Parameters
    ----------
    n : int
        Length of the permutation.
    seed : int
        The user's seed, not negative.
    task : int
        Number of the stream. Each use of random numbers has a constant stream number, defined in
        `Stream`.
    dtype : type
        Integer type of the result.
    """
    order: np.ndarray = np.arange(n, dtype=dtype)
    shuffle_stream(order, np.int64(seed), np.int64(task))
    return order


class Stream(IntEnum):
    """List the uses of random numbers.

    The value of a member is the ``task`` argument of `stream_key`.

    Two uses with the same stream number and seed would draw the same random numbers. Some code
    derives a separate key, for example for the nodes of a tree or the tables of a hash. Streams of
    such keys are numbered from 0, and this class does not list them. If you change a stream number,
    all results that depend on the stream change. Kernels use the integer ``Stream.NAME.value``. If
    the comment of a member contains a sum such as ``SYNTHETIC_ROW + row``, the sum is the stream
    number of one row.
    """

    # Data:
    SPLIT = 0x5B1  # SPLIT selects the validation rows of a training set.
    # SEARCH_SAMPLE draws the rows of a hyperparameter search on part of a dataset.
    SEARCH_SAMPLE = 0x5B2
    FEW_SHOT_ORDER = 1 << 39  # FEW_SHOT_ORDER orders the pairs of an object and a view.
    # SYNTHETIC_ROW + row draws the features and labels of one synthetic row.
    SYNTHETIC_ROW = 1 << 40
    # SYNTHETIC_LABEL + label draws the features of a synthetic label, object or topic.
    SYNTHETIC_LABEL = 1 << 41
    STREAM_ORDER = 0x0F10  # STREAM_ORDER orders the instances for progressive validation.

    # Trees:
    COMPLETE_TREE = 0x7EE  # COMPLETE_TREE orders the labels of a complete tree.
    KMEANS = 0x2EA  # KMEANS draws the first centroids of each bisection.

    # Estimators:
    PLT_ORDER = 0x0DE  # PLT_ORDER orders the training instances of PLT and OPLT.
    PLT_PASSES = 0x0DC  # PLT_PASSES orders the instances in each pass of dual coordinate descent.
    PLT_HASH = 0x4A5  # PLT_HASH determines the positions of hashed weights.
    OPLT_POLICY = 0x0B7  # OPLT_POLICY makes the choices of the policy "random".
    PARABEL_TREE = 0x9A4  # PARABEL_TREE + tree draws the seed of one tree.
    FASTXML_TREE = 0xFA57  # FASTXML_TREE XOR the seed gives the keys of the trees of FastXML.
    LDSM_TREE = 0x1D53  # LDSM_TREE XOR the seed gives the keys of the trees of LdSM.
    LDSM_ORDER = 1 << 40  # LDSM_ORDER may equal SYNTHETIC_ROW, because their keys differ.
    LOGISTIC_FOLD = 0xCF01D  # LOGISTIC_FOLD draws the fold of each instance for choosing C.
    OUT_OF_FOLD = 0x0F01D  # OUT_OF_FOLD draws the fold of each instance for learning thresholds.
    # STACKING draws the instances on which a stacking model's regression is trained.
    STACKING = 0x57AC
    CHOICE = 0xC401CE  # CHOICE draws the instances for choosing a hyperparameter.
    NAPKINXC_ORDER = 0x0E4  # NAPKINXC_ORDER shuffles instances for napkinXC's online trees.
    MEMORY_TREE_ORDER = 0x0E5  # MEMORY_TREE_ORDER shuffles instances for VW's memory tree.

    # Experiments:
    TRIAL = 0x70E  # TRIAL + trial draws the hyperparameters of one trial of a random search.
    GROWTH = 1 << 50  # GROWTH + 2**20 m draws the samples for timing inference with m labels.
