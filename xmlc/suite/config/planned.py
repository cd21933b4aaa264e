"""The records of a suite, and selections of them for a table or figure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xmlc.metrics.measures import MEASURE_METHODS, UNLABELLED_METHODS
from xmlc.suite.config import paths
from xmlc.suite.config.suite import Run, Suite, Task

# Only for type hints: modules of records and tables import this module.
if TYPE_CHECKING:
    from xmlc.suite.config.project import Project

# Threshold methods of baselines, if the suite has them
BASELINE_METHODS = ("fta", "sto", "ofo")


@dataclass(frozen=True)
class Where:
    """A selection of records for a table or figure, in which an empty field selects all.

    Attributes
    ----------
    kind : str
        ``ranking``, ``thresholds``, ``calibration``, ``inference``, ``forest``, ``sweep``,
        ``progressive``, ``simulation``, ``statistics`` or ``search`` (a result of `xmlc tune`), or
        else the name of a record without ``.json``.
    split : str
        ``full`` or ``80``, or empty for records without a model.
    models, methods, but_methods, sweeps : collection of str
        Names. ``but_methods`` are left out, and a sweep has its key in the suite.
    task : {"few-shot", "multi-label"} or None
    baselines : bool
        Whether to add the records of installed baselines.
    searched : bool
        Whether a model must have search ranges or a search result.
    beside : (str, int) or None
        A model of other suites to add on datasets with at most this number of labels.
    """

    kind: str
    split: str = ""
    models: Collection[str] = ()
    methods: Collection[str] = ()
    but_methods: Collection[str] = ()
    sweeps: Collection[str] = ()
    task: Task | None = None
    baselines: bool = False
    searched: bool = False
    beside: tuple[str, int] | None = None

    def takes(self, model: str, method: str) -> bool:
        """Return whether the selection includes a model with a method, or "" for none."""
        of_method = not method or (
            (not self.methods or method in self.methods) and method not in self.but_methods
        )
        return (not self.models or model in self.models) and of_method

    def files(
        self, project: Project, paper: str, datasets: Sequence[str] | None = None
    ) -> list[str]:
        """Return the paths of a suite's selected records, in the order of a table's rows."""
        suite = project.suites[paper]
        names = datasets
        if names is None:
            names = project.datasets_of(paper)
        if self.kind == "statistics":
            return [paths.STATISTICS.of(dataset=name) for name in names]
        if self.kind == "simulation":
            return [paths.SIMULATION.of(paper=paper)]
        runs = project.runs(paper, names, self.baselines)
        if self.beside:
            runs += self._beside(project, paper, names, *self.beside)
        files: list[str] = []
        for run in runs:
            tuned = project.tuned_by(run.model, run.dataset)
            model = suite.all_models.get(run.model)
            is_searched = model and (model.search.ranges or (model.search.auto and tuned))
            if self.kind == "search":
                files += filter(None, [tuned])
            elif self.task in (None, suite.task_of(run.dataset)) and (
                is_searched or not self.searched
            ):
                files += [
                    file
                    for method, file in self._of_run(suite, run)
                    if self.takes(run.model, method)
                ]
        return list(dict.fromkeys(files))

    def _of_run(self, suite: Suite, run: Run) -> list[tuple[str, str]]:
        match self.kind:
            case "forest" if not (suite.ensembles and run.model in suite.ensembles.models):
                return []
            case "calibration" if not _methods(suite, run, self.split):
                return []
            case "progressive" if run.model not in suite.progressive:
                return []
            case "sweep":
                files = []
                for name in self.sweeps:
                    sweep = suite.sweeps.get(name)
                    if sweep and sweep.model == run.model and run.dataset not in sweep.without:
                        files.append(("", run.file(paths.SWEEP, paper=suite.name, sweep=name)))
                return files
            case "inference":
                inference = paths.Pattern(paths.INFERENCE.of(split=self.split))
                return [
                    (name, run.file(inference, method=name))
                    for name in suite.inferred(run.model, self.split)
                ]
            case "thresholds":
                pattern = {"full": paths.EVALUATION_OF_FULL, "80": paths.EVALUATION}[self.split]
                return [
                    (name, run.file(pattern, method=name))
                    for name in _methods(suite, run, self.split)
                ]
        return [("", run.file(paths.IN_RUN, split=self.split, rest=f"{self.kind}.json"))]

    def _beside(
        self, project: Project, paper: str, datasets: Sequence[str], model: str, most_labels: int
    ) -> list[Run]:
        homes = [name for name, suite in project.suites.items() if model in suite.models]
        runs = []
        for dataset in datasets if homes else ():
            published = project.entry(dataset).published
            is_small = published is not None and published.get("m", most_labels + 1) <= most_labels
            if is_small and all(model in project.models_on(home, dataset) for home in homes):
                runs += [Run(dataset, model, seed) for seed in project.suites[paper].seeds]
        return runs


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A table or figure, which is not built if its first selection is empty, or all if it may be
    ``partial``.
    """

    name: str = ""
    needs: tuple[Where, ...]
    partial: bool = False

    def files(
        self, project: Project, paper: str, datasets: Sequence[str] | None = None
    ) -> list[str]:
        """Return the paths of the records (`Where.files`), or none if the table is not built."""
        files = [need.files(project, paper, datasets) for need in self.needs]
        if not files[0] and not self.partial:
            return []
        return list(dict.fromkeys(chain(*files)))


def unlabelled(methods: Iterable[str]) -> list[str]:
    """Return threshold methods without a validation set, whose model may train on all data."""
    return [method for method in methods if method in UNLABELLED_METHODS]


def _methods(suite: Suite, run: Run, split: str) -> list[str]:
    baseline = suite.baselines.get(run.model)
    model = suite.all_models.get(run.model)
    if {run.dataset, run.model} & {*suite.skip_thresholds} or (
        baseline and baseline.skip_thresholds
    ):
        return []
    # Thresholds cannot be tuned with estimates for the test set only.
    untuned = (
        model
        and model.estimator == "estimates"
        and "validation" not in model.values_on(run.dataset)
    )
    if baseline and not untuned:
        return [method for method in BASELINE_METHODS if method in suite.methods]
    if split == "full":
        return unlabelled(suite.methods)
    if untuned:
        return []
    return [*suite.measure_methods, *suite.methods]


STATISTICS = Where("statistics")
RANKINGS = Where("ranking", "full")
# Thresholds for macro-F
THRESHOLDS = Where("thresholds", "80", but_methods=tuple(MEASURE_METHODS))
CALIBRATIONS = Where("calibration", "80")
FORESTS = Where("forest", "full")
STREAMS = Where("progressive", "full", task="few-shot")
INFERRED = Where("inference", "full")
SEARCHES = Where("search")
SIMULATIONS = Where("simulation")
