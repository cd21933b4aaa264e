"""The k best against sorting, with ties and free entries."""

import numpy as np
import pytest

from xmlc.kernels.top_k import insert_best


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
