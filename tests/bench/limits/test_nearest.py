"""SWNN's bare accesses: every non-zero is written once, and a query reads the postings that a search reads."""

import numpy as np
import pytest
from scipy import sparse
from small_data import prepare_tiny, random_multilabel

from xmlc.bench.harness import Data
from xmlc.bench.limits import nearest
from xmlc.bench.limits._nearest import read_for_queries, read_sums, read_words, scatter_rows
from xmlc.csr import kernel_csr, unit_rows
from xmlc.models.nearest import SparseWeightedNearestNeighbors


def test_rows_are_scattered_to_the_lists_of_their_features():
    X = sparse.random_array((50, 9), density=0.4, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    frequencies = np.bincount(X.indices, minlength=9)
    cursors = np.cumsum(frequencies) - frequencies
    places, postings = np.arange(9, dtype=np.uint32), np.zeros(X.nnz, dtype=np.uint32)
    row_places, row_values = np.zeros(X.nnz, dtype=np.uint32), np.zeros(X.nnz, dtype=np.float32)
    counts = scatter_rows(kernel_csr(X), places, cursors, 0, 50, row_places, row_values, postings)
    assert counts.tolist() == frequencies.tolist()
    by_feature = unit_rows(X).tocsc()
    assert (postings & 0xFFFF).tolist() == by_feature.indices.tolist()
    np.testing.assert_allclose((postings >> 16) / 32767, by_feature.data, atol=1e-4)
    np.testing.assert_array_equal(row_places, X.indices)
    np.testing.assert_allclose(row_values, unit_rows(X).data, rtol=1e-5)


def test_what_a_query_reads_is_cleared_and_counts():
    X, Y = random_multilabel(200, 90, 5)
    model = SparseWeightedNearestNeighbors(S=3).fit(X, Y)
    numbers, similarities = model.neighbours(X[:10])
    query, sums, votes = np.zeros(90, dtype=np.float32), np.zeros(200, dtype=np.int32), np.zeros(5)
    voters = model.label_starts_, model.labels_
    x = kernel_csr(unit_rows(X))
    checked = read_for_queries(x, 0, 10, model.index_, numbers, *voters, query, sums, votes)
    assert not query.any()
    assert not sums.any()
    assert checked > similarities.sum()  # the cosine of each neighbour is no less
    assert votes.sum() > 0


def test_instances_are_read_whole():
    sums, sizes = np.array([5, -3, 9], dtype=np.int32), np.array([1, 2, 7], dtype=np.uint16)
    assert read_sums(sums, sizes) == 4
    words, lengths = np.array([0b1011, 0b0100], dtype=np.uint64), np.array([10, 100], dtype=np.uint16)
    assert read_words(words, lengths, np.uint64(0b0111)) == 2 * 10 + 100


def test_units_are_postings_and_non_zeros(tmp_path):
    data = Data.read(prepare_tiny(tmp_path))
    training, ranking = nearest.works(data)
    assert training.units == data.X.nnz
    assert set(training.call(1)) >= {"places", "postings", "row_values"}
    assert ranking.call(1)["labels"].shape == (data.X_test.shape[0], 5)
    model = SparseWeightedNearestNeighbors().fit(data.X, data.Y)
    postings, compared = nearest.units_of(model, data.X_test)
    frequencies = np.diff(data.X.tocsc().indptr)
    frequent = set(np.argsort(-frequencies, kind="stable")[: 64 * model.index_.words.shape[0]])
    assert postings == sum(frequencies[j] for j in data.X_test.indices if j not in frequent)
    assert compared == pytest.approx(
        model.predict_top_k(data.X_test, 5) and model.inner_products_.sum() * data.X.nnz / 120
    )
    for work in (training, ranking):
        work.bare(2)
