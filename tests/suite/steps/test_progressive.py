"""Test `xmlc progressive`: it writes the predictions for the shuffled stream in order."""

import numpy as np
import pytest
from command_line import run
from small_data import prepare_tiny

from xmlc.core.errors import XmlcError
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.metrics.progressive import checkpoints
from xmlc.suite.results.records.progressive import ProgressiveRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.progressive import run_stream

# The stub predicts the label of the previous instance. `random_state` has to be the seed.
STUB = """
import numpy as np
from xmlc.kernels.csr import as_labels
from xmlc.models.base import SparseProbabilityEstimator

class Last(SparseProbabilityEstimator):
    def __init__(self, random_state=0):
        self.random_state = random_state

    def fit(self, X, Y):
        return self

    def progressive_top_k(self, X, Y, k=1):
        assert not hasattr(self, "used"), "each run takes a model of its own"
        self.used = True
        Y = as_labels(Y)
        first = [Y.indices[a] if a < b else -1 for a, b in zip(Y.indptr[:-1], Y.indptr[1:])]
        labels = np.array([-1, *first[:-1]], dtype=np.int32)[:, None]
        return labels, np.ones(labels.shape, dtype=np.float32)
"""


@pytest.fixture
def written(tmp_path):
    data = prepare_tiny(tmp_path)
    (tmp_path / "stub.py").write_text(STUB)
    out = ("--out", tmp_path / "record.json")
    model = ("--estimator", f"{tmp_path / 'stub.py'}:Last", "--name", "last")
    assert run("progressive", "--data", data, *model, "--seed", 3, *out) == 0
    return data, tmp_path


def test_rows_follow_the_shuffled_stream(written):
    data, folder = written
    record = ProgressiveRecord.read(folder / "record.json")
    _, Y = Prepared(data).part("train")
    Y = Y[random_permutation(120, 3, Stream.STREAM_ORDER)].toarray()
    previous = np.vstack([np.zeros((1, 8), dtype=bool), Y[:-1]])
    hit = [bool(a.any() and b[a.argmax()]) for a, b in zip(previous, Y)]
    assert [row.instances for row in record.rows] == checkpoints(120).tolist()
    constant = Y.sum(axis=0).max() / 120
    assert record.constant_accuracy == constant
    for row in record.rows:
        t = row.instances
        accuracy = sum(hit[:t]) / t
        assert row.accuracy == accuracy
        assert row.entropy_reduction == (
            pytest.approx(np.log2(accuracy / constant)) if accuracy else None
        )
    assert (record.model, record.seed, record.hyperparameters) == ("last", 3, {})
    assert record.costs.cpu_seconds >= 0


def test_estimator_that_cannot_learn_a_stream_is_refused():
    with pytest.raises(XmlcError) as error:
        run_stream(object(), None, None)
    assert "object" in str(error.value)
