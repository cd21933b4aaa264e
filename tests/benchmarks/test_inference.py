"""The benchmark of inference: it measures what it promises."""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from scipy import sparse
from small_data import prepare_tiny

from benchmarks import inference as bench
from xmlc.models.oracle import Oracle


class Sampler(Oracle):
    """Draws label vectors in which each label is as likely as among the training instances."""

    def fit(self, X, Y):
        self.priors = np.asarray(Y.mean(axis=0)).ravel()
        return super().fit(X, Y)

    def sample(self, X, n_samples):
        rng = np.random.default_rng(0)
        return sparse.csr_array(rng.random((X.shape[0] * n_samples, self.priors.size)) < self.priors)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Nothing is repeated, and the numbers of labels are small."""
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    monkeypatch.setattr(bench, "estimator_class", lambda name: Sampler)
    monkeypatch.setattr(bench, "make_estimator", lambda *_: Sampler())


def test_everything_is_measured(tmp_path):
    rows = run_benchmark(tmp_path, "inference", "--data", prepare_tiny(tmp_path), "--samples", 20, "--rounds", 2)
    times = {name: rows[name, bench.INFERENCE, "time", 1] for name in bench.METHODS}
    assert {len(row["rounds"]) for row in times.values()} == {2}
    for name, row in times.items():
        assert rows[name, bench.INFERENCE, "time / gfm's", 1]["value"] == row["value"] / times["gfm"]["value"]
    f = [rows[name, bench.INFERENCE, "instance-F", 1]["value"] for name in ("meuf", "meuf-cubic")]
    assert f[0] == f[1]
    assert rows["process", "whole benchmark", "drawing the samples, in no other time", 1]["value"] > 0
