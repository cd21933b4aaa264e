"""Bootstrap replicates of measures, compared with measures on a resampled test set."""

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


@settings(deadline=None, max_examples=20)
@given(**SHAPES)
def test_replicates_of_ranking_measures_equal_resampled_test_set(n, m, seed):
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
                assert replicate(scores, found, number)[f"{name}@{k}"] == pytest.approx(
                    expected, abs=1e-4
                )


def test_replicates_differ_and_are_equal_for_every_record():
    drawn = [tuple(draws(100, number)) for number in range(REPLICATES)]
    assert len(set(drawn)) == REPLICATES
    assert drawn == [tuple(draws(100, number)) for number in range(REPLICATES)]


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
        """Draw a test set and the label sets of two methods."""
        Y = rng.random((n, m)) < shares
        chance = rng.random((n, m))
        sets = [
            (Y & (chance < hit)) | (~Y & (chance < miss * shares))
            for hit, miss in ((0.4, 0.6), (0.3, 0.25))
        ]
        return sparse.csr_array(Y), [sparse.csr_array(each) for each in sets]

    def difference(scores):
        return scores[0]["macro_f"] - scores[1]["macro_f"]

    of_new_sets = []
    for Y, sets in (draw() for _ in range(200)):
        of_new_sets.append(difference([classification_metrics(Y, each) for each in sets]))
    estimated = []
    for Y, sets in (draw() for _ in range(8)):
        scores = [classification_metrics(Y, each) for each in sets]
        kept = [
            resampled_sets(n, partial(agreement, Y, each), of)
            for each, of in zip(sets, scores, strict=True)
        ]
        estimated.append(np.std(np.subtract(kept[0]["macro_f"], kept[1]["macro_f"]), ddof=1))
    assert np.mean(estimated) / np.std(of_new_sets, ddof=1) == pytest.approx(share, abs=0.15)
