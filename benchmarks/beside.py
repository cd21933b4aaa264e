"""Estimators and other programs as they come: the models that `snakemake beside` has trained, loaded and asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from scipy import sparse

from benchmarks.commands import benchmark, rounds_option
from benchmarks.harness import CPU_TIME, PER_INSTANCE, PERCENT, PREDICTION, TOP, TRAINING, Contender, Report, precisions
from benchmarks.settings import suite
from xmlc.core.files import read_json
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option
from xmlc.suite.steps.prepared import Prepared

LOADING, THRESHOLDS = "loading and ranking one instance", "thresholds of STO"


@benchmark(
    "beside",
    "Load the models of `snakemake beside --config keep_models=true` and rank with them on one thread.",
    data_option,
    rounds_option(),
)
def bench_beside(data: Path, rounds: int) -> Report:
    """Measure processor time, the least of the rounds; costs of training and macro-F are those of the records."""
    prepared = Prepared(data)
    X, Y = prepared.part("test")
    report = Report("beside", prepared.meta["name"], f"{X.shape[0]} test instances, seed 0")
    for model, spec in suite("beside").all_models.items():
        run = data.parent / model / "seed0"
        folder = run / "full/model"
        if not folder.exists():
            report.remarks.append(f"{model}: no model in {folder}; the command above makes it")
            continue
        costs = read_json(run / "full/train.json")["costs"]
        threads = costs["train_threads"]
        report.contenders.append(Contender(model, spec.title or model, spec.hyperparameters))
        report.add(model, TRAINING, CPU_TIME, "s", costs["train_cpu_seconds"], threads=threads)
        report.add(model, TRAINING, "model", "MB", costs["model_bytes"] / 1e6, threads=threads)

        report.add_least(model, LOADING, CPU_TIME, "s", turns(partial(loaded, spec.estimator, folder, X[:1]), rounds))
        rank = partial(loaded(spec.estimator, folder, X[:1]).predict_top_k, X, TOP)
        labels, _ = rank()  # once before it is timed
        asked = [1e3 * turn / X.shape[0] for turn in turns(rank, rounds)]
        report.add_least(model, PREDICTION, CPU_TIME, PER_INSTANCE, asked)
        report.add_precision(model, PREDICTION, [precisions(Y, labels)])
        tuned = run / "80/evaluation/sto.json"
        if tuned.exists():
            found, note = read_json(tuned)["best"]["test"]["macro_f_present"], "labels that the test set has"
            report.add(model, THRESHOLDS, "macro-F", PERCENT, 100 * found, threads=threads, note=note)
    return report


def loaded(estimator: str, folder: Path, one: sparse.csr_array) -> SparseProbabilityEstimator:
    """Load a model for one thread and rank an instance: of files that are mapped little is read before."""
    model = load_estimator(estimator, folder, 1)
    model.predict_top_k(one, TOP)
    return model


def turns(call: Callable[[], object], rounds: int) -> list[float]:
    """Return the seconds of processor time of each of some calls."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return seconds
