"""Plan a run: list the tables and figures of each suite, and the records that they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.core.sources import source_digest
from xmlc.suite.config import paths
from xmlc.suite.config.costs import job_of
from xmlc.suite.config.project import Project
from xmlc.suite.papers import TITLES, enter_rooms, figure_of, modules_of, statements_of, table_of
from xmlc.suite.papers.claims import CLAIMS
from xmlc.suite.papers.plotting import METADATA
from xmlc.suite.provenance.planned_code import planned_code
from xmlc.suite.results.titles import model_title
from xmlc.suite.schemas import located

TABLE_FILES = ("csv", "md", "tex")
FIGURE_FILES = tuple(METADATA)
# Maps each step that reads a model of a split, in the order of a job, to the rule of the step.
AFTER_TRAINING = {
    "full": {
        "rank": "rank",
        "forest": "forest",
        "thresholds": "thresholds_without_validation",
        "infer": "infer",
    },
    "80": {"estimate": "estimate", "thresholds": "thresholds", "infer": "infer"},
}
NEED_TRAINING = ("train", "sweep", "rank", "forest", "estimate", "thresholds", "infer")
TABLE = paths.Pattern(f"{paths.TABLE}.csv")
Records = dict[str, list[str]]  # Records by the name of the table or figure that needs them.


@dataclass(frozen=True)
class SuitePlan:
    """The tables and figures of a suite, with the records that each table and figure needs.

    Attributes
    ----------
    tables, figures : dict of str to list of str
        The records that each table or figure needs, by the name of the table or figure.
    steps : list of str
        Outputs of steps that run before the records are written: statistics, searches, trained
        models and estimates.
    """

    tables: Records
    figures: Records
    steps: list[str] = field(default_factory=list)


def check_tables(project: Project) -> None:
    """Check that all tables and figures of suites exist, and that each suite of the run has one.

    `Project.read` cannot check them, because tables and figures are defined in a higher layer than
    the configuration.

    Raises
    ------
    XmlcError
    """
    for paper, suite in project.suites.items():
        for key, names, find in (("tables", suite.tables, table_of), ("figures", suite.figures, figure_of)):
            for name in names:
                try:
                    find(name, paper)
                except XmlcError as error:
                    raise XmlcError(located(suite.file, (key,), str(error))) from error
        if paper in project.settings.papers and not suite.tables and not suite.figures:
            problem = "found no table and no figure, so nothing would be built. "
            problem += "Add a table, such as table1"
            raise XmlcError(located(suite.file, ("tables",), problem))


def plan_of(project: Project) -> dict[str, SuitePlan]:
    """Return the plan of each suite: its tables and figures that have records, and these records."""
    plans = {}
    for paper in project.suites:
        steps: dict[str, None] = {}
        for record in records_of(project, paper):
            steps |= dict.fromkeys(_steps_to(project, record))
        plans[paper] = SuitePlan(tables_of(project, paper), figures_of(project, paper), list(steps))
    return plans


def _steps_to(project: Project, record: str) -> list[str]:
    """Return the outputs of the steps that run before a record is written, in their order."""
    run = paths.IN_RUN.read(record)
    if run is None:
        return []
    steps = [paths.STATISTICS.of(**run)]
    tuned = project.tuned_by(run["model"], run["dataset"])
    if tuned:
        steps.append(tuned)
    if record != paths.PROGRESSIVE.of(**run):
        steps.append(paths.TRAINING.of(**run))
    if run["split"] == "80" and not project.drops(run["dataset"]):
        steps.append(paths.ESTIMATES.of(**run))
    return steps


def tables_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> Records:
    """Return the records that each table of a suite needs, on all or some datasets.

    A table is left out if the selected datasets and models do not produce its records.
    """
    tables = [table_of(name, paper) for name in project.suites[paper].tables]
    records = {table.name: table.files(project, paper, datasets) for table in tables}
    return {name: files for name, files in records.items() if files}


def figures_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> Records:
    """Return the records that each figure of a suite needs, like `tables_of`."""
    figures = [figure_of(name, paper) for name in project.suites[paper].figures]
    records = {figure.name: figure.files(project, paper, datasets) for figure in figures}
    return {name: files for name, files in records.items() if files}


def records_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """Return the records that the tables and figures of a suite need."""
    tables = tables_of(project, paper, datasets)
    figures = figures_of(project, paper, datasets)
    return [*chain(*tables.values(), *figures.values())]


def jobs_of_dropped_models(project: Project) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return the jobs that train a model, run all steps that read it, and delete it.

    A job runs a step if a table or figure of any suite needs the step's record. The settings
    `papers`, `models` and `seeds` do not change the jobs, so that they rerun none.

    Returns
    -------
    dict of (str, tuple of str) to list of str
        Maps a split and the steps that read a model to the models with these steps, as
        ``dataset/model``.
    """
    suites = {name: replace(one, seeds=one.seeds[:1]) for name, one in project.suites.items()}
    settings = replace(project.settings, models=None)
    every = replace(project, settings=settings, suites=suites)
    dropped = {*project.dropped}
    steps: dict[tuple[str, str], set[str]] = {}
    for paper, suite in suites.items():
        datasets = {*suite.datasets}
        if not suite.own:  # A paper's suite can run on any dataset.
            datasets |= dropped
        records = records_of(every, paper, sorted(datasets))
        if suite.baselines:
            records += table_of("baselines", paper).files(every, paper, sorted(datasets))
        for job in map(job_of, records):
            if job and job.dataset in dropped and job.step in NEED_TRAINING:
                steps.setdefault((job.split, f"{job.dataset}/{job.model}"), set()).add(job.step)
    jobs: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (split, model), names in sorted(steps.items()):
        if split == "80" and names & {"thresholds", "infer"}:
            names.add("estimate")
        after = tuple(rule for step, rule in AFTER_TRAINING[split].items() if step in names)
        jobs.setdefault((split, after), []).append(model)
    return jobs


def remarks(project: Project, made: Iterable[str]) -> list[str]:
    """Return remarks on models without estimates that the tables among the outputs ``made`` leave out."""
    tables = [table["paper"] for table in map(TABLE.read, made) if table]
    papers = [paper for paper in dict.fromkeys(tables) if paper in project.suites]
    return [*filter(None, map(project.check_estimates, papers))]


def targets(project: Project) -> dict[str, Callable[[], list[str]]]:
    """Return a dict from target to a function that lists the files of the target.

    The targets are ``all``, ``tables``, ``baselines``, and the names of suites and datasets.
    """
    found: dict[str, Callable[[], list[str]]] = {
        "all": partial(_files_of, project),
        "tables": partial(_files_of, project, figures=False),
        "baselines": partial(baseline_files, project),
    }
    for paper in project.suites:
        found[paper] = partial(_files_of, project, paper)
    for paper in project.suites:
        for name in project.datasets_of(paper):
            # The target ``demo`` is the suite, and not the dataset with the same name.
            found.setdefault(name, partial(outputs_of_dataset, project, name))
    return found


def _files_of(project: Project, paper: str = "", figures: bool = True) -> list[str]:
    """List the files of a suite or of all planned ones."""
    if paper:
        papers = [paper]
    else:
        papers = project.planned_papers
    size = project.settings.datasets
    if size and not any(map(project.datasets_of, papers)):
        known = chain(*(project.suites[name].datasets for name in papers))
        problem = f"config: datasets={size} selects no dataset of {', '.join(papers)}"
        raise XmlcError(f"{problem}, expected some of {', '.join(known)}")
    files = [*chain(*(result_files(project, name, figures) for name in papers))]
    if not files and project.settings.models:
        problem = f"config: models: found no model whose results a table of {', '.join(papers)} shows"
        raise XmlcError(f"{problem} on the selected datasets. Change models or datasets")
    return files


def baseline_files(project: Project) -> list[str]:
    """List the baseline table and figure of each planned suite with baselines."""
    files = []
    for paper in project.settings.papers:
        if project.suites[paper].baselines and table_of("baselines", paper).files(project, paper):
            files.append(f"{paths.TABLE.of(paper=paper, table='baselines')}.md")
            files.append(f"{paths.FIGURE.of(paper=paper, figure='pareto')}.svg")
    return files


def result_files(project: Project, paper: str, figures: bool = True) -> list[str]:
    """List the files of a suite's tables and figures that have records."""
    made = []
    for name in tables_of(project, paper):
        stem = paths.TABLE.of(paper=paper, table=name)
        made += [f"{stem}.{ending}" for ending in TABLE_FILES]
    if figures:
        for name in figures_of(project, paper):
            stem = paths.FIGURE.of(paper=paper, figure=name)
            made += [f"{stem}.{ending}" for ending in FIGURE_FILES]
    return made


def outputs_of_table(project: Project, paper: str, table: str) -> list[str]:
    """List the outputs of Snakemake rules that must exist before a table is built."""
    project.check_estimates(paper)
    return outputs_of(table_of(table, paper).files(project, paper))


def outputs_of_figure(project: Project, paper: str, figure: str) -> list[str]:
    """List the outputs of Snakemake rules that must exist before a figure is drawn."""
    project.check_estimates(paper)
    return outputs_of(figure_of(figure, paper).files(project, paper))


def outputs_of_dataset(project: Project, dataset: str) -> list[str]:
    """List the outputs of rules for one dataset that the tables and figures of all suites need."""
    records: list[str] = []
    for paper in project.suites:
        if dataset in project.datasets_of(paper):
            for model in project.models_on(paper, dataset):
                project.existing_files(model, dataset, project.suites[paper].seeds)
            records += records_of(project, paper, [dataset])
    return outputs_of(records)


def outputs_of(records: Iterable[str]) -> list[str]:
    """List the outputs of Snakemake rules that contain the records, each once.

    A folder with the records of several methods is one output.
    """
    return list(dict.fromkeys(map(paths.output_of, records)))


def order_of(records: Iterable[str]) -> str:
    """Return a digest of the names of models and the order of records, as Snakemake compares inputs as a set."""
    return source_digest(map(str, TITLES), *records)


def titles_of(project: Project, paper: str) -> list[str]:
    """Return options ``--title MODEL=TITLE`` for the models of a suite that have a title.

    If several models have the same title, it ends with the model's name.
    """
    suite = project.suites[paper]
    enter_rooms()
    counts = Counter(suite.titles.get(name) or model_title(name) for name in suite.all_models)
    options = []
    for name, title in suite.titles.items():
        if counts[title] > 1:
            title = f"{title} ({name})"
        options += ["--title", f"{name}={title}"]
    return options


def suite_of_table(project: Project, paper: str, table: str) -> list[str]:
    """Return the suite's configuration file in a list, or [] if the table does not use it."""
    if table_of(table, paper).takes_suite:
        return [project.suites[paper].file]
    return []


@cache
def code_of(noun: str, paper: str) -> str:
    """Return the plan of a job that builds a "table" or "figure", the ``noun``, of a paper."""
    return planned_code(noun, sorted(modules_of(paper, noun)))


def sources_of_table(project: Project, paper: str, table: str) -> str:
    """Return a digest of a table's statements, published tables and configuration.

    The digest does not depend on the table's records.
    """
    files = sorted(str(file) for file in Path(paths.PUBLISHED, paper).glob("*.csv"))
    if table == CLAIMS:
        files.append(str(statements_of(paper)))
    configured = []
    if table_of(table, paper).takes_suite:
        configured = [repr(project.suites[paper])]
    return source_digest(files, *configured)
