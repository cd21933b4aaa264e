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
    n = X.shape[0]
    frequencies = (X.toarray() != 0).sum(axis=0)
    order = np.argsort(-frequencies, kind="stable")
    places = np.argsort(order)
    first_list = 64 * n_words
    n_lists = max(np.count_nonzero(frequencies) - first_list, 0)
    steps = abs(X.toarray()).max(axis=0)[order[first_list:][:n_lists]]
    steps *= np.float32((1 + 1e-6) / 32767)
    n_blocks = -(-n // block_rows)
    lists = np.empty((n_blocks, n_lists), dtype=object)
    for place in np.ndindex(lists.shape):
        lists[place] = []
    row_places = []
    row_values = []
    words = np.zeros((n_words, n), dtype=np.uint64)
    squares = np.zeros((n_words, n))
    largest = np.zeros(n, dtype=np.uint16)
    for i in range(n):
        own = np.argsort(places[X[[i]].indices])
        row_places += places[X[[i]].indices][own].tolist()
        row_values += X[[i]].data[own].tolist()
        for place, value in zip(places[X[[i]].indices][own].tolist(), X[[i]].data[own].tolist()):
            if place < first_list:
                words[place // 64, i] |= np.uint64(1 << place % 64)
                squares[place // 64, i] += value**2
                largest[i] = max(largest[i], np.ceil(abs(value) * 65000))
            else:
                steps_down = int(np.floor(value / float(steps[place - first_list])))
                posting = (steps_down % 2**16) << 16 | i % block_rows
                lists[i // block_rows, place - first_list].append(posting)
    sizes = np.vectorize(len, otypes=[int])(lists)
    ends = np.cumsum(sizes, axis=1)
    return {
        "places": places,
        "row_starts": X.indptr,
        "row_places": row_places,
        "row_values": row_values,
        "sizes": np.diff(X.indptr),
        "words": words,
        "lengths": np.ceil(np.sqrt(squares) * 65000),
        "largest": largest,
        "steps": steps,
        "list_starts": np.insert(ends, 0, 0, axis=1),
        "block_starts": np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1),
        "postings": lists.sum() or [],
    }


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
