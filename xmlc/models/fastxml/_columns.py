"""The instances of one node, feature by feature: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def gather_columns(indptr, indices, data, node, side, costs, counts, bounds, features, starts, rows, values):
    r"""Transpose the instances of a node, keeping only the features whose weight can differ from zero.

    A weight stays zero as long as the loss's derivative by it does not exceed 1, the price of L1. Each instance adds at
    most its cost times \|x_ij\| to that derivative, on the side that its sign and class say; a feature whose two
    sums stay below 1 is dropped. At a node with few instances these are most of the features.

    Parameters
    ----------
    indptr : int64 (n + 1,), indices : uint32, data : float32
        All instances in CSR form.
    node : uint32 (k,)
        Instances of the node.
    side : int8 (k,)
        Their classes, 1 or -1.
    costs : (float32, float32)
        Weights of the loss of a positive and of a negative instance.
    counts : uint32 (d,), bounds : float32 (d, 2)
        Scratch, all zero before and after.
    features : uint32 (d + 1,), starts : int64 (d + 2,), rows : uint32, values : float32
        Room for the result.

    Returns
    -------
    int
        Number of columns p. ``features[:p]`` are in the order of their first appearance, the last is the constant
        feature, of number d; column j holds ``rows[starts[j] : starts[j + 1]]`` (places within ``node``) and their
        ``values``.

    Notes
    -----
    Two passes over the non-zeros: 8 bytes read each, 12 bytes of scratch updated at random; then 8 bytes written.
    """
    n_touched = count_features(indptr, indices, data, node, side, costs, counts, bounds, features)
    n_columns, end = 0, np.uint32(0)
    for i in range(n_touched):
        feature, is_useful = features[i], bounds[features[i], 0] > 1.0 or bounds[features[i], 1] > 1.0
        bounds[feature, 0] = 0.0
        bounds[feature, 1] = 0.0
        if is_useful:
            n_own = counts[feature]
            counts[feature] = end  # from here on, where the feature's next value goes
            starts[n_columns] = end
            end += n_own
            # What is dropped moves behind what is kept.
            features[n_columns], features[i] = feature, features[n_columns]
            n_columns += 1
    for feature in features[n_columns:n_touched]:
        counts[feature] = end
    fill_columns(indptr, indices, data, node, counts, end, rows, values)
    for feature in features[:n_touched]:
        counts[feature] = 0
    starts[n_columns] = end
    features[n_columns] = counts.size
    for i in range(node.size):
        rows[end + i] = i
        values[end + i] = 1.0
    starts[n_columns + 1] = end + node.size
    return n_columns + 1


@njit(cache=True, nogil=True)
def count_features(indptr, indices, data, node, side, costs, counts, bounds, features):
    """Count each feature's instances, bound its derivative in both directions, and list the features."""
    zero = np.float32(0)
    n_touched = 0
    for i in range(node.size):
        start, end = indptr[node[i]], indptr[node[i] + 1]
        ids, own = borrowed(indices, start, end), borrowed(data, start, end)
        pull = costs[0] if side[i] > 0 else -costs[1]
        for k in range(ids.size):
            feature = ids[k]
            features[n_touched] = feature  # without a branch: overwritten by the next if it is no new one
            n_touched += counts[feature] == 0
            counts[feature] += np.uint32(1)
            value = own[k] * pull
            bounds[feature, 0] += max(value, zero)
            bounds[feature, 1] -= min(value, zero)
    return n_touched


@njit(cache=True, nogil=True)
def fill_columns(indptr, indices, data, node, places, end, rows, values):
    """Write each non-zero into its feature's next place; ``end``, behind them, is for features without a column.

    What they have is written there, over and over: a branch would be foretold wrongly for many non-zeros.
    """
    for i in range(node.size):
        first, last = indptr[node[i]], indptr[node[i] + 1]
        ids, own = borrowed(indices, first, last), borrowed(data, first, last)
        for k in range(ids.size):
            place = places[ids[k]]
            rows[place] = np.uint32(i)
            values[place] = own[k]
            places[ids[k]] = place + np.uint32(place != end)
