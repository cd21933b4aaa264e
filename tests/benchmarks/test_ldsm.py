"""The benchmark of LdSM: P@k is the mean over seeds, and is compared on the same form of the rows only."""

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import elsewhere
from benchmarks import ldsm as bench
from benchmarks.harness import PREDICTION, TRAINING, Task
from xmlc.metrics import precision_at_k
from xmlc.models.ldsm import LdSM
from xmlc.suite.steps.prepared import Prepared

SETTING = {"max_nodes": 7, "epochs": 2, "learning_rate": 0.1}
PROGRAM = "authors' C++ program"


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(bench, "LDSM_OTHERWISE", bench.LDSM_OTHERWISE | SETTING)
    monkeypatch.setattr(elsewhere, "split_of", lambda Y: "repository 1")
    task = Task("napkinXC", elsewhere.CALIBRATION, lambda: None)
    monkeypatch.setattr(elsewhere, "calibration_task", lambda X, Y: task)


@pytest.mark.parametrize(("form", "printed"), [("unit", [62.66, 67.97]), ("raw", [63.78, 68.38])])
def test_trees_are_compared_with_those_of_the_program(tmp_path, few, form, printed):
    prepared = prepare_tiny(tmp_path, "delicious")
    rows = run_benchmark(tmp_path, "ldsm", "--data", prepared, "--rounds", 1, "--seeds", 2, "--rows", form)
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    models = [LdSM(n_trees=1, random_state=seed, unit_norm=form == "unit", **SETTING).fit(X, Y) for seed in (0, 1)]
    found = [100 * precision_at_k(Y_test, model.predict_top_k(X_test, 5)[0], 1) for model in models]
    one = rows["LdSM, 1 tree", PREDICTION, "P@1", 1]
    assert one["rounds"] == pytest.approx(found)
    assert one["value"] == pytest.approx(np.mean(found))
    for name, theirs in zip(("LdSM, 1 tree", "LdSM, 10 trees"), printed, strict=True):
        pair = f"{name} / {PROGRAM}"
        own = rows[name, PREDICTION, "P@1", 1]["value"]
        assert rows[f"{PROGRAM}: {name}", PREDICTION, "P@1", 1]["value"] == theirs
        assert rows[pair, f"{PREDICTION}, compared", "P@1", 1]["value"] == pytest.approx(own - theirs)
        assert rows[pair, f"{TRAINING}, compared", "time", 1]["value"] > 0
    assert ("LdSM, 10 trees", TRAINING, "time", 2) in rows
    assert len(rows["LdSM, 10 trees", bench.TREES, "depth of the deepest", 1]["rounds"]) == 10


def test_re_ranking_is_compared_with_the_same_trees_without_it(tmp_path, monkeypatch):
    models = {}

    def ranking_task(name, model, X, make=bench.ranking_task):
        models[name] = model
        return make(name, model, X)

    monkeypatch.setattr(bench, "ranking_task", ranking_task)
    monkeypatch.setattr(bench, "RE_RANKING", bench.RE_RANKING | {"n_trees": 2} | SETTING)
    rows = run_benchmark(tmp_path, "re-ranking", "--data", prepare_tiny(tmp_path, "delicious"), "--rounds", 1)
    plain, again = models[bench.PLAIN], models[bench.RE_RANKED]
    assert (plain.tail_ is None, again.tail_ is None) == (True, False)
    for one, other in zip(plain.forest_, again.forest_, strict=True):
        np.testing.assert_array_equal(one, other)
    times = [rows[name, PREDICTION, "time", 1]["value"] for name in (bench.PLAIN, bench.RE_RANKED)]
    ratio = rows[f"{bench.RE_RANKED} / {bench.PLAIN}", f"{PREDICTION}, compared", "time", 1]["value"]
    assert ratio == pytest.approx(times[1] / times[0])
