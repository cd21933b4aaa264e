"""Random numbers that depend only on seed, stream and counter, never on the thread.

The generator applies the finaliser of SplitMix64 to a key and a counter (Steele, Lea and Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014). It has no state, and a number takes
a few instructions.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from xmlc.core.kernel_cache import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def mix64(z):
    """Return the scrambled bits of a uint64, different for each input (SplitMix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def stream_key(seed, task):
    """Return the uint64 key of stream ``task`` for a seed."""
    return mix64(mix64(np.uint64(seed) + GOLDEN) ^ (np.uint64(task) * GOLDEN + np.uint64(1)))


@njit
def random_bits(key, counter):
    """Return the 64 random bits at position ``counter`` of a stream, as uint64."""
    return mix64(key + (np.uint64(counter) + np.uint64(1)) * GOLDEN)


@njit
def random_unit(key, counter):
    """Return the number at position ``counter`` of a stream, float64, uniform in [0, 1)."""
    return np.float64(random_bits(key, counter) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def random_below(key, counter, bound):
    """Return an int64 in 0 .. bound - 1 from a stream, with a bias below bound / 2**53."""
    return np.int64(random_unit(key, counter) * bound)


@njit
def shuffle(order, key):
    """Shuffle an array in place by ``len(order) - 1`` numbers of a stream (Fisher-Yates)."""
    for i in range(order.size - 1, 0, -1):
        j = random_below(key, order.size - 1 - i, i + 1)
        order[i], order[j] = order[j], order[i]


@njit
def shuffle_stream(order, seed, task):
    """Shuffle an array in place with stream ``task`` of a seed."""
    shuffle(order, stream_key(seed, task))


def random_permutation(n: int, seed: int, task: int, dtype: type = np.int64) -> np.ndarray:
    """Return a random permutation of 0 .. n - 1 that depends only on (seed, task).

    The seed is the user's, not negative, and ``task`` is from `Stream`.
    """
    order: np.ndarray = np.arange(n, dtype=dtype)
    shuffle_stream(order, np.int64(seed), np.int64(task))
    return order


class Stream(IntEnum):
    """The uses of random numbers, with the ``task`` argument of `stream_key` for each.

    Two uses with the same number and seed would draw the same random numbers, and a changed number
    changes all results that depend on it. A comment such as ``+ row`` means that each row has its
    own number, the sum. Kernels use the integer ``Stream.NAME.value``. Code that derives a separate
    key, for example for the nodes of a tree, numbers its streams from 0 and is not listed.
    """

    # Data:
    SPLIT = 0x5B1  # validation rows of a training set
    SEARCH_SAMPLE = 0x5B2  # rows of a hyperparameter search on part of a dataset
    FEW_SHOT_ORDER = 1 << 39  # order of the pairs of an object and a view
    SYNTHETIC_ROW = 1 << 40  # + row: features and labels of a synthetic row
    SYNTHETIC_LABEL = 1 << 41  # + label: features of a synthetic label, object or topic
    STREAM_ORDER = 0x0F10  # order of the instances for progressive validation

    # Trees:
    COMPLETE_TREE = 0x7EE  # order of the labels of a complete tree
    KMEANS = 0x2EA  # first centroids of each bisection

    # Estimators:
    PLT_ORDER = 0x0DE  # order of the training instances of PLT and OPLT
    PLT_PASSES = 0x0DC  # order of the instances in each pass of dual coordinate descent
    PLT_HASH = 0x4A5  # positions of hashed weights
    OPLT_POLICY = 0x0B7  # choices of the policy "random"
    PARABEL_TREE = 0x9A4  # + tree: seed of one tree
    FASTXML_TREE = 0xFA57  # XOR the seed: keys of the trees of FastXML
    LDSM_TREE = 0x1D53  # XOR the seed: keys of the trees of LdSM
    LDSM_ORDER = 1 << 40  # may equal SYNTHETIC_ROW, because their keys differ
    LOGISTIC_FOLD = 0xCF01D  # fold of each instance for choosing C
    OUT_OF_FOLD = 0x0F01D  # fold of each instance for learning thresholds
    STACKING = 0x57AC  # instances on which the regression of a stacking model is trained
    CHOICE = 0xC401CE  # instances for choosing a hyperparameter
    NAPKINXC_ORDER = 0x0E4  # order of instances for napkinXC's online trees
    MEMORY_TREE_ORDER = 0x0E5  # order of instances for VW's memory tree

    # Experiments:
    TRIAL = 0x70E  # + trial: hyperparameters of one trial of a random search
    GROWTH = 1 << 50  # + 2**20 m: samples for timing inference with m labels
