"""Matches between the features of instances and of blocks, for `xmlc.models.plt.weights`."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.kernels.arrays import bits_set, copy_into, prefetch, row_of_csr, unchecked_view
from xmlc.kernels.float32 import fma


@njit
def sparse_child_scores(ids, values, row_starts, siblings, weights, bias, scores):
    """Compute the linear scores of all siblings for one instance, from the sparse rows of a block.

    The result is bit-identical to `dense_scores` with the same weights, because a missing weight
    would add zero. The processor cannot predict the ends of rows and would wait there, so the
    kernel first prefetches the start of each.

    Parameters
    ----------
    ids, values : uint32 and float32
        Features of the instance, as indices in the block, and their values.
    row_starts, siblings, weights
        Rows of the block, as in `CompactNodeWeights`.
    bias : float32 (siblings,)
    scores : float32 (siblings,)
        Overwritten.
    """
    copy_into(scores, bias)
    for k in range(ids.size):
        start = np.uint64(row_starts[ids[k]])
        prefetch(siblings, start)
        prefetch(weights, start)
    for k in range(ids.size):
        value = values[k]
        start = np.uint64(row_starts[ids[k]])
        end = np.uint64(row_starts[ids[k] + np.uint32(1)])
        for entry in range(start, end):
            scores[siblings[entry]] = fma(value, weights[entry], scores[siblings[entry]])


@njit
def mark_features(features, scratch):
    """Add the ascending ``features`` to the empty feature set of a `Scratch`."""
    words = scratch.words
    ranks = scratch.ranks
    six = np.uint32(6)
    low = np.uint64(63)
    for index in range(features.size):
        feature = features[index]
        at = feature >> six
        word = words[at]
        rank = ranks[at]
        if word == 0:
            rank = np.uint32(index)
        ranks[at] = rank  # stored in any case, because a branch would be unpredictable
        words[at] = word | (np.uint64(1) << (np.uint64(feature) & low))


@njit
def clear_features(features, scratch):
    """Clear the feature set of a `Scratch` after `mark_features`."""
    words = scratch.words
    six = np.uint32(6)
    # eight contiguous words are cleared as fast as one word at a random place
    if 8 * features.size > words.size:
        words[:] = 0
        return
    for feature in features:
        words[feature >> six] = 0


@njit
def find_marked(ids, values, words, ranks, out_ids, out_values):
    """Find the features of an instance that are in a feature set, and return their number.

    ``out_ids`` and ``out_values`` receive their indices in the block and their values. The kernel
    writes every feature and lets the next one overwrite those not in the set, because a branch
    would be unpredictable. The set takes 12 bytes per 64 features of the data, so it fits into the
    first-level cache for up to about 200,000 features.
    """
    six = np.uint32(6)
    low = np.uint64(63)
    one = np.uint64(1)
    count = np.uint64(0)
    for k in range(ids.size):
        feature = ids[k]
        word = words[feature >> six]
        bit = np.uint64(feature) & low
        out_ids[count] = ranks[feature >> six] + np.uint32(bits_set(word & ((one << bit) - one)))
        out_values[count] = values[k]
        count += (word >> bit) & one
    return np.int64(count)


@njit
def match_features(ids, values, features, out_ids, out_values):
    """Find the features of an instance that are in a block by binary search, as `find_marked` does.

    Each step halves the range of every feature of the instance without branches, so the processor
    neither waits nor mispredicts. A search that starts at the result for the previous feature needs
    fewer comparisons, but takes 8 to 60 ns per feature on an AMD EPYC, because its branches are
    unpredictable. ``out_ids`` and ``out_values`` are at least as long as ``ids``.
    """
    size = features.size
    if size == 0:
        return 0
    for k in range(ids.size):
        out_ids[k] = 0
    while size > 1:
        half = np.uint32(size >> 1)
        probes = features[half - np.uint32(1) :]
        for k in range(ids.size):
            index = out_ids[k]
            out_ids[k] = index + half * np.uint32(probes[index] < ids[k])
        size -= half
    count = np.uint64(0)
    for k in range(ids.size):
        index = out_ids[k]
        out_ids[count] = index
        out_values[count] = values[k]
        count += np.uint64(features[index] == ids[k])
    return np.int64(count)


@njit
def are_first(features):
    """Return whether ``features`` are the numbers from 0 on, and so each its index in the block."""
    return features.size > 0 and features[features.size - 1] == features.size - 1


@njit
def mark_if_it_pays(features, n_lookups, scratch):
    """Mark a block's features if that is faster than a binary search for each look-up.

    On an AMD EPYC, marking and clearing take 1.3 ns per feature of the block. A look-up then takes
    1.4 ns, while a binary search takes 0.7 ns per halving of the range. If the result is true, the
    caller has to call `clear_features`.
    """
    halvings = 0
    size = features.size
    while size > 1:
        size -= size >> 1
        halvings += 1
    pays = not are_first(features) and 1.3 * features.size < n_lookups * (0.7 * halvings - 1.4)
    if pays:
        mark_features(features, scratch)
    return pays


@njit(forceinline=True)
def find_features(x, row, features, marked, scratch):
    """Return the features of an instance that are in a block, as indices there, and their values.

    ``marked`` is the result of `mark_if_it_pays`. The arrays may be views of ``scratch``.
    """
    ids, values = row_of_csr(x, row)
    if are_first(features):
        end = ids.size
        while end > 0 and ids[end - 1] >= features.size:
            end -= 1
        return unchecked_view(ids, 0, end), unchecked_view(values, 0, end)
    if marked:
        count = find_marked(ids, values, scratch.words, scratch.ranks, scratch.ids, scratch.values)
    else:
        count = match_features(ids, values, features, scratch.ids, scratch.values)
    return unchecked_view(scratch.ids, 0, count), unchecked_view(scratch.values, 0, count)
