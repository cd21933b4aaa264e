"""The index of a training set, compared array by array with a plain construction."""

import numpy as np
import pytest
from nearest_cases import data
from numpy.testing import assert_array_equal

from xmlc.kernels.unit_length import unit_rows
from xmlc.models.nearest._index import build_index


def naive_index(X, n_words, block_rows):
    """Build the index from a dense matrix whose columns are in the order of places."""
    n = X.shape[0]
    dense = X.toarray()
    frequencies = np.count_nonzero(dense, axis=0)
    order = np.argsort(-frequencies, kind="stable")
    dense = dense[:, order]
    rows, places = np.nonzero(dense)
    values = dense[rows, places]
    first_list = 64 * n_words
    n_lists = max(np.count_nonzero(frequencies) - first_list, 0)
    by_word = np.zeros((n, n_words, 64))
    by_word.reshape(n, -1)[:, : dense.shape[1]] = dense[:, :first_list]
    bits = np.packbits(by_word != 0, axis=2, bitorder="little")
    squares = np.add.accumulate(by_word**2, axis=2)[..., -1]
    steps = abs(dense[:, first_list:][:, :n_lists]).max(axis=0) * np.float32((1 + 1e-6) / 32767)
    listed = places >= first_list
    lists = places[listed] - first_list
    blocks, rows_of_blocks = np.divmod(rows[listed], block_rows)
    steps_down = np.floor(values[listed] / steps[lists].astype(float)).astype(int)
    postings = (steps_down % 2**16) << 16 | rows_of_blocks
    sizes = np.zeros((-(-n // block_rows), n_lists), dtype=int)
    np.add.at(sizes, (blocks, lists), 1)
    return {
        "places": np.argsort(order),
        "row_starts": X.indptr,
        "row_places": places,
        "row_values": values,
        "sizes": np.diff(X.indptr),
        "words": bits.view(np.uint64)[..., 0].T,
        "lengths": np.ceil(np.sqrt(squares) * 65000).T,
        "largest": np.ceil(abs(by_word).max(axis=(1, 2), initial=0) * 65000),
        "steps": steps,
        "list_starts": np.insert(np.cumsum(sizes, axis=1), 0, 0, axis=1),
        "block_starts": np.cumsum(sizes.sum(axis=1)) - sizes.sum(axis=1),
        "postings": postings[np.lexsort((rows[listed], lists, blocks))],
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
