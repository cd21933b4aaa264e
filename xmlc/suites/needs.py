"""Which records a table or figure of a suite is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xmlc.suites import paths
from xmlc.suites.paths import Pattern
from xmlc.suites.suite import Run, Task

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
    files : callable
        Names them, given project, suite, and datasets or None.
    """

    kind: str
    portion: str
    files: Files


@dataclass(frozen=True)
class Declared:
    """Declaration of a table or figure, before there are records; the first of its needs must be met."""

    name: str
    needs: tuple[Need, ...]

    def files(self, project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        """Return the paths of the records that it is made from, of a suite's datasets or of some of them."""
        return [file for need in self.needs for file in need.files(project, paper, datasets)]


def of_each_run(pattern: Pattern) -> Files:
    """Name one file of each run of a suite's models: the dataset, model and seed of its path are the run's."""

    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        return [run.file(pattern) for run in project.runs(paper, datasets)]

    return files


_ranked = of_each_run(paths.RANKING)


def _ranked_on(task: Task) -> Files:
    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        return _ranked(project, paper, project.of_task(paper, task, datasets))

    return files


def _growing(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    return _ranked(project, paper, project.suites[paper].growth)


def _ranked_beside(model: str, most_labels: int) -> Files:
    """Name the rankings of a suite's runs and, on the same datasets with the same seeds, of a model of other suites.

    Where one of these leaves it out, so does this suite. The model is trained for a claim alone, so it is left out too
    where the catalogue does not say that a dataset has at most ``most_labels`` labels.
    """

    def is_small(project: Project, dataset: str) -> bool:
        published = project.entry(dataset).published
        return published is not None and published.get("m", most_labels + 1) <= most_labels

    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        homes = [name for name, suite in project.suites.items() if model in suite.models]
        beside = [
            Run(dataset, model, seed)
            for dataset in (project.datasets_of(paper) if datasets is None else datasets)
            if homes and is_small(project, dataset) and all(model in project.models_on(home, dataset) for home in homes)
            for seed in project.suites[paper].seeds
        ]
        return _ranked(project, paper, datasets) + [run.file(paths.RANKING) for run in beside]

    return files


def _evaluated(methods_of: Callable[[Project, str], Sequence[str]]) -> Files:
    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        methods, suite = methods_of(project, paper), project.suites[paper]
        runs = [run for run in project.runs(paper, datasets) if not suite.is_ranked_only(run)]
        return [run.file(paths.EVALUATION, method=m) for run in runs for m in methods]

    return files


def _for_instance_f(project: Project, paper: str) -> list[str]:
    return [method for method in project.suites[paper].measure_methods if method == "for-instance-f"]


def _inferred(portion: str) -> Files:
    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        suite = project.suites[paper]
        if suite.inference is None or suite.inference.portion != portion:
            return []
        return [
            run.file(paths.INFERENCE, portion=portion, method=method)
            for run in project.runs(paper, datasets)
            for method in suite.inferred(run.model)
        ]

    return files


def _of_datasets(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    return [paths.STATISTICS.of(dataset=dataset) for dataset in datasets or project.datasets_of(paper)]


def _condensed(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    nearest = [name for name, model in project.models.items() if model.estimator == "swnn"]
    return [run.file(paths.CONDENSED) for run in project.runs(paper, datasets) if run.model in nearest]


def _searched(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """List the results of the searches that a suite's models are trained with, each once for all seeds."""
    found = [project.tuned_by(run.model, run.dataset) for run in project.runs(paper, datasets)]
    return list(dict.fromkeys(file for file in found if file))


def _by_first_trees(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    ensembles = project.suites[paper].ensembles
    models = ensembles.models if ensembles else []
    return [run.file(paths.FOREST) for run in project.runs(paper, datasets) if run.model in models]


def sweeps_of(*names: str) -> Need:
    """Need the sweeps of these names, as far as a suite has them, one after the other."""

    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        found = {name: sweep for name, sweep in project.suites[paper].sweeps.items() if name in names}
        runs = project.runs(paper, datasets)
        return [
            run.file(paths.SWEEP, paper=paper, sweep=name)
            for name, sweep in found.items()
            for run in runs
            if run.model == sweep.model and run.dataset not in sweep.without
        ]

    return Need("sweep", "full", files)


def _progressive_on(task: Task) -> Files:
    def files(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
        models = project.suites[paper].progressive
        runs = project.runs(paper, project.of_task(paper, task, datasets))
        return [run.file(paths.PROGRESSIVE) for run in runs if run.model in models]

    return files


def _simulated(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    return [paths.SIMULATION.of(paper=paper)]


def _with_peers(project: Project, paper: str, datasets: Sequence[str] | None = None) -> Iterator[Run]:
    """List the runs of a suite's models and of the baselines beside them, dataset by dataset."""
    for dataset in project.datasets_of(paper) if datasets is None else datasets:
        for model in [*project.models_on(paper, dataset), *project.peers_on(paper, dataset)]:
            for seed in project.suites[paper].seeds:
                yield Run(dataset, model, seed)


def _ranked_with_peers(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    return [run.file(paths.RANKING) for run in _with_peers(project, paper, datasets)]


def _evaluated_with_peers(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """List the records of threshold methods, but for baselines whose scores take none."""
    suite = project.suites[paper]
    ranks_only = [name for name, peer in suite.peers.items() if peer.ranks_only]
    methods = [method for method in PEER_METHODS if method in suite.methods]
    runs = [
        run
        for run in _with_peers(project, paper, datasets)
        if run.model not in ranks_only and not suite.is_ranked_only(run)
    ]
    return [run.file(paths.EVALUATION, method=method) for run in runs for method in methods]


def _steps(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """List the files with the costs of each step of a suite's run, in running order."""
    steps: list[str] = []
    for dataset in project.datasets_of(paper):
        made = [paths.RESOURCE.of(dataset=dataset)] if project.entry(dataset).synthetic else []
        steps += [*made, paths.STATISTICS.of(dataset=dataset)]
        for run in project.runs(paper, [dataset]):
            steps += [run.file(paths.TRAINING, portion="full"), run.file(paths.RANKING)]
            if project.suites[paper].is_ranked_only(run):
                continue
            steps += [run.file(paths.TRAINING, portion="80"), run.file(paths.ESTIMATES)]
            for method in project.suites[paper].methods:
                steps += [run.file(paths.THRESHOLDS, method=method), run.file(paths.EVALUATION, method=method)]
    return steps


def _jobs(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """List the files with the costs of each step, inference included."""
    inferred = [_inferred(portion)(project, paper, datasets) for portion in ("full", "80")]
    return [*_steps(project, paper), *inferred[0], *inferred[1]]


STATISTICS = Need("statistics", "", _of_datasets)
RANKINGS = Need("ranking", "full", _ranked)
RANKINGS_BESIDE_BR = Need("ranking", "full", _ranked_beside("br", most_labels=500))
MULTI_LABEL_RANKINGS = Need("ranking", "full", _ranked_on("multi-label"))
FEW_SHOT_RANKINGS = Need("ranking", "full", _ranked_on("few-shot"))
GROWTH = Need("ranking", "full", _growing)
THRESHOLDS = Need("thresholds", "80", _evaluated(lambda project, paper: project.suites[paper].methods))
MEASURES = Need("thresholds", "80", _evaluated(lambda project, paper: project.suites[paper].measure_methods))
BEST_INSTANCE_F = Need("thresholds", "80", _evaluated(_for_instance_f))
INFERRED_FROM_MODELS = Need("inference", "full", _inferred("full"))
INFERRED_FROM_ESTIMATES = Need("inference", "80", _inferred("80"))
CONDENSED = Need("condensed", "full", _condensed)
ENSEMBLES = Need("forest", "full", _by_first_trees)
MULTI_LABEL_STREAMS = Need("progressive", "full", _progressive_on("multi-label"))
FEW_SHOT_STREAMS = Need("progressive", "full", _progressive_on("few-shot"))
SEARCHES = Need("training", "", _searched)
SIMULATIONS = Need("simulation", "", _simulated)
PEER_RANKINGS = Need("ranking", "full", _ranked_with_peers)
PEER_THRESHOLDS = Need("thresholds", "80", _evaluated_with_peers)
STEPS = Need("step", "", _steps)
JOBS = Need("step", "", _jobs)
