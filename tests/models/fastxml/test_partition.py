"""The partition of a node by nDCG, compared with a plain implementation, and the ranking of its
labels.
"""

from itertools import chain

import fastxml_twin as twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.models.fastxml._partition import (
    DIGIT_BITS,
    FIXED_POINT,
    MOST_PASSES,
    dcg_table,
    discount_table,
    ideal_table,
    partition_by_ndcg,
    rank_by_gain,
)

SMALL = settings(max_examples=40)


def node_csr(label_sets):
    starts = np.concatenate(([0], np.cumsum([len(s) for s in label_sets]))).astype(np.int64)
    labels = list(chain.from_iterable(map(sorted, label_sets)))
    return starts, np.array(labels, dtype=np.uint32)


@SMALL
@given(
    label_sets=st.lists(st.sets(st.integers(0, 7), max_size=5), min_size=1, max_size=25),
    weighted=st.booleans(),
    normalised=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_partition_equals_plain_implementation(label_sets, weighted, normalised, seed):
    rng = np.random.default_rng(seed)
    side = rng.choice([-1, 1], len(label_sets)).astype(np.int8)
    weights = rng.uniform(1, 5, 8).astype(np.float32) if weighted else np.ones(8, dtype=np.float32)
    expected, expected_value = twin.partition(label_sets, weights, side, normalised)
    ideal = (ideal_table if normalised else dcg_table)(9)
    value = partition_by_ndcg(*node_csr(label_sets), weights, ideal, discount_table(8), side)
    assert side.tolist() == expected
    assert value == pytest.approx(expected_value, rel=1e-9)


@SMALL
@given(
    scores=st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=300), shift=st.integers(0, 40)
)
def test_labels_are_ranked_by_score_then_by_number(scores, shift):
    sums = np.array(scores) >> shift
    n = len(scores)
    keys = np.empty((2, n), dtype=np.uint64)
    counts = np.empty(MOST_PASSES << DIGIT_BITS, dtype=np.uint32)
    gains = np.empty(n, dtype=np.int64)
    discounts = discount_table(n)
    rank_by_gain(sums, np.ones(n, dtype=np.float32), 1.0, discounts, *keys, counts, gains)
    expected = np.empty(n)
    expected[np.argsort(-sums, kind="stable")] = discounts * FIXED_POINT
    assert (gains == np.floor(expected + 0.5)).all()
