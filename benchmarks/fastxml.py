"""Speed of FastXML on one and on several threads, compared with the authors' program."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.commands import (
    baselines_option,
    benchmark,
    count_option,
    rounds_option,
    threads_option,
)
from benchmarks.elsewhere import UNIT_ROWS, Elsewhere
from benchmarks.harness import TOP, TRAINING, Contender, Data, Report, Task, ranking_task
from benchmarks.render import counted
from benchmarks.settings import FASTXML_OTHERWISE, paper_setting
from xmlc.models.fastxml import FastXML
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.options import data_option

# Trees of the forest that was measured elsewhere; on other datasets the paper's 50
TREES_ELSEWHERE = {"tib-core-26k": 10}


@benchmark(
    "fastxml",
    "Compare FastXML with the authors' program.",
    data_option,
    count_option("--trees", None, "Number of trees.  [default: as in the program's measurement]"),
    baselines_option,
    threads_option,
    rounds_option(2),
)
def bench_fastxml(
    data: Path, trees: int | None, baselines: bool, threads: int, rounds: int
) -> Report:
    """Measure training and prediction on one and several threads."""
    dataset = Data.read(data)
    setting = paper_setting("plt2016", "fastxml", "", FASTXML_OTHERWISE).hyperparameters
    setting["n_trees"] = trees or TREES_ELSEWHERE.get(dataset.name, setting["n_trees"])
    name = f"FastXML, {counted(int(str(setting['n_trees'])), 'tree')}"
    about = f"{dataset.size}, the fastest of {rounds} interleaved rounds"
    report = Report("fastxml", dataset.name, about, [Contender(name, "this package", setting)])
    models = {n: FastXML(n_jobs=n).set_params(**setting) for n in (1, threads)}
    X = dataset.X[:WARM_UP_ROWS]
    Y = dataset.Y[:WARM_UP_ROWS]
    models[1].fit(X, Y).predict_top_k(X, TOP)
    elsewhere = Elsewhere(dataset, [name], UNIT_ROWS, calibrate=baselines)
    tasks = elsewhere.tasks
    for n, model in models.items():
        tasks.append(Task(name, TRAINING, partial(model.fit, dataset.X, dataset.Y), threads=n))
        tasks.append(ranking_task(name, model, dataset.X_test, n))
    rankings = report.measure(tasks, rounds)
    report.add_speed_up(name, TRAINING, threads)
    report.add_rankings(name, rankings, dataset.Y_test, threads)
    elsewhere.compare(report)
    report.add_process()
    return report
