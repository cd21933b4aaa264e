"""The k best keys, compared with sorting, with ties and free entries."""

import numpy as np
import pytest

from xmlc.kernels.top_k import FREE, insert_key, key_estimate, key_number, rank_key


@pytest.mark.parametrize("k", [1, 3, 8, 16, 17, 32, 33, 69])
def test_insert_key_keeps_k_best_in_order_and_returns_dropped_key(k):
    rng = np.random.default_rng(k)
    estimates = (rng.integers(6, size=70) / 8).astype(np.float32)
    keys = np.full(k, FREE)
    expected = [(1.0, -1)] * k  # free places
    for number in rng.permutation(70):
        dropped = insert_key(keys, rank_key(np.int32(number), estimates[number]))
        *expected, last = sorted([*expected, (-estimates[number], number)])
        assert (-key_estimate(dropped), key_number(dropped)) == last
        assert [(-key_estimate(key), key_number(key)) for key in keys] == expected


def test_list_without_places_drops_every_key():
    assert insert_key(np.empty(0, dtype=np.int64), np.int64(7)) == 7


@pytest.mark.parametrize("estimate", [0.0, 2e-38, 0.5, 1.0])
def test_key_contains_number_and_estimate(estimate):
    for number in (-1, 0, 7, 2**31 - 1):
        key = rank_key(np.int32(number), np.float32(estimate))
        assert (key_number(key), key_estimate(key)) == (number, np.float32(estimate))
        assert key > FREE
