"""Pieces of blocks, put together, hold what the blocks hold."""

import numpy as np
import pytest
from plt_cases import random_nodes

from xmlc.models.plt.weights._compact import CompactBlocks
from xmlc.models.plt.weights._joined import join_pieces, merge_rows
from xmlc.models.plt.weights._kept import count_rows, fill_rows

CUT = np.float32(0.2)


def kept_of(nodes, block, base, width):
    """Return what a piece of a block keeps."""
    ids = nodes.features[slice(*nodes.feature_starts[block : block + 2])]
    dense = nodes.weights[slice(*nodes.weight_starts[block : block + 2])].reshape(ids.size, -1)
    rows = np.ascontiguousarray(dense[:, base : base + width]).ravel()
    n_rows, n_entries = count_rows(rows, ids.size, width, width, CUT)
    out = np.empty(n_rows, "u4"), np.empty(n_rows + 1, "u4"), np.empty(n_entries, "u2"), np.empty(n_entries, "f4")
    fill_rows(ids, rows, width, width, base, CUT, *out)
    return CompactBlocks(np.array([n_rows]), np.array([n_entries]), *out)


def side_by_side(kept):
    return CompactBlocks(*(np.concatenate(column) for column in zip(*kept)))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("begin", "end"), [(0, None), (2, 9)])
def test_pieces_in_any_order_are_put_together(begin, end, n_jobs):
    tree, nodes = random_nodes(90, 7, 30, 3)
    degrees, random = np.concatenate(([1], np.diff(tree.children))), np.random.default_rng(5)
    end = end or degrees.size
    pieces = [
        (block, base, min(3 if block % 2 else 100, degrees[block] - base))
        for block in range(begin, end)
        for base in range(0, degrees[block], 3 if block % 2 else 100)
    ]
    pieces = [pieces[i] for i in random.permutation(len(pieces))]
    parts = []
    for own in (pieces[i : i + 4] for i in range(0, len(pieces), 4)):
        blocks, bases = (np.array(column) for column in list(zip(*own))[:2])
        parts.append((blocks, bases, side_by_side([kept_of(nodes, *piece) for piece in own])))
    joined = join_pieces(parts, begin, end, 7, 30, n_jobs)
    whole = nodes.drop(CUT)
    rows, entries = whole.feature_starts[[begin, end]], whole.entry_starts[[begin, end]]
    np.testing.assert_array_equal(joined.kept_features, np.diff(whole.feature_starts)[begin:end])
    np.testing.assert_array_equal(joined.kept_weights, np.diff(whole.entry_starts)[begin:end])
    np.testing.assert_array_equal(joined.features, whole.features[slice(*rows)])
    np.testing.assert_array_equal(joined.row_starts, whole.row_starts[rows[0] + begin : rows[1] + end])
    np.testing.assert_array_equal(joined.siblings, whole.siblings[slice(*entries)])
    np.testing.assert_array_equal(joined.weights, whole.weights[slice(*entries)])


def test_rows_of_one_feature_are_joined_in_order():
    features, sizes = np.array([2, 5, 2, 4], dtype=np.uint32), np.array([1, 2, 2, 1], dtype=np.uint32)
    siblings, weights = np.array([0, 0, 2, 3, 5, 4], dtype=np.uint16), np.arange(6, dtype=np.float32)
    merged = merge_rows(features, sizes, siblings, weights, 6)
    assert [column.tolist() for column in merged] == [[2, 4, 5], [0, 3, 4, 6], [0, 3, 5, 4, 0, 2], [0, 3, 4, 5, 1, 2]]
