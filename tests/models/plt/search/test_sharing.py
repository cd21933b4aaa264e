"""Threads that share out the blocks of a level rank as one thread that walks alone, bit for bit."""

import numpy as np
import pytest
from plt_cases import random_nodes
from small_data import random_multilabel

from xmlc.csr import KernelCSR, kernel_csr
from xmlc.models import PLT
from xmlc.models.plt.search import queries, sharing
from xmlc.models.plt.search._beam import rank_by_beam
from xmlc.models.plt.search._block_scores import LOGISTIC_LINK
from xmlc.models.plt.search._certified import rank_certified
from xmlc.models.plt.search._sharing import places_of, smallest_head
from xmlc.models.plt.search._walk import Frontier
from xmlc.models.plt.search.queries import Queries
from xmlc.models.plt.search.sharing import Level, Part, rank_shared, sharing_pays


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def queries_for(n, d, tree, n_jobs, seed=0):
    x = kernel_csr(random_multilabel(n, d, 3, seed)[0])
    shape = d, int(np.diff(x.indptr).max(initial=0)), int(np.diff(tree.children).max())
    return Queries(x, LOGISTIC_LINK, shape, n_jobs, "")


def frontier_of(*nodes):
    size = len(nodes)
    return Frontier(np.arange(size, dtype=np.int32), np.array(nodes, dtype=np.int32), np.ones(size, dtype=np.float32))


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("arity", [2, 5, 40])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_shared_rankings_are_those_of_the_kernels(monkeypatch, n_jobs, arity, is_compact):
    """Also where instances take several batches, the last of which is shorter, and a level several portions."""
    tree, nodes = random_nodes(90, arity, 12, seed=arity)
    weights = nodes.drop(0.0) if is_compact else nodes
    asked = queries_for(61, 12, tree, n_jobs)
    whole = asked.x, 0, 61, weights, asked.link
    for certifies, kernel in ((False, rank_by_beam), (True, rank_certified)):
        for k, beam in ((1, 1), (4, 2), (7, 30)):
            expected = kernel(*whole, k, beam, asked.shape)
            assert_same(rank_shared(asked, weights, k, beam, certifies), expected)
            with monkeypatch.context() as patch:
                patch.setattr(queries, "ROWS_PER_BATCH", 9)
                patch.setattr(sharing, "ESTIMATES_AT_ONCE", 100)
                patch.setattr(sharing, "PIECES_PER_LEVEL", 5)
                patch.setattr(sharing, "PIECES_PER_PART", 1)
                assert_same(rank_shared(asked, weights, k, beam, certifies), expected)


@pytest.mark.parametrize("search", ["beam", "certified"])
def test_an_estimator_on_threads_that_share_ranks_as_on_one(multilabel, monkeypatch, search):
    X, Y = multilabel(300, 40, 90, seed=2)
    model = PLT(tree="random", arity=4, epochs=2, search=search, beam=4, n_jobs=1).fit(X, Y)
    alone = (*model.predict_top_k(X, 3), model.certified_, model.inner_products_)
    monkeypatch.setattr(sharing, "FEWEST_FEATURES", 0)
    monkeypatch.setattr(sharing, "LEAST_NONZEROS", 1)
    asked = model.set_params(n_jobs=2)._queries(X, "")
    assert sharing_pays(asked, model.nodes_)
    assert_same((*model.predict_top_k(X, 3), model.certified_, model.inner_products_), alone)


def test_sharing_pays_where_blocks_have_many_features_and_some_instances_each(monkeypatch):
    tree, nodes = random_nodes(90, 4, 12, seed=0)
    asked = queries_for(60, 12, tree, 2)

    def with_features(times):
        nonzeros = asked.x.indices.size / 2
        return nodes._replace(features=np.zeros(int(times * nonzeros), dtype=np.uint32))

    monkeypatch.setattr(sharing, "LEAST_NONZEROS", asked.x.indices.size // 2 + 1)
    assert not sharing_pays(asked, with_features(30))  # too little to hand out level by level
    monkeypatch.setattr(sharing, "LEAST_NONZEROS", asked.x.indices.size // 2)
    assert sharing_pays(asked, with_features(30))
    assert not sharing_pays(asked, with_features(3))  # instances read the features of blocks many times
    assert not sharing_pays(asked, with_features(300))  # and here hardly two meet in one
    assert not sharing_pays(asked._replace(n_jobs=1), with_features(30))
    assert not sharing_pays(asked._replace(shape=(12, 12, 2000)), with_features(30))
    nothing = KernelCSR(asked.x.indptr[:1], asked.x.indices[:0], asked.x.data[:0])
    assert not sharing_pays(asked._replace(x=nothing), nodes)


def test_pieces_cover_each_entry_once_and_no_node_is_cut_but_by_parts(monkeypatch):
    frontiers = frontier_of(4, 4, 5, 9), frontier_of(), frontier_of(4, 8, 8, 9, 9, 20)
    degrees = np.array([3, 1, 2, 5])  # of nodes 4, 5, 8, 9 and above
    parts = []
    for start, own in zip((0, 4, 5), frontiers):
        places = np.concatenate(([0], np.cumsum(degrees[np.minimum(np.searchsorted([4, 5, 8, 9], own.nodes), 3)])))
        parts.append(Part(start, own, places, None, np.zeros(0, dtype=np.int64)))
    for pieces_of_a_part, at_once in ((1, 1000), (100, 1000), (1, 6)):
        monkeypatch.setattr(sharing, "PIECES_PER_PART", pieces_of_a_part)
        monkeypatch.setattr(sharing, "ESTIMATES_AT_ONCE", at_once)
        level = Level(parts)
        np.testing.assert_array_equal(level.entries.rows, [0, 1, 2, 3, 5, 6, 7, 8, 9, 10])
        times, written = np.zeros(level.entries.nodes.size, dtype=int), []
        portions = list(level.portions())
        assert (len(portions) > 1) == (at_once == 6)
        for first, last in portions:
            offsets, size = level.offsets(first, last)
            places = []
            for lows, highs in level.pieces(first, last):
                for p, (low, high) in enumerate(zip(lows, highs)):
                    times[low:high] += 1
                    for entry in range(low, high):
                        own = entry - level.starts[p]
                        place = offsets[p] + parts[p].places[own]
                        places += range(place, place + parts[p].places[own + 1] - parts[p].places[own])
            assert sorted(places) == list(range(size))  # each estimate has a place of its own
            written.append(size)
        assert (times == 1).all()
        assert sum(written) == sum(part.places[-1] for part in parts)


def test_places_and_heads_are_those_of_plain_loops():
    tree, nodes = random_nodes(30, 4, 5, seed=1)
    inner = np.flatnonzero(np.diff(tree.children) > 0)
    places = places_of(frontier_of(-1, *inner), nodes)
    np.testing.assert_array_equal(places, np.concatenate(([0, 1], 1 + np.cumsum(np.diff(tree.children)[inner]))))
    visited = np.array([3, 5, 2, 2, 9], dtype=np.int32)
    ends = np.array([2, 4, 5])
    for heads, expected in (([0, 2, 4], 1), ([0, 4, 4], 0), ([2, 4, 4], 2), ([2, 4, 5], -1), ([1, 3, 4], 1)):
        assert smallest_head(visited, np.array(heads), ends) == expected
