"""Plan a run: list the tables and figures of each suite, and the records that they need."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.core.sources import source_digest
from xmlc.suite.config import paths
from xmlc.suite.config.costs import job_of
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import datasets_left_out
from xmlc.suite.papers import enter_rooms, figure_of, modules_of, statements_of, table_of
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.plotting import METADATA
from xmlc.suite.provenance.planned_code import planned_code
from xmlc.suite.results.titles import model_title
from xmlc.suite.schemas import located

TABLE_FILES, FIGURE_FILES = ("csv", "md", "tex"), tuple(METADATA)
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
_OF_TABLE = paths.Pattern(f"{paths.TABLE}.csv")


@dataclass(frozen=True)
class SuitePlan:
    """Hold the tables and figures of a suite, with the records that each table and figure needs.

    Attributes
    ----------
    title : str
    requested : bool
        Whether the settings name the suite.
    tables, figures : dict of str to list of str
        The records that each table or figure needs, by the name of the table or figure.
    steps : list of str
        Outputs of steps that run before the records are written: statistics, searches, trained models and estimates.
    """

    title: str
    requested: bool
    tables: dict[str, list[str]]
    figures: dict[str, list[str]]
    steps: list[str] = field(default_factory=list)


def check_tables(project: Project) -> None:
    """Check that all tables and figures of suites exist, and that each suite of the run has at least one.

    `Project.read` cannot check them, because tables and figures are defined in a higher layer than the configuration.

    Raises
    ------
    XmlcError
    """
    for paper, suite in project.suites.items():
        definitions: dict[str, tuple[list[str], Callable[[str, str], object]]]
        definitions = {"tables": (suite.tables, table_of), "figures": (suite.figures, figure_of)}
        for key, (names, definition_of) in definitions.items():
            for name in names:
                try:
                    definition_of(name, paper)
                except XmlcError as error:
                    raise XmlcError(located(suite.file, (key,), str(error))) from error
        if paper in project.settings.papers and not suite.tables and not suite.figures:
            problem = "found no table and no figure, so nothing would be built. Add a table, such as table1"
            raise XmlcError(located(suite.file, ("tables",), problem))


def plan_of(project: Project) -> dict[str, SuitePlan]:
    """Return the plan of each suite: the tables and figures that have records, and the names of these records."""
    found = {}
    for paper, suite in project.suites.items():
        tables, figures = tables_of(project, paper), figures_of(project, paper)
        steps = [step for files in (tables | figures).values() for file in files for step in _steps_to(project, file)]
        found[paper] = SuitePlan(
            suite.title,
            paper in project.settings.papers,
            {name: files for name, files in tables.items() if files},
            {name: files for name, files in figures.items() if files},
            list(dict.fromkeys(steps)),
        )
    return found


def _steps_to(project: Project, record: str) -> list[str]:
    """Return the outputs of the steps that must run before a record is written, in the order of the steps."""
    run = paths.IN_RUN.read(record)
    if run is None:
        return []
    tuned = project.tuned_by(run["model"], run["dataset"])
    steps = [paths.STATISTICS.of(**run), *([tuned] if tuned else [])]
    steps += [paths.TRAINING.of(**run)] if record != paths.PROGRESSIVE.of(**run) else []
    return steps + ([paths.ESTIMATES.of(**run)] if run["split"] == "80" and not project.drops(run["dataset"]) else [])


def tables_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Return the records that each table of a suite needs, on all or some datasets.

    The list of a table is empty if the selected datasets and models do not produce the records.
    """
    return {name: table_of(name, paper).files(project, paper, datasets) for name in project.suites[paper].tables}


def figures_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Return the records that each figure of a suite needs.

    The list of a figure may be empty, like the list of a table in `tables_of`.
    """
    return {name: figure_of(name, paper).files(project, paper, datasets) for name in project.suites[paper].figures}


def jobs_of_dropped_models(project: Project) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return the jobs that train a model, run all steps that read it, and delete it (`Project.drops`).

    A job runs a step if a table or figure of any suite needs the step's record. The settings `papers`, `models` and
    `seeds` do not change the jobs, so that they rerun none.

    Returns
    -------
    dict of (str, tuple of str) to list of str
        Maps a split and the steps that read a model to the models with these steps, as ``dataset/model``.
    """
    suites = {name: replace(suite, seeds=suite.seeds[:1]) for name, suite in project.suites.items()}
    every = replace(project, settings=replace(project.settings, models=None), suites=suites)
    dropped = {*project.dropped}
    steps: dict[tuple[str, str], set[str]] = {}
    for paper, suite in suites.items():
        datasets = {*suite.datasets}
        if not suite.own:  # a paper's suite can run on any dataset
            datasets |= dropped
        tables, figures = (of(every, paper, sorted(datasets)).values() for of in (tables_of, figures_of))
        records = [file for files in (*tables, *figures) for file in files]
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


def left_out(project: Project, papers: Iterable[str], figures: bool = True) -> str:
    """Return a sentence on tables and figures that a run leaves out.

    The sentence is empty if the run leaves out nothing.
    """
    lists = []
    for paper in papers:
        of_paper = tables_of(project, paper) | (figures_of(project, paper) if figures else {})
        if missing := [name for name, files in of_paper.items() if not files]:
            lists.append(f"{paper} {', '.join(missing)}")
    reason = "left out, because no selected model and dataset produce their records"
    return f"{reason}: {'; '.join(lists)}" if lists else ""


def remarks(project: Project, made: Iterable[str]) -> list[str]:
    """Return remarks on models and datasets that a run's tables leave out. ``made`` lists the outputs of the run."""
    found = dict.fromkeys(table["paper"] for path in made if (table := _OF_TABLE.read(path)))
    papers = [paper for paper in found if paper in project.suites]
    lines = [said for said in map(project.check_estimates, papers) if said]
    if others := datasets_left_out(project, papers):
        lines.append(f"tables leave out {', '.join(others)}. To keep datasets of earlier runs, add them to `datasets`")
    return lines


def targets(project: Project) -> dict[str, Callable[[], list[str]]]:
    """Return a dict from target to a function that lists the files of the target.

    The targets are ``all``, ``tables``, ``baselines``, and the names of suites and datasets.
    """

    def of_papers(files: Callable[[Project, str], list[str]], *papers: str) -> list[str]:
        chosen = papers or project.planned_papers
        if (size := project.settings.datasets) and not any(map(project.datasets_of, chosen)):
            there = ", ".join(name for paper in chosen for name in project.suites[paper].datasets)
            raise XmlcError(
                f"config: datasets={size} selects no dataset of {', '.join(chosen)}, expected some of {there}"
            )
        if said := left_out(project, chosen, figures=files is result_files):
            print(said, file=sys.stderr, flush=True)
        return [file for paper in chosen for file in files(project, paper)]

    found: dict[str, Callable[[], list[str]]] = {
        "all": partial(of_papers, result_files),
        "tables": partial(of_papers, table_files),
        "baselines": partial(baseline_files, project),
    }
    found |= {paper: partial(of_papers, result_files, paper) for paper in project.suites}
    for name in (name for paper in project.suites for name in project.datasets_of(paper)):
        # The target ``demo`` is the suite, and not the dataset with the same name.
        found.setdefault(name, partial(outputs_of_dataset, project, name))
    return found


def baseline_files(project: Project) -> list[str]:
    """List the files of the baseline table and figure (extra `baselines`) for each planned suite with baselines."""
    papers = [paper for paper in project.settings.papers if project.suites[paper].baselines]
    papers = [paper for paper in papers if table_of("baselines", paper).files(project, paper)]
    tables = [f"{paths.TABLE.of(paper=paper, table='baselines')}.md" for paper in papers]
    return tables + [f"{paths.FIGURE.of(paper=paper, figure='pareto')}.svg" for paper in papers]


def table_files(project: Project, paper: str) -> list[str]:
    """List the files of a suite's tables. Tables without records are left out."""
    tables = [table for table, records in tables_of(project, paper).items() if records]
    return [f"{paths.TABLE.of(paper=paper, table=table)}.{ending}" for table in tables for ending in TABLE_FILES]


def result_files(project: Project, paper: str) -> list[str]:
    """List the files of a suite's tables and figures. Tables and figures without records are left out."""
    figures = [name for name, records in figures_of(project, paper).items() if records]
    drawn = [f"{paths.FIGURE.of(paper=paper, figure=name)}.{ending}" for name in figures for ending in FIGURE_FILES]
    return table_files(project, paper) + drawn


def outputs_of_table(project: Project, paper: str, table: str) -> list[str]:
    """List the outputs of Snakemake rules that must exist before a table is built."""
    project.check_estimates(paper)
    return _outputs(table_of(table, paper).files(project, paper))


def outputs_of_figure(project: Project, paper: str, figure: str) -> list[str]:
    """List the outputs of Snakemake rules that must exist before a figure is drawn."""
    project.check_estimates(paper)
    return _outputs(figure_of(figure, paper).files(project, paper))


def outputs_of_dataset(project: Project, dataset: str) -> list[str]:
    """List the outputs of Snakemake rules for one dataset that the tables and figures of all suites need."""
    found: list[str] = []
    for paper in project.suites:
        if dataset in project.datasets_of(paper):
            for model in project.models_on(paper, dataset):
                project.check_given(paper, dataset, model)
            tables, figures = (of(project, paper, [dataset]).values() for of in (tables_of, figures_of))
            found += [file for files in (*tables, *figures) for file in files]
    return _outputs(found)


def _outputs(records: Iterable[str]) -> list[str]:
    """List the outputs of Snakemake rules that contain the ``records``, without duplicates.

    A folder with the records of several methods is one output.
    """
    return list(dict.fromkeys(map(paths.output_of, records)))


def order_of(records: Iterable[str]) -> str:
    """Return a digest of the order of a table's or figure's records, because Snakemake compares inputs as a set."""
    return source_digest([], *records)


def titles_of(project: Project, paper: str) -> list[str]:
    """Return options ``--title MODEL=TITLE`` for the models of a suite that have a title.

    If several models have the same title, the model's name is appended to each of these titles.
    """
    suite = project.suites[paper]
    enter_rooms()
    every = Counter(suite.titles.get(name) or model_title(name) for name in suite.all_models)
    titles = {name: title if every[title] == 1 else f"{title} ({name})" for name, title in suite.titles.items()}
    return [word for name, title in titles.items() for word in ("--title", f"{name}={title}")]


def suite_of_table(project: Project, paper: str, table: str) -> list[str]:
    """Return a list with the suite's configuration file if the table uses this file, and an empty list otherwise."""
    return [project.suites[paper].file] if table_of(table, paper).takes_suite else []


@cache
def code_of(noun: str, paper: str) -> str:
    """Return the plan of a job that builds a table or figure of a paper. ``noun`` is "table" or "figure"."""
    return planned_code(noun, sorted(modules_of(paper, noun)))


def sources_of_table(project: Project, paper: str, table: str) -> str:
    """Return a digest of a table's statements, published tables and configuration, but not of its records."""
    read = sorted(str(file) for file in Path(paths.PUBLISHED, paper).glob("*.csv"))
    if table == CLAIMS:
        read.append(str(statements_of(paper)))
    configured = [repr(project.suites[paper])] if table_of(table, paper).takes_suite else []
    return source_digest(read, *configured)
