"""The index of a training set, compared array by array with a plain construction."""

import numpy as np
import pytest
from nearest_cases import data
from numpy.testing import assert_array_equal

from xmlc.kernels.unit_length import unit_rows
from xmlc.models.nearest._index import build_index


def naive_index(X, n_words, block_rows):
    """Build the index by a loop over instances in order, and over their features in order of
    places.
    """
    n, d = X.shape
    frequencies = (X.toarray() != 0).sum(axis=0)
    order = sorted(range(d), key=lambda j: (-frequencies[j], j))
    places = {j: place for place, j in enumerate(order)}
    n_lists = max(np.count_nonzero(frequencies) - 64 * n_words, 0)
    steps = abs(X.toarray()).max(axis=0)[order[64 * n_words :][:n_lists]] * np.float32(
        (1 + 1e-6) / 32767
    )
    lists = []
    for _ in range(-(-n // block_rows)):
        lists.append([[] for _ in range(n_lists)])
    row_places = []
    row_values = []
    words = np.zeros((n_words, n), dtype=np.uint64)
    lengths = np.zeros((n_words, n), dtype=np.uint16)
    largest = np.zeros(n, dtype=np.uint16)
    for i in range(n):
        row = sorted((places[j], v) for j, v in zip(X[[i]].indices, X[[i]].data, strict=True))
        squares = [0.0] * n_words
        for place, value in row:
            row_places.append(place)
            row_values.append(value)
            if place < 64 * n_words:
                words[place // 64, i] |= np.uint64(1 << place % 64)
                squares[place // 64] += float(value) ** 2
                largest[i] = max(largest[i], np.ceil(abs(float(value)) * 65000))
            else:
                steps_down = int(np.floor(float(value) / float(steps[place - 64 * n_words])))
                posting = (steps_down % 2**16) << 16 | i % block_rows
                lists[i // block_rows][place - 64 * n_words].append(posting)
        lengths[:, i] = [np.ceil(np.sqrt(square) * 65000) for square in squares]
    starts = []
    for block in lists:
        starts.append(np.concatenate(([0], np.cumsum([len(own) for own in block]))))
    flat = []
    for block in lists:
        for own in block:
            flat += own
    block_starts = np.cumsum([0] + [start[-1] for start in starts])[:-1]
    return {
        "places": [places[j] for j in range(d)], "row_starts": X.indptr, "row_places": row_places,
        "row_values": row_values, "sizes": np.diff(X.indptr), "words": words, "lengths": lengths,
        "largest": largest,
        "steps": steps, "list_starts": starts, "block_starts": block_starts, "postings": flat,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["weights", "binary", "signs"])
@pytest.mark.parametrize(
    ("n", "d", "n_words", "block_rows"), [(40, 150, 1, 16), (700, 30, 0, 300), (600, 90, 2, 65536)]
)
def test_every_array_equals_row_by_row_construction(n, d, n_words, block_rows, kind):
    X = unit_rows(data(n, d, 3, kind)[0])
    X.eliminate_zeros()
    expected = naive_index(X, n_words, block_rows)
    index = build_index(X, n_words, block_rows)
    for name, array in expected.items():
        assert_array_equal(getattr(index, name), array, err_msg=name)
