"""List the records that a run of a suite writes, and select records for a table or figure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xmlc.metrics.measures import MEASURE_METHODS, UNLABELLED_METHODS
from xmlc.suite.config import paths
from xmlc.suite.config.suite import Run, Suite, Task

# The project is imported only for type hints, because modules of records and tables import this
# module.
if TYPE_CHECKING:
    from xmlc.suite.config.project import Project

# Threshold methods that are run for baselines, if the suite has these methods.
BASELINE_METHODS = ("fta", "sto", "ofo")


@dataclass(frozen=True)
class Where:
    """Select records for a table or figure.

    If a field is empty or None, records are not selected by this field.

    Attributes
    ----------
    kind : str
        ``ranking``, ``thresholds``, ``calibration``, ``inference``, ``forest``, ``sweep``,
        ``progressive``, ``simulation``, ``statistics`` or ``search`` (a result of `xmlc tune`). Any
        other text is the name of a record without ``.json``, such as ``mine`` for
        ``<dataset>/<model>/seed0/full/mine.json``.
    split : str
        The training split of the selected models, ``full`` or ``80``. For records without a model,
        the split is empty.
    models, methods, sweeps : collection of str
        Names of the models, methods and sweeps whose records are selected. The name of a sweep is
        the key of the sweep in the suite.
    but_methods : collection of str
        Names of methods whose records are not selected.
    task : {"few-shot", "multi-label"} or None
        The task of the datasets whose records are selected.
    baselines : bool
        Whether the records of baselines are also selected, if the baseline programs are installed.
    searched : bool
        Whether to select only models with search ranges, or with a search result.
    beside : (str, int) or None
        The name of a model in other suites, and a number of labels. The model's records on datasets
        with at most this number of labels in the catalogue are also selected.
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
        """Return whether this selection includes the records of ``model`` with ``method``.

        If a record has no method, ``method`` is "", and the fields ``methods`` and ``but_methods``
        are ignored.
        """
        of_method = not method or (
            (not self.methods or method in self.methods) and method not in self.but_methods
        )
        return (not self.models or model in self.models) and of_method

    def files(
        self, project: Project, paper: str, datasets: Sequence[str] | None = None
    ) -> list[str]:
        """Return the paths of the selected records of a suite, in the order of a table's rows.

        If ``datasets`` is None, use all datasets of the suite that the settings select.
        """
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
        """Return the method and the path of each record of a run.

        For a record without a method, the method is "".
        """
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
        """Return the runs of ``model`` on the datasets that have at most ``most_labels`` labels in
        the catalogue.

        A dataset is left out if some suite defines the model, but does not run the model on this
        dataset.
        """
        homes = [name for name, suite in project.suites.items() if model in suite.models]
        runs = []
        for dataset in datasets if homes else ():
            published = project.entry(dataset).published
            is_small = published is not None and published.get("m", most_labels + 1) <= most_labels
            if is_small and all(model in project.models_on(home, dataset) for home in homes):
                runs += [Run(dataset, model, seed) for seed in project.suites[paper].seeds]
        return runs


@dataclass(frozen=True)
class Declared:
    """Declare a table or figure by its name and by the selections of its records.

    If the first selection is empty, the table or figure is not built.
    """

    name: str
    needs: tuple[Where, ...]

    @property
    def first(self) -> tuple[Where, ...]:
        """Return the selections that decide whether the table or figure is built.

        The table or figure is built if at least one of the returned selections contains records.
        """
        return self.needs[:1]

    def files(
        self, project: Project, paper: str, datasets: Sequence[str] | None = None
    ) -> list[str]:
        """Return the paths of the records that a suite needs for the table or figure.

        The list is empty if the table or figure is not built. The parameter ``datasets`` has the
        same meaning as in `Where.files`.
        """
        if not any(need.files(project, paper, datasets) for need in self.first):
            return []
        files: dict[str, None] = {}
        for need in self.needs:
            files |= dict.fromkeys(need.files(project, paper, datasets))
        return list(files)


def unlabelled(methods: Iterable[str]) -> list[str]:
    """Return the threshold methods in ``methods`` that need no validation set.

    Methods without a validation set also work with a model that is trained on the whole training
    set.
    """
    return [method for method in methods if method in UNLABELLED_METHODS]


def _methods(suite: Suite, run: Run, split: str) -> list[str]:
    """Return the threshold methods that a suite uses for a run.

    The list is empty if the suite only ranks with the model, or if the data for tuning thresholds
    are missing.
    """
    baseline = suite.baselines.get(run.model)
    model = suite.all_models.get(run.model)
    if {run.dataset, run.model} & {*suite.skip_thresholds} or (
        baseline and baseline.skip_thresholds
    ):
        return []
    # If a model has estimates for the test set only, no thresholds can be tuned.
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
# Thresholds that optimise macro-F.
THRESHOLDS = Where("thresholds", "80", but_methods=tuple(MEASURE_METHODS))
CALIBRATIONS = Where("calibration", "80")
FORESTS = Where("forest", "full")
STREAMS = Where("progressive", "full", task="few-shot")
INFERRED = Where("inference", "full")
SEARCHES = Where("search")
SIMULATIONS = Where("simulation")
