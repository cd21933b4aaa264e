"""Replicates of measures against the test set written out with each instance as often as it was drawn."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.metrics import classification_metrics, ndcg_at_k, precision_at_k
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


@settings(deadline=None, max_examples=20)
@given(**SHAPES)
def test_label_sets_equal_those_written_out(n, m, seed):
    rng = np.random.default_rng(seed)
    Y, spe = rng.random((n, m)) < 0.4, sparse.csr_array(rng.random((n, m)).astype(np.float32))
    thresholds = rng.random(m).astype(np.float32)
    sets = apply_thresholds(spe, thresholds).toarray()
    scores = classification_metrics(Y, sets)
    of_sets = resampled_sets(n, lambda times: agreement(Y, sets, times), scores)
    blocks = [*sets_above(sparse.csr_array(Y[: n // 2]), spe[: n // 2], thresholds)]
    blocks += sets_above(sparse.csr_array(Y[n // 2 :]), spe[n // 2 :], thresholds)
    assert of_sets == resampled_sets(n, partial(agreement_of_blocks, blocks), scores)
    for number in (0, REPLICATES - 1):
        drawn = np.repeat(np.arange(n), draws(n, number))
        expected, found = classification_metrics(Y[drawn], sets[drawn]), replicate(scores, of_sets, number)
        for name in OF_SETS:
            assert found[name] == pytest.approx(expected[name], abs=1e-4)
        assert found["macro_f2"] == scores["macro_f2"]


@settings(deadline=None, max_examples=20)
@given(**SHAPES)
def test_rankings_equal_those_written_out(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.4
    labels = rng.permuted(np.tile(np.arange(m, dtype=np.int32), (n, 1)), axis=1)[:, :5]
    scores = precision_and_ndcg(Y, labels)
    found = resampled_ranking(Y, labels, scores)
    for number in (0, REPLICATES - 1):
        drawn = np.repeat(np.arange(n), draws(n, number))
        for k in (1, 3, 5):
            for name, of in (("p", precision_at_k), ("ndcg", ndcg_at_k)):
                expected = of(Y[drawn], labels[drawn], k)
                assert replicate(scores, found, number)[f"{name}@{k}"] == pytest.approx(expected, abs=1e-4)


def test_the_error_of_a_mean_is_that_of_its_formula():
    hits = np.random.default_rng(0).random(2000) < 0.3
    labels = np.tile(np.arange(5, dtype=np.int32), (2000, 1))
    Y = sparse.csr_array(np.outer(hits, [1, 0, 0, 0, 0]) > 0)
    found = resampled_ranking(Y, labels, precision_and_ndcg(Y, labels))["p@1"]
    assert np.std(found, ddof=1) == pytest.approx(hits.std(ddof=1) / np.sqrt(2000), rel=0.25)


def test_replicates_are_of_different_draws_and_the_same_for_every_record():
    drawn = [draws(100, number) for number in range(REPLICATES)]
    assert len({tuple(one) for one in drawn}) == REPLICATES
    assert all((draws(100, number) == drawn[number]).all() for number in range(REPLICATES))
    # 63 of 100 instances are drawn on average.
    assert np.mean([np.count_nonzero(one) for one in drawn]) == pytest.approx(63.4, abs=1.5)
