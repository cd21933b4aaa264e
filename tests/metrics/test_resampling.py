"""Bootstrap replicates of measures, compared with measures on a resampled test set."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.metrics import classification_metrics, macro_f
from xmlc.metrics._counts import DRAWS
from xmlc.metrics.classification import agreement, agreement_of_blocks
from xmlc.metrics.ranking import precision_and_ndcg
from xmlc.metrics.resampling import (
    OF_SETS,
    REPLICATES,
    draws,
    replicate,
    resampled_ranking,
    resampled_sets,
)
from xmlc.thresholds.methods import apply_thresholds, sets_above

SHAPES = {"n": st.integers(1, 9), "m": st.integers(5, 9), "seed": st.integers(0, 99)}


@settings(max_examples=20)
@given(**SHAPES)
def test_replicates_of_set_measures_equal_resampled_test_set(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.4
    spe = sparse.csr_array(rng.random((n, m)).astype(np.float32))
    thresholds = rng.random(m).astype(np.float32)
    sets = apply_thresholds(spe, thresholds).toarray()
    scores = classification_metrics(Y, sets)
    of_sets = resampled_sets(n, lambda times: agreement(Y, sets, times), scores)
    blocks = [*sets_above(sparse.csr_array(Y[: n // 2]), spe[: n // 2], thresholds)]
    blocks += sets_above(sparse.csr_array(Y[n // 2 :]), spe[n // 2 :], thresholds)
    assert of_sets == resampled_sets(n, partial(agreement_of_blocks, blocks), scores)
    for number in (0, REPLICATES - 1):
        drawn = np.repeat(np.arange(n), draws(n, number))
        expected = classification_metrics(Y[drawn], sets[drawn])
        found = replicate(scores, of_sets, number)
        for name in OF_SETS:
            assert found[name] == pytest.approx(expected[name], abs=1e-4)
        assert found["macro_f2"] == scores["macro_f2"]


@settings(max_examples=20)
@given(**SHAPES)
def test_replicates_of_ranking_measures_equal_resampled_test_set(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.4
    labels = rng.permuted(np.tile(np.arange(m, dtype=np.int32), (n, 1)), axis=1)[:, :5]
    scores = precision_and_ndcg(Y, labels)
    resampled = resampled_ranking(Y, labels, scores)
    for number in (0, REPLICATES - 1):
        drawn = np.repeat(np.arange(n), draws(n, number))
        expected = precision_and_ndcg(Y[drawn], labels[drawn])
        assert replicate(scores, resampled, number) == pytest.approx(expected, abs=1e-4)


@given(n=st.integers(0, 9), number=st.integers(0, 49))
def test_draws_equal_plain_loop(n, number):
    key = np.uint64(stream_key(DRAWS, number))
    drawn = [random_below(key, i, n) for i in range(n)]
    assert draws(n, number).tolist() == [drawn.count(i) for i in range(n)]


def test_replicates_differ():
    assert len({tuple(draws(100, number)) for number in range(REPLICATES)}) == REPLICATES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "most", "positives", "share"),
    [(14, 0.3, 70, 1.0), (300, 0.3, 6.3, 0.8), (1000, 0.05, 0.4, 0.55)],
)
def test_bootstrap_error_of_macro_f_is_too_small_if_labels_are_rare(m, most, positives, share):
    """No replicate contains a label that the test set lacks. The reference draws new test sets."""
    n = 1000
    rng = np.random.default_rng(1)
    shares = np.minimum(0.3, most / np.arange(1, m + 1))
    assert n * shares.mean() == pytest.approx(positives, rel=0.1)

    def draw():
        """Draw a test set, and yield it with the label sets of each of two methods."""
        Y = rng.random((n, m)) < shares
        chance = rng.random((n, m))
        for hit, miss in ((0.4, 0.6), (0.3, 0.25)):
            sets = (Y & (chance < hit)) | (~Y & (chance < miss * shares))
            yield sparse.csr_array(Y), sparse.csr_array(sets)

    def resampled_macro_f(pair):
        return resampled_sets(n, partial(agreement, *pair), classification_metrics(*pair))[
            "macro_f"
        ]

    of_new_sets = []
    for _ in range(200):
        one, other = (macro_f(*pair) for pair in draw())
        of_new_sets.append(one - other)
    estimated = []
    for _ in range(8):
        one, other = map(resampled_macro_f, draw())
        estimated.append(np.std(np.subtract(one, other), ddof=1))
    assert np.mean(estimated) / np.std(of_new_sets, ddof=1) == pytest.approx(share, abs=0.15)
