"""The benchmark of models as they come: it ranks with the models of a run, and takes the rest from its records."""

import json

from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks.beside import LOADING, THRESHOLDS
from benchmarks.harness import PREDICTION, TRAINING
from benchmarks.settings import suite
from xmlc.metrics import precision_at_k
from xmlc.models import PLT, SparseWeightedNearestNeighbors
from xmlc.suite.steps.prepared import Prepared


def test_models_are_ranked_with_and_loaded_and_records_are_read(tmp_path):
    data, run = prepare_tiny(tmp_path / "tiny", "data"), tmp_path / "tiny/swnn-default/seed0"
    model = SparseWeightedNearestNeighbors().fit(*Prepared(data).part("train"))
    (run / "80/evaluation").mkdir(parents=True)
    (run / "full").mkdir()
    model.save(run / "full/model")
    costs = {"train_cpu_seconds": 1.5, "model_bytes": 2e6, "train_threads": 2}
    (run / "full/train.json").write_text(json.dumps({"costs": costs}))
    (run / "80/evaluation/sto.json").write_text(json.dumps({"best": {"test": {"macro_f_present": 0.25}}}))
    rows = run_benchmark(tmp_path, "beside", "--data", data, "--rounds", 2)
    assert {key[0] for key in rows} == {"swnn-default"}  # no other has a model
    values = {(task, measure): row["value"] for (_, task, measure, _), row in rows.items()}
    assert values[TRAINING, "CPU time"] == 1.5
    assert values[TRAINING, "model"] == 2
    assert values[THRESHOLDS, "macro-F"] == 25
    X, Y = Prepared(data).part("test")
    assert values[PREDICTION, "P@3"] == 100 * precision_at_k(Y, model.predict_top_k(X, 5)[0], 3)
    for task in (LOADING, PREDICTION):
        row = rows["swnn-default", task, "CPU time", 1]
        assert row["value"] == min(row["rounds"]) >= 0
        assert len(row["rounds"]) == 2


def test_the_preset_is_what_the_suite_compares():
    ours = suite("beside").all_models["plt-ranking-default"]
    assert PLT(**ours.hyperparameters).get_params() == PLT.for_ranking().get_params()
