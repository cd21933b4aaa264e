"""Speed and quality of online label trees, compared with napkinXC's.

All trainings use one thread, and those with xmlc and napkinXC alternate, one pair per shuffle. In
napkinXC, training includes converting the data and writing the model, which cannot be left out but
take far less time than the training itself.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path

from benchmarks.commands import baselines_option, benchmark, count_option, several_option
from benchmarks.harness import (
    PER_INSTANCE,
    PREDICTION,
    TIME,
    TOP,
    TRAINING,
    Contender,
    Data,
    Report,
    precisions,
)
from benchmarks.settings import paper_setting
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option
from xmlc.suite.provenance.environment import timed

OURS = "xmlc"
PROGRAM = "napkinXC"
VARIANTS = {  # models in oplt2021.yaml, with the paper's hyperparameters
    "OPLT-R": {OURS: "oplt-r-1-pass", PROGRAM: "napkinxc-oplt-r"},
    "OPLT-B": {OURS: "oplt-b-1-pass", PROGRAM: "napkinxc-oplt-b"},
    "OPLT-W": {OURS: "oplt-w-1-pass", PROGRAM: "napkinxc-oplt-w"},
    "IPLT": {OURS: "iplt-1-pass", PROGRAM: "napkinxc-iplt"},
}


@benchmark(
    "oplt",
    "Compare online label trees with napkinXC.",
    data_option,
    several_option("--variant", "variants", tuple(VARIANTS), "Variant to measure; repeatable."),
    count_option("--seeds", 5, "Number of shuffles of the training set."),
    count_option("--epochs", 1, "Number of passes over the training set."),
    baselines_option,
)
def bench_oplt(
    data: Path, variants: tuple[str, ...], seeds: int, epochs: int, baselines: bool
) -> Report:
    """Train each variant on several shuffles, and report mean P@k and minimum times."""
    dataset = Data.read(data)
    settings = {}
    for variant in variants:
        for program, published in VARIANTS[variant].items():
            if baselines or program == OURS:
                setting = paper_setting("oplt2021", published, dataset.name, {"epochs": epochs})
                settings[f"{variant}, {program}"] = setting
    about = f"{dataset.size}, passes: {epochs}, P@k the mean of {seeds} shuffles, times the minimum"
    report = Report(
        "oplt",
        dataset.name,
        about,
        [Contender(name, *setting) for name, setting in settings.items()],
    )
    found = defaultdict[str, list[tuple[float, float, list[float]]]](list)
    for seed in range(seeds):
        for name, (estimator, hyperparameters) in settings.items():
            model = make_estimator(estimator, hyperparameters, seed, n_jobs=1)
            warm_up = model.unfitted().fit(dataset.X[:WARM_UP_ROWS], dataset.Y[:WARM_UP_ROWS])
            warm_up.predict_top_k(dataset.X_test[:WARM_UP_ROWS], TOP)
            _, training = timed(partial(model.fit, dataset.X, dataset.Y))
            (labels, _), ranking = timed(partial(model.predict_top_k, dataset.X_test, TOP))
            found[name].append((training, ranking, precisions(dataset.Y_test, labels)))
    for name, runs in found.items():
        trainings, rankings, scores = zip(*runs, strict=True)
        report.add_least(name, TRAINING, TIME, "s", trainings)
        ms = [1e3 * seconds / dataset.X_test.shape[0] for seconds in rankings]
        report.add_least(name, PREDICTION, TIME, PER_INSTANCE, ms)
        report.add_precision(name, PREDICTION, scores)
    for variant in variants if baselines else ():
        for task in (TRAINING, PREDICTION):
            report.compare(f"{variant}, {OURS}", f"{variant}, {PROGRAM}", task)
    return report
