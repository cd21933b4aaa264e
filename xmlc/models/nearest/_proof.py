"""What proves that a stored index is what the search takes it for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xmlc.gate.fields import Malformed, check_array, check_below, check_indices, check_starts, field_of
from xmlc.models.nearest._building import WORD_BITS
from xmlc.models.nearest._index import BLOCK_ROWS, MOST_WORDS

MOST_INSTANCES = np.iinfo(np.int32).max


def check_index(arrays: Mapping[str, np.ndarray], block_rows: object, n_features: int) -> None:
    """Prove the arrays of a `NeighbourIndex`: one pass over rows and postings.

    Raises
    ------
    Malformed
    """
    places = field_of(arrays, "places", np.uint32, (n_features,))
    check_below(places, "places", n_features)
    if places.size and np.bincount(places, minlength=n_features).max() > 1:
        raise Malformed("places", "two features have one place")
    row_starts = field_of(arrays, "row_starts", np.int64, (None,))
    n = row_starts.size - 1
    if not 1 <= n <= MOST_INSTANCES:
        raise Malformed("row_starts", f"is of {n} instances, expected 1 .. {MOST_INSTANCES}")
    row_places = field_of(arrays, "row_places", np.uint32, (None,))
    field_of(arrays, "row_values", np.float32, row_places.shape)
    check_starts(row_starts, "row_starts", row_places.size, "row_places")
    check_indices(row_places, "row_places", n_features, row_starts)
    sizes = field_of(arrays, "sizes", np.uint16, (n,))
    if not np.array_equal(sizes, np.minimum(np.diff(row_starts), np.iinfo(np.uint16).max)):
        raise Malformed("sizes", "are not the numbers of features that row_starts gives")
    words = field_of(arrays, "words", np.uint64, (None, n))
    if words.shape[0] > MOST_WORDS:
        raise Malformed("words", f"{words.shape[0]} for an instance, expected at most {MOST_WORDS}")
    field_of(arrays, "lengths", np.uint16, words.shape)
    field_of(arrays, "largest", np.uint16, (n,))
    if type(block_rows) is not int or not 1 <= block_rows <= BLOCK_ROWS:
        raise Malformed("model.json", f"block_rows is {block_rows!r}, expected 1 .. {BLOCK_ROWS}")
    _check_lists(arrays, n, block_rows, max(n_features - words.shape[0] * WORD_BITS, 0))


def _check_lists(arrays: Mapping[str, np.ndarray], n: int, block_rows: int, most_lists: int) -> None:
    """Prove postings: their starts, and that each names an instance of its block."""
    steps = field_of(arrays, "steps", np.float32, (None,))
    if steps.size > most_lists:
        raise Malformed("steps", f"are of {steps.size} features, expected at most {most_lists}")
    if not np.isfinite(steps).all():
        raise Malformed("steps", "hold a value that is not finite")
    n_blocks = -(-n // block_rows)
    starts = field_of(arrays, "list_starts", np.uint32, (n_blocks, steps.size + 1))
    postings = field_of(arrays, "postings", np.uint32, (None,))
    block_starts = field_of(arrays, "block_starts", np.int64, (n_blocks,))
    ends = np.append(block_starts, postings.size)
    check_starts(ends, "block_starts", postings.size, "postings")
    for block in range(n_blocks):
        own = postings[ends[block] : ends[block + 1]]
        check_starts(starts[block], "list_starts", own.size, f"the postings of block {block}")
        check_below(own & np.uint32(0xFFFF), "postings", min(block_rows, n - block * block_rows))


def check_voters(arrays: Mapping[str, np.ndarray], n_labels: int) -> None:
    """Prove the label sets of the instances.

    Raises
    ------
    Malformed
    """
    labels = field_of(arrays, "labels", np.uint32, (None,))
    starts = field_of(arrays, "label_starts", np.int64, (len(arrays["row_starts"]),))
    check_starts(starts, "label_starts", labels.size, "labels")
    check_indices(labels, "labels", n_labels, starts)


def check_tables(starts: np.ndarray, members: np.ndarray, n: int, seed: object) -> None:
    """Prove the hash tables of the approximate search.

    Raises
    ------
    Malformed
    """
    check_array(starts, "starts", np.int64, (None, None))
    check_array(members, "members", np.uint32, (None,))
    buckets = starts.shape[1] - 1
    if starts.shape[0] < 1 or buckets < 2 or buckets & (buckets - 1):
        raise Malformed("starts", f"{starts.shape[0]} tables of {buckets} buckets, expected a power of two of them")
    if not np.array_equal(starts[1:, 0], starts[:-1, -1]):
        raise Malformed("starts", "a table does not begin where the one before it ends")
    check_starts(starts.reshape(-1), "starts", members.size, "members")
    check_below(members, "members", n)
    if type(seed) is not int:
        raise Malformed("model.json", f"seed is {seed!r}, expected a whole number")
