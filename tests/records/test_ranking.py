"""The record of a ranking, and its frame."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_cases import whole
from record_files import RecordFile
from report_cases import dataset, ranking

from xmlc.metrics import ndcg_at_k, precision_at_k
from xmlc.records.ranking import Hits, RankingRecord

FOUR = {
    "dataset": dataset() | {"n_test": 4},
    "hits": {"ranked": "0731", "true": "1535"},
}  # P@1 is 3/4, P@3 1/2, P@5 3/10
SCORED = ranking(standard_errors={"p@1": 0.01}, certified=0.5, **FOUR)
SCORED["metrics"] |= {"p@3": 0.5, "p@5": 0.3}
CONTENT = whole(SCORED, ["metrics", "standard_errors", "certified", "hits"])


class TestFile(RecordFile):
    kind, content, nan_at = RankingRecord, CONTENT, ["metrics", "p@1"]
    broken = (
        (["kind"], "thresholds"),
        (["schema"], 2),
        (["metrics", "ndcg@3"], ...),
        (["metrics", "p@1"], 75.0),
        (["costs", "train_seconds"], ...),
        (["seed"], "0"),
        (["hits", "ranked"], "073"),
        (["hits", "ranked"], "073w"),
        (["hits", "true"], "1536"),
        (["hits", "ranked"], "0730"),
    )


@settings(deadline=None, max_examples=40)
@given(n=st.integers(0, 12), m=st.integers(5, 12), seed=st.integers(0, 999))
def test_hits_are_the_bits_of_what_is_true_and_give_the_scores_of_single_instances(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < rng.uniform(0, 1, (n, 1))
    labels = rng.permuted(np.tile(np.arange(m, dtype=np.int32), (n, 1)), axis=1)[:, :5]
    labels[::2, 4] = -1
    hits = Hits.of(Y, labels)
    for i in range(n):
        bits = sum(2**r for r, label in enumerate(labels[i]) if label >= 0 and Y[i, label])
        assert (hits.ranked[i], hits.true[i]) == (np.base_repr(bits, 32).lower(), str(min(Y[i].sum(), 5)))
    assert len(hits.ranked) == n
    for name, metric in (("p", precision_at_k), ("ndcg", ndcg_at_k)):
        for k in (1, 3, 5):
            alone = [metric(Y[i : i + 1], labels[i : i + 1], k) for i in range(n)]
            assert hits.scores(f"{name}@{k}").tolist() == pytest.approx(alone)
