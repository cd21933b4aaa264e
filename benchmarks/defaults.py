"""How much worse default settings are than a random search on the same dataset."""

from __future__ import annotations

import json
import time
from pathlib import Path

from benchmarks.commands import benchmark, count_option, several_option
from benchmarks.harness import CPU_TIME, PERCENT, PREDICTION, TRAINING, Contender, Report
from xmlc.kernels.csr import Matrix
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import make_estimator
from xmlc.suite.config.ranges import parse_space
from xmlc.suite.options import data_option
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.tune import random_trials

DEFAULT = "default"
SEARCHED = "best of the search"
VALIDATION = "P@1, validation"
TEST = "P@1, test"
SECONDS = 60  # CPU seconds after which no trial starts
MOST = 10_000  # training instances, and validation instances, of a trial
WARM_UP = 60  # instances on which kernels are compiled before measuring
SIZES: tuple[str, ...] = ("n_train", "d", "m")
# Few, because all settings gain equally from more trees
FOREST: Hyperparameters = {"n_trees": 5}
STEP = {"low": 0.03, "high": 3, "log": True}
WEIGHT = {"low": 0.1, "high": 30, "log": True}
LEAF = [10, 30, 100, 300]
SPACES: dict[str, dict[str, object]] = {
    "plt": {
        "tree": ["kmeans", "random"],
        "arity": [2, 16, 64],
        "max_leaf": LEAF,
        "solver": ["sgd", "adagrad", "batch"],
        "C": WEIGHT,
        "gamma": STEP,
        "epochs": [3, 10, 30],
        "unit_norm": [True, False],
    },
    "parabel": {
        "arity": [2, 16],
        "max_leaf": LEAF,
        "loss": ["squared_hinge", "logistic"],
        "hinge_power": [1, 2, 3],
        "C": WEIGHT,
        "weight_threshold": [None, 0.03, 0.1],
        "unit_norm": [True, False],
    },
    "fastxml": {
        "max_leaf": {"low": 3, "high": 100, "log": True, "integer": True},
        "labels_per_leaf": [20, 100, 500],
        "objective": ["ndcg", "dcg"],
        "unit_norm": [True, False],
    },
    "ldsm": {
        "max_nodes": {"low": 100, "high": 100_000, "log": True, "integer": True},
        "arity": [2, 4],
        "epochs": [3, 5, 10],
        "learning_rate": STEP,
        "lambda_1": [1.0, 2.0, 4.0],
        "shares": ["labels", "instances"],
        "unit_norm": [True, False],
    },
    "oplt": {
        "policy": ["best_greedy", "random"],
        "growth": ["paper", "program"],
        "arity": [2, 4, 16],
        "max_leaf": [30, 100, 300],
        "gamma": STEP,
        "eps": [0.001, 0.01, 0.1],
        "epochs": [1, 3, 10],
        "unit_norm": [True, False],
    },
    "swnn": {
        "S": {"low": 5, "high": 300, "log": True, "integer": True},
        "alpha": {"low": 0, "high": 8},
        "beta": [0, 0.5, 1, 2],
    },
    "br": {"C": {"low": 1e-4, "high": 100, "log": True}, "standardize": [True, False]},
}


@benchmark(
    "defaults",
    "Compare default settings with the result of a search.",
    data_option,
    several_option("--estimator", "estimators", tuple(SPACES), "Estimator to measure; repeatable."),
    count_option(
        "--trials", 30, "Number of trials of a search; the first one has default settings."
    ),
)
def bench_defaults(data: Path, estimators: tuple[str, ...], trials: int) -> Report:
    """Score default settings and a search's best on validation, each once on the test set."""
    prepared = Prepared(data)
    size = ", ".join(f"{prepared.meta[count]} {count}" for count in SIZES)
    about = f"{size}, at most {MOST} training instances in a trial"
    report = Report("defaults", prepared.meta["name"], about)
    parts = prepared.part("fit", MOST), prepared.part("val", MOST)
    for estimator in estimators:
        common = {}
        if estimator in ("fastxml", "ldsm"):
            common = FOREST
        fitted(estimator, common, *(part[:WARM_UP] for part in parts[0])).predict_top_k(
            parts[1][0][:WARM_UP], 1
        )
        settings = [{}, *random_trials(parse_space(SPACES[estimator]), trials - 1, 0)]
        start = time.process_time()
        scores: list[float] = []
        best = default = fitted(estimator, common, *parts[0])
        chosen: Hyperparameters = {}
        for values in settings:
            if time.process_time() - start > SECONDS and scores:
                break
            model = default
            if values:
                model = fitted(estimator, common | values, *parts[0])
            scores.append(100 * model.score(*parts[1]))
            if scores[-1] == max(scores):
                best = model
                chosen = values
        report.add(
            estimator,
            DEFAULT,
            VALIDATION,
            PERCENT,
            scores[0],
            note=f"trained on {parts[0][0].shape[0]}",
        )
        if trials > 1:
            report.add(
                estimator,
                SEARCHED,
                VALIDATION,
                PERCENT,
                max(scores),
                scores,
                note=json.dumps(chosen),
            )
            report.add(estimator, SEARCHED, TEST, PERCENT, 100 * best.score(*prepared.part("test")))
        report.add(estimator, DEFAULT, TEST, PERCENT, 100 * default.score(*prepared.part("test")))
        start = time.process_time()
        model = fitted(estimator, common, *prepared.part("train"))
        report.add(estimator, TRAINING, CPU_TIME, "s", time.process_time() - start)
        report.add(estimator, PREDICTION, TEST, PERCENT, 100 * model.score(*prepared.part("test")))
        report.contenders.append(
            Contender(estimator, "xmlc, with the best settings of the search", chosen)
        )
    return report


def fitted(
    estimator: str, values: Hyperparameters, X: Matrix, Y: Matrix
) -> SparseProbabilityEstimator:
    """Train an estimator on one thread, with seed 0."""
    return make_estimator(estimator, values, 0, 1).fit(X, Y)
