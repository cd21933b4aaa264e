"""The k best against sorting, with ties and free entries."""

import heapq

import numpy as np
import pytest

from xmlc.kernels.top_k import (
    FREE,
    SHORT,
    insert_best,
    insert_key,
    key_estimate,
    key_number,
    pop_node,
    push_node,
    rank_key,
    reaching,
)


@pytest.mark.parametrize("k", [0, 1, 3, 8, 40])
@pytest.mark.parametrize("offered_in_order", [True, False])
def test_the_k_best_stand_in_order(k, offered_in_order):
    rng = np.random.default_rng(k)
    estimates = (rng.integers(6, size=30) / 8).astype(np.float32)
    labels, best = np.full(k, -1, dtype=np.int32), np.zeros(k, dtype=np.float32)
    for label in np.arange(30) if offered_in_order else rng.permutation(30):
        insert_best(labels, best, np.int32(label), estimates[label])
    expected = sorted(range(30), key=lambda label: (-estimates[label], label))[:k]
    np.testing.assert_array_equal(labels, expected + [-1] * (k - len(expected)))
    np.testing.assert_array_equal(best, np.append(estimates[expected], np.zeros(k - len(expected), np.float32)))


def test_an_entry_with_an_estimate_below_all_is_free_whatever_its_label():
    labels, best = np.array([7, 3, 9], dtype=np.int32), np.full(3, np.float32(-1))
    for label, estimate in ((8, 0.5), (10, 0.0), (11, 0.5)):
        insert_best(labels, best, np.int64(label), np.float32(estimate))
    assert labels.tolist() == [8, 11, 10]
    assert best.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("k", [1, 3, 8, 16, 17, SHORT, SHORT + 1, 69])
def test_the_k_best_keys_stand_in_order_and_the_last_one_is_returned(k):
    rng = np.random.default_rng(k)
    estimates = (rng.integers(6, size=70) / 8).astype(np.float32)
    keys, offered = np.full(k, FREE), []
    for number in rng.permutation(70):
        dropped = insert_key(keys, rank_key(np.int32(number), estimates[number]))
        offered.append((-estimates[number], number))
        offered.sort()
        expected = offered[k] if len(offered) > k else (1.0, -1)
        assert (-key_estimate(dropped), key_number(dropped)) == expected
        del offered[k:]
        whole = [(-key_estimate(key), key_number(key)) for key in keys]
        assert whole == offered + [(1.0, -1)] * (k - len(offered))


@pytest.mark.parametrize("estimate", [0.0, 2e-38, 0.5, 1.0])
def test_a_key_has_its_number_and_estimate(estimate):
    for number in (-1, 0, 7, 2**31 - 1):
        key = rank_key(np.int32(number), np.float32(estimate))
        assert (key_number(key), key_estimate(key)) == (number, np.float32(estimate))
        assert key > FREE


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 64])
def test_which_estimates_reach_a_floor(size):
    rng = np.random.default_rng(size)
    estimates = (rng.integers(6, size=size) / 8).astype(np.float32)
    reached = reaching(estimates, np.float32(0.5), np.float32(0.25))
    assert [int(reached) >> c & 1 for c in range(64)] == [*(estimates >= 0.5), *[False] * (64 - size)]


@pytest.mark.parametrize("size", [1, 2, 3, 10, 200])
def test_a_queue_gives_the_greatest_estimate_first_and_of_equal_ones_the_smaller_node(size):
    rng = np.random.default_rng(size)
    nodes, estimates, twin, n = np.empty(size, np.int32), np.empty(size, np.float32), [], 0
    for node in rng.permutation(size):
        estimate = np.float32(rng.integers(5) / 4)
        push_node(nodes, estimates, n, node, estimate)
        heapq.heappush(twin, (-estimate, node))
        n += 1
        if rng.random() < 0.3:
            assert (-estimates[0], nodes[0]) == heapq.heappop(twin)
            pop_node(nodes, estimates, n)
            n -= 1
    while twin:
        assert (-estimates[0], nodes[0]) == heapq.heappop(twin)
        pop_node(nodes, estimates, n)
        n -= 1
