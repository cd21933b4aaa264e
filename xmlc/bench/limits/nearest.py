"""SWNN's construction of the index and its ranking beside their bare accesses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from xmlc.bench.harness import PREDICTION, TOP, TRAINING, Data
from xmlc.bench.limits._nearest import read_for_queries, scatter_rows
from xmlc.bench.limits.work import Arrays, Work, ranking_call
from xmlc.csr import kernel_csr, unit_rows, without_zeros
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.models.nearest.estimator import ROWS_PER_PIECE
from xmlc.runtime.parallel import row_blocks, run_pieces

CONTENDER = "SWNN, S 75"
MOST_QUERIES = 3000
BARE_PIECES = 8


def works(data: Data) -> Iterator[Work]:
    """Yield the construction of the index and the ranking of the best labels."""
    yield training(data)
    yield ranking(data)


def training(data: Data) -> Work:
    """Build the index; bare, write each non-zero where it belongs."""
    x, n_features = kernel_csr(data.X), data.X.shape[1]
    blocks = row_blocks(data.X.shape[0], -(-data.X.shape[0] // BARE_PIECES))
    of_block = [np.bincount(x.indices[x.indptr[a] : x.indptr[b]], minlength=n_features) for a, b in blocks]
    frequencies = np.sum(of_block, axis=0)
    order = np.argsort(-frequencies, kind="stable")
    places = np.empty(n_features, dtype=np.uint32)
    places[order] = np.arange(n_features, dtype=np.uint32)
    starts = np.empty(n_features, dtype=np.int64)
    starts[order] = np.cumsum(frequencies[order]) - frequencies[order]
    cursors = [starts + before for before in np.cumsum([np.zeros_like(starts), *of_block[:-1]], axis=0)]

    def call(threads: int) -> Arrays:
        model = SparseWeightedNearestNeighbors(n_jobs=threads).fit(data.X, data.Y)
        return {name: array for name, array in model.index_._asdict().items() if isinstance(array, np.ndarray)}

    def bare(threads: int) -> object:
        # New memory each time, as the index of a training is.
        written = (np.empty_like(x.indices), np.empty_like(x.data), np.empty_like(x.indices))

        def work(start: int, end: int, cursors: np.ndarray) -> object:
            return scatter_rows(x, places, cursors.copy(), start, end, *written)

        return run_pieces(work, [(*block, own) for block, own in zip(blocks, cursors, strict=True)], threads)

    units = float(x.indices.size)
    return Work(
        contender=CONTENDER, task=TRAINING, unit="non-zero", units=units, call=call, bare=bare, bare_units=units
    )


def ranking(data: Data) -> Work:
    """Rank the best labels; bare, read the same postings and the rows of the nearest."""
    X = data.X_test[:MOST_QUERIES]
    model = SparseWeightedNearestNeighbors().fit(data.X, data.Y)
    index, neighbours = model.index_, model.neighbours(X)[0]
    x = kernel_csr(without_zeros(unit_rows(without_zeros(X))))
    n_postings, n_compared = units_of(model, X)

    def bare(threads: int) -> object:
        def work(start: int, end: int) -> float:
            query = np.zeros(index.places.size, dtype=np.float32)
            sums = np.zeros(min(index.block_rows, index.sizes.size), dtype=np.int32)
            votes = np.zeros(data.Y.shape[1])
            voters = model.label_starts_, model.labels_
            return read_for_queries(x, start, end, index, neighbours, *voters, query, sums, votes)

        return run_pieces(work, row_blocks(X.shape[0], ROWS_PER_PIECE), threads)

    units = n_postings + n_compared
    return Work(
        contender=CONTENDER, task=PREDICTION, unit="posting or non-zero compared", units=units, bare_units=units,
        call=ranking_call(model, X), bare=bare,
        note=f"{X.shape[0]} queries, {n_postings / X.shape[0]:.0f} postings each",
    )  # fmt: skip


def units_of(model: SparseWeightedNearestNeighbors, X: sparse.csr_array) -> tuple[float, float]:
    """Count the postings that queries read, and the non-zeros of the instances that they are compared with.

    Of the latter, the similarities computed times the mean length of an instance.
    """
    index = model.index_
    n_frequent = 64 * index.words.shape[0]
    lists = np.diff(index.list_starts.astype(np.int64), axis=1).sum(axis=0)
    of_place = np.concatenate((np.zeros(n_frequent, dtype=np.int64), lists))
    of_place = np.pad(of_place, (0, max(index.places.size - of_place.size, 0)))
    postings = float(of_place[index.places[X.indices]].sum())
    model.predict_top_k(X, TOP)
    assert model.inner_products_ is not None  # a prediction counts them
    return postings, float(model.inner_products_.sum()) * index.row_places.size / index.sizes.size
