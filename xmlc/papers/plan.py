"""The plan of a run: the tables and figures of each suite, and the records that they are made from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from xmlc.core.sources import command_files, source_digest, source_files
from xmlc.papers import figure_of, modules_of, table_of
from xmlc.papers.plotting import METADATA
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.runs import datasets_left_out

TABLE_FILES, FIGURE_FILES = ("csv", "md", "tex"), tuple(METADATA)


@dataclass(frozen=True)
class SuitePlan:
    """The tables and figures of a suite, by name the records that each is made from; the settings may request it.

    Attributes
    ----------
    title : str
    requested : bool
    tables, figures : dict of str to list of str
    steps : list of str
        What the steps make that lead to the records: statistics, results of searches, trainings, estimates.
    """

    title: str
    requested: bool
    tables: dict[str, list[str]]
    figures: dict[str, list[str]]
    steps: list[str] = field(default_factory=list)


def plan_of(project: Project) -> dict[str, SuitePlan]:
    """List, suite by suite, the tables and figures that are configured and the records that they are made from."""
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
    """Name what is made before a record of a run, in running order."""
    run = paths.IN_RUN.read(record)
    if run is None:
        return []
    tuned = project.tuned_by(run["model"], run["dataset"])
    steps = [paths.STATISTICS.of(**run), *([tuned] if tuned else [])]
    steps += [paths.TRAINING.of(**run)] if record != paths.PROGRESSIVE.of(**run) else []
    return steps + ([paths.ESTIMATES.of(**run)] if run["portion"] == "80" and not project.drops(run["dataset"]) else [])


def tables_of(project: Project, paper: str) -> dict[str, list[str]]:
    """Return the records of each table of a suite; none where nothing that is selected gives those that it needs."""
    return {name: table_of(name, paper).files(project, paper) for name in project.suites[paper].tables}


def figures_of(project: Project, paper: str) -> dict[str, list[str]]:
    """Return the records of each figure of a suite, as `tables_of`."""
    return {name: figure_of(name, paper).files(project, paper) for name in project.suites[paper].figures}


def left_out(project: Project, papers: Iterable[str], figures: bool = True) -> str:
    """Name the tables and figures of some suites that are not made, with the reason; nothing where all are."""
    lists = []
    for paper in papers:
        of_paper = tables_of(project, paper) | (figures_of(project, paper) if figures else {})
        if missing := [name for name, files in of_paper.items() if not files]:
            lists.append(f"{paper} {', '.join(missing)}")
    reason = "left out, because no selected model on a selected dataset gives their records"
    return f"{reason}: {'; '.join(lists)}" if lists else ""


def targets(project: Project, asked: list[str]) -> dict[str, Callable[[], list[str]]]:
    """Return the files of each target by its name: all, tables, peers, a suite, a dataset.

    The suites whose files are looked up are added to ``asked``.
    """

    def of_papers(files: Callable[[Project, str], list[str]], *papers: str) -> list[str]:
        chosen = papers or project.planned_papers
        asked.extend(paper for paper in chosen if paper not in asked)
        for said in filter(None, map(project.check_estimates, chosen)):
            print(said, file=sys.stderr, flush=True)
        if said := left_out(project, chosen, figures=files is result_files):
            print(said, file=sys.stderr, flush=True)
        if others := datasets_left_out(project, chosen):
            said = f"tables leave out {', '.join(others)}, run earlier: to keep them add them to `datasets`"
            print(said, file=sys.stderr, flush=True)
        return [file for paper in chosen for file in files(project, paper)]

    found: dict[str, Callable[[], list[str]]] = {
        "all": partial(of_papers, result_files),
        "tables": partial(of_papers, table_files),
        "peers": partial(peers_files, project),
    }
    found |= {paper: partial(of_papers, result_files, paper) for paper in project.suites}
    datasets = (name for paper in project.suites for name in project.datasets_of(paper))
    of_datasets = {name: partial(records_of_dataset, project, name) for name in datasets}
    return found | of_datasets | found  # demo is the suite, not its dataset


def peers_files(project: Project) -> list[str]:
    """List the table and the figure of baselines of each planned suite that has some (extra `peers`)."""
    with_peers = [paper for paper in project.settings.papers if project.suites[paper].peers]
    with_peers = [paper for paper in with_peers if table_of("peers", paper).files(project, paper)]
    tables = [f"{paths.TABLE.of(paper=paper, table='peers')}.md" for paper in with_peers]
    return tables + [f"{paths.FIGURE.of(paper=paper, figure='pareto')}.svg" for paper in with_peers]


def table_files(project: Project, paper: str) -> list[str]:
    """List the files of a suite's tables, without tables that have no records."""
    tables = [table for table, records in tables_of(project, paper).items() if records]
    return [f"{paths.TABLE.of(paper=paper, table=table)}.{ending}" for table in tables for ending in TABLE_FILES]


def result_files(project: Project, paper: str) -> list[str]:
    """List the files of a suite's tables and figures, without those that have no records."""
    figures = [name for name, records in figures_of(project, paper).items() if records]
    drawn = [f"{paths.FIGURE.of(paper=paper, figure=name)}.{ending}" for name in figures for ending in FIGURE_FILES]
    return table_files(project, paper) + drawn


def records_of_dataset(project: Project, dataset: str) -> list[str]:
    """List the records of one dataset that the tables of all suites are made from."""
    papers = [paper for paper in project.suites if dataset in project.datasets_of(paper)]
    definitions = [(paper, table_of(table, paper)) for paper in papers for table in project.suites[paper].tables]
    return list(dict.fromkeys(file for paper, table in definitions for file in table.files(project, paper, [dataset])))


def titles_of(project: Project, paper: str) -> list[str]:
    """Return the options that name models in print as the suite has it."""
    titles = project.suites[paper].titles.items()
    return [word for name, title in titles for word in ("--title", f"{name}={title}")]


def suite_of_table(project: Project, paper: str, table: str) -> list[str]:
    """Name the file of a suite, if the table is made from its configuration too."""
    return [project.suites[paper].file] if table_of(table, paper).takes_suite else []


def sources_of_table(project: Project, paper: str, table: str) -> str:
    """Return a digest of a table's sources besides records: code and its words, published tables, configuration."""
    printed = sorted(str(file) for file in Path(paths.PUBLISHED, paper).glob("*.csv"))
    definition, suite = table_of(table, paper), project.suites[paper]
    configured = [repr(suite)] if definition.takes_suite else []
    return source_digest([*_code("table", paper), *printed], *definition.words, *configured)


def sources_of_figure(paper: str) -> str:
    """Return a digest of the code that draws the figures of a paper."""
    return source_digest(_code("figure", paper))


@cache
def _code(noun: str, paper: str) -> list[str]:
    """Name the source files that the tables or figures of a paper depend on, with those of the command."""
    return sorted({*command_files(noun), *source_files(*modules_of(paper, noun))})
