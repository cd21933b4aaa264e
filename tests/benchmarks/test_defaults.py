"""The benchmark of defaults: trials are those of `xmlc tune`, and the best of them is scored."""

import json

import pytest
from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks.defaults import SPACES
from xmlc.kernels.estimator import check_hyperparameters
from xmlc.models import SparseWeightedNearestNeighbors
from xmlc.models.registry import make_estimator
from xmlc.suite.config.ranges import parse_space
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.tuning.methods import random_trials

BEST = "best of the search"


def test_the_default_stands_beside_the_best_trial(tmp_path):
    data = prepare_tiny(tmp_path)
    rows = run_benchmark(tmp_path, "defaults", "--data", data, "--estimator", "swnn", "--trials", 4)
    prepared = Prepared(data)
    fit, val, test, train = (prepared.part(part) for part in ("fit", "val", "test", "train"))
    settings = [{}, *random_trials(parse_space(SPACES["swnn"]), 3, 0)]
    models = [SparseWeightedNearestNeighbors(n_jobs=1, **setting).fit(*fit) for setting in settings]
    scores = [100 * model.score(*val) for model in models]
    best = max(range(4), key=lambda trial: (scores[trial], trial))
    assert rows["swnn", BEST, "P@1, validation", 1]["rounds"] == scores
    assert json.loads(rows["swnn", BEST, "P@1, validation", 1]["note"]) == settings[best]
    assert rows["swnn", BEST, "P@1, test", 1]["value"] == 100 * models[best].score(*test)
    assert rows["swnn", "default", "P@1, test", 1]["value"] == 100 * models[0].score(*test)
    whole = SparseWeightedNearestNeighbors(n_jobs=1).fit(*train)
    assert rows["swnn", "prediction of the best 5", "P@1, test", 1]["value"] == 100 * whole.score(*test)


@pytest.mark.parametrize("estimator", SPACES)
def test_each_trial_is_one_that_the_estimator_takes(estimator):
    for values in random_trials(parse_space(SPACES[estimator]), 30, 0):
        check_hyperparameters(make_estimator(estimator, values, 0))
