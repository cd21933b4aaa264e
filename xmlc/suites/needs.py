"""Which records a table or figure of a suite is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from xmlc.metrics.measures import UNLABELLED_METHODS
from xmlc.suites import paths
from xmlc.suites.paths import Pattern
from xmlc.suites.suite import Run, Suite, Task

if TYPE_CHECKING:  # records and tables name their needs, and do not depend on the project
    from xmlc.suites.project import Project

PEER_METHODS = ("fta", "sto", "ofo")  # those whose macro-F stands in the table of peers

# Of a project and a suite's name, for its datasets or for some: the records, in the order of a table's rows.
Files = Callable[["Project", str, Sequence[str] | None], list[str]]


@dataclass(frozen=True)
class Need:
    """Records that a table or figure needs.

    Attributes
    ----------
    kind : str
        A module of `xmlc.records`, which reads them.
    portion : str
        What their models were trained on: ``full``, ``80``, or nothing where there is no model.
    named : callable
        Names their files, given project, suite, and datasets or None.
    models, methods : callable or None
        Which models and methods they are of, as far as those are named; None for all.
    """

    kind: str
    portion: str
    named: Files
    models: Callable[[str], bool] | None = None
    methods: Callable[[str], bool] | None = None

    def files(self, project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        """Return the paths of the records, of a suite's datasets or of some of them."""
        found = self.named(project, paper, datasets)
        if not (self.models or self.methods):
            return found
        runs = [paths.IN_RUN.read(file) for file in found]
        return [file for file, run in zip(found, runs) if run and self.takes(run["model"], PurePath(file).stem)]

    def takes(self, model: str, method: str | None) -> bool:
        """Say whether records of a model, and of a method where they have one, are needed."""
        return (self.models is None or self.models(model)) and (self.methods is None or self.methods(method or ""))


@dataclass(frozen=True)
class Declared:
    """Declaration of a table or figure, before there are records; the first of its needs must be met."""

    name: str
    needs: tuple[Need, ...]

    @property
    def first(self) -> tuple[Need, ...]:
        """The needs of which one must be met."""
        return self.needs[:1]

    def files(self, project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        """Return the paths of the records that it is made from, of a suite's datasets or of some; maybe of none."""
        if not any(need.files(project, paper, datasets) for need in self.first):
            return []
        return [file for need in self.needs for file in need.files(project, paper, datasets)]


def of_each_run(
    pattern: Pattern, kept: Callable[[Suite, Run], bool] = lambda suite, run: True, peers: bool = False
) -> Files:
    """Name one file of each run that is kept, of a suite's models and, if asked, its baselines."""
    return _of_runs(lambda suite, run: [run.file(pattern)] if kept(suite, run) else [], peers)


def of_methods(pattern: Pattern, methods: Callable[[Suite, Run], Iterable[str]], peers: bool = False) -> Files:
    """Name one file of each method of each run of a suite's models and, if asked, its baselines."""
    return _of_runs(lambda suite, run: [run.file(pattern, method=method) for method in methods(suite, run)], peers)


def _of_runs(files: Callable[[Suite, Run], list[str]], peers: bool) -> Files:
    return lambda project, paper, datasets: [
        file for run in project.runs(paper, datasets, peers) for file in files(project.suites[paper], run)
    ]


def _ranked_on(task: Task) -> Files:
    return of_each_run(paths.RANKING, lambda suite, run: suite.task_of(run.dataset) == task)


def _is_few_shot_stream(suite: Suite, run: Run) -> bool:
    return run.model in suite.progressive and suite.task_of(run.dataset) == "few-shot"


def _is_of_ensembles(suite: Suite, run: Run) -> bool:
    return suite.ensembles is not None and run.model in suite.ensembles.models


def unlabelled(methods: Iterable[str]) -> list[str]:
    """Name the threshold methods that need no validation set: they take a model of the whole training set too."""
    return [method for method in methods if method in UNLABELLED_METHODS]


def _evaluated(methods: Callable[[Suite], list[str]], pattern: Pattern = paths.EVALUATION) -> Files:
    return of_methods(pattern, lambda suite, run: [] if suite.is_ranked_only(run) else methods(suite))


def _inferred(portion: str) -> Files:
    return of_methods(
        Pattern(paths.INFERENCE.of(portion=portion)), lambda suite, run: suite.inferred(run.model, portion)
    )


def _ranked_beside(model: str, most_labels: int) -> Files:
    """Name the rankings of a suite's runs and, on the same datasets with the same seeds, of a model of other suites.

    Where one of these leaves it out, so does this suite. The model is trained for a claim alone, so it is left out too
    where the catalogue does not say that a dataset has at most ``most_labels`` labels.
    """

    def files(project: Project, paper: str, datasets: Sequence[str] | None) -> list[str]:
        homes = [name for name, suite in project.suites.items() if model in suite.models]
        found = RANKINGS.files(project, paper, datasets)
        for dataset in project.datasets_of(paper) if datasets is None else datasets:
            published = project.entry(dataset).published
            is_small = published is not None and published.get("m", most_labels + 1) <= most_labels
            if homes and is_small and all(model in project.models_on(home, dataset) for home in homes):
                found += [Run(dataset, model, seed).file(paths.RANKING) for seed in project.suites[paper].seeds]
        return found

    return files


def sweeps_of(*names: str) -> Need:
    """Need the sweeps of these names, as far as a suite has them, one after the other."""

    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        return [
            run.file(paths.SWEEP, paper=paper, sweep=name)
            for name, sweep in project.suites[paper].sweeps.items()
            for run in project.runs(paper, datasets)
            if name in names and run.model == sweep.model and run.dataset not in sweep.without
        ]

    return Need("sweep", "full", files)


def _searched(project: Project, paper: str, datasets: Sequence[str] | None) -> list[str]:
    """List the results of the searches that a suite's models are trained with, each once for all seeds."""
    found = [project.tuned_by(run.model, run.dataset) for run in project.runs(paper, datasets)]
    return list(dict.fromkeys(file for file in found if file))


def _ranked_with_ranges(project: Project, paper: str, datasets: Sequence[str] | None) -> list[str]:
    """Name the rankings of models that have ranges, or are searched where they have no values."""
    models = project.suites[paper].models
    runs = project.runs(paper, datasets)
    return [
        run.file(paths.RANKING)
        for run in runs
        if models[run.model].tuning or (models[run.model].auto and project.tuned_by(run.model, run.dataset))
    ]


def _peer_methods(suite: Suite, run: Run) -> list[str]:
    """List the methods of a run's model, none of a baseline whose scores take no thresholds."""
    peer = suite.peers.get(run.model)
    if suite.is_ranked_only(run) or (peer and peer.ranks_only):
        return []
    return [method for method in PEER_METHODS if method in suite.methods]


def _steps(project: Project, paper: str, datasets: Sequence[str] | None) -> list[str]:
    """List the files with the costs of each step of a suite's run, in running order."""
    steps: list[str] = []
    suite = project.suites[paper]
    for dataset in project.datasets_of(paper) if datasets is None else datasets:
        made = [paths.RESOURCE.of(dataset=dataset)] if project.entry(dataset).synthetic else []
        steps += [*made, paths.STATISTICS.of(dataset=dataset)]
        for run in project.runs(paper, [dataset]):
            steps += [run.file(paths.TRAINING, portion="full"), run.file(paths.RANKING)]
            if suite.is_ranked_only(run):
                continue
            steps += [run.file(paths.TRAINING, portion="80"), run.file(paths.ESTIMATES)]
            for method in suite.methods:
                steps += [run.file(paths.THRESHOLDS, method=method), run.file(paths.EVALUATION, method=method)]
    return steps


def _of_datasets(project: Project, paper: str, datasets: Sequence[str] | None) -> list[str]:
    names = project.datasets_of(paper) if datasets is None else datasets
    return [paths.STATISTICS.of(dataset=dataset) for dataset in names]


STATISTICS = Need("statistics", "", _of_datasets)
RANKINGS = Need("ranking", "full", of_each_run(paths.RANKING))
RANKINGS_BESIDE_BR = Need("ranking", "full", _ranked_beside("br", most_labels=500))
MULTI_LABEL_RANKINGS = Need("ranking", "full", _ranked_on("multi-label"))
FEW_SHOT_RANKINGS = Need("ranking", "full", _ranked_on("few-shot"))
THRESHOLDS = Need("thresholds", "80", _evaluated(lambda suite: suite.methods))
THRESHOLDS_OF_FULL = Need(
    "thresholds", "full", _evaluated(lambda suite: unlabelled(suite.methods), paths.EVALUATION_OF_FULL)
)
MEASURES = Need("thresholds", "80", _evaluated(lambda suite: suite.measure_methods + unlabelled(suite.methods)))
BEST_INSTANCE_F = Need(
    "thresholds", "80", _evaluated(lambda suite: [m for m in suite.measure_methods if m == "for-instance-f"])
)
INFERRED_FROM_MODELS = Need("inference", "full", _inferred("full"))
INFERRED_FROM_ESTIMATES = Need("inference", "80", _inferred("80"))
ENSEMBLES = Need("forest", "full", of_each_run(paths.FOREST, _is_of_ensembles))
FEW_SHOT_STREAMS = Need("progressive", "full", of_each_run(paths.PROGRESSIVE, _is_few_shot_stream))
SEARCHES = Need("training", "", _searched)
RANKINGS_OF_SEARCHED = Need("ranking", "full", _ranked_with_ranges)
SIMULATIONS = Need("simulation", "", lambda project, paper, _: [paths.SIMULATION.of(paper=paper)])
PEER_RANKINGS = Need("ranking", "full", of_each_run(paths.RANKING, peers=True))
PEER_THRESHOLDS = Need("thresholds", "80", of_methods(paths.EVALUATION, _peer_methods, peers=True))
STEPS = Need("step", "", _steps)
