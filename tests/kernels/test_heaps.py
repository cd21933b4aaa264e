"""Heaps, compared with sorting, with many ties."""

import numpy as np
import pytest

from xmlc.kernels.heaps import insert_best, make_heap, offer, pop_first
from xmlc.kernels.top_k import FREE, rank_key


@pytest.mark.parametrize(("size", "n"), [(1, 20), (3, 2), (7, 7), (10, 300)])
def test_heap_keeps_best_keys_of_a_stream(size, n):
    estimates = (np.random.default_rng(n).integers(0, 6, n) / 4).astype(np.float32)
    heap = np.full(size, FREE)
    expected = heap.tolist()
    for number, estimate in enumerate(estimates):
        key = rank_key(np.int64(number), estimate)
        offer(heap, key)
        expected = sorted([*expected, key])[1:]
        assert heap[0] == expected[0]
        assert sorted(heap) == expected


@pytest.mark.parametrize("size", [0, 1, 2, 9, 100])
def test_pop_first_returns_values_in_order_and_stores_them_after_heap(size):
    rng = np.random.default_rng(size)
    values = rng.integers(4, size=size) / 3
    ids = rng.permutation(size).astype(np.uint32)
    heap = np.empty(size, dtype=np.int64)
    make_heap(heap, values, ids)
    expected = sorted(range(size), key=lambda i: (-values[i], ids[i]))
    assert [pop_first(heap, size - k, values, ids) for k in range(size)] == expected
    assert heap[::-1].tolist() == expected


@pytest.mark.parametrize("k", [0, 1, 3, 8, 40])
@pytest.mark.parametrize("offered_in_order", [True, False])
def test_insert_best_keeps_k_best_in_order(k, offered_in_order):
    rng = np.random.default_rng(k)
    estimates = (rng.integers(6, size=30) / 8).astype(np.float32)
    order = np.arange(30) if offered_in_order else rng.permutation(30)
    labels = np.full(k, -1, dtype=np.int32)
    best = np.zeros(k, dtype=np.float32)
    for label in order:
        insert_best(labels, best, np.int32(label), estimates[label])
    expected = sorted(range(30), key=lambda label: (-estimates[label], label))[:k]
    np.testing.assert_array_equal(labels[:30], expected)
    np.testing.assert_array_equal(best[:30], estimates[expected])
    assert (labels[30:] == -1).all()
    assert not best[30:].any()


def test_insert_best_replaces_entries_with_negative_estimates():
    labels = np.array([7, 3, 9], dtype=np.int32)
    best = np.full(3, np.float32(-1))
    for label, estimate in ((8, 0.5), (10, 0.0), (11, 0.5)):
        insert_best(labels, best, np.int64(label), np.float32(estimate))
    assert labels.tolist() == [8, 11, 10]
    assert best.tolist() == [0.5, 0.5, 0.0]
