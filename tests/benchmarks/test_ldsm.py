"""The benchmark of LdSM: P@k is the mean over seeds, and is compared on the same form of the rows
only.
"""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import ldsm as bench
from benchmarks.harness import PREDICTION

SETTING = {"max_nodes": 7, "epochs": 2, "learning_rate": 0.1}


def test_re_ranking_is_compared_on_same_trees(tmp_path, monkeypatch):
    models = {}

    def ranking_task(name, model, X, make=bench.ranking_task):
        models[name] = model
        return make(name, model, X)

    monkeypatch.setattr(bench, "ranking_task", ranking_task)
    monkeypatch.setattr(bench, "RE_RANKING", bench.RE_RANKING | {"n_trees": 2} | SETTING)
    rows = run_benchmark(
        tmp_path, "re-ranking", "--data", prepare_tiny(tmp_path, "delicious"), "--rounds", 1
    )
    plain = models[bench.PLAIN]
    again = models[bench.RE_RANKED]
    assert (plain.tail_ is None, again.tail_ is None) == (True, False)
    for one, other in zip(plain.forest_, again.forest_, strict=True):
        np.testing.assert_array_equal(one, other)
    times = [rows[name, PREDICTION, "time", 1]["value"] for name in (bench.PLAIN, bench.RE_RANKED)]
    ratio = rows[f"{bench.RE_RANKED} / {bench.PLAIN}", f"{PREDICTION}, compared", "time", 1][
        "value"
    ]
    assert ratio == pytest.approx(times[1] / times[0])
