"""Plan a run: the tables and figures of each suite, and the records that they need."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError, nearest, selection
from xmlc.core.sources import source_digest
from xmlc.suite.config import paths
from xmlc.suite.config.costs import job_of
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import in_one_line
from xmlc.suite.papers import TITLES, definition, enter_rooms, files_of, modules_of, table_of
from xmlc.suite.papers.plotting import METADATA, SHEET
from xmlc.suite.provenance.planned_code import planned_code
from xmlc.suite.results.columns import FILE as COLUMNS
from xmlc.suite.results.titles import model_title
from xmlc.suite.schemas import located

# Paths without suffix, and suffixes
RESULTS = {"table": (paths.TABLE, ("csv", "md", "tex")), "figure": (paths.FIGURE, tuple(METADATA))}
# Rules of the steps that read a model of a split, in the order of a job
AFTER_TRAINING = {
    "full": {
        "rank": "rank",
        "forest": "forest",
        "thresholds": "thresholds_without_validation",
        "infer": "infer",
    },
    "80": {"estimate": "estimate", "thresholds": "thresholds", "infer": "infer"},
}
MOST = 3  # Names in an error message
TABLE = paths.Pattern(f"{paths.TABLE}.csv")


def check_tables(project: Project) -> None:
    """Check that all tables and figures of suites exist, and that each suite of the run has one.

    They are in a higher layer than `Project.read`.
    """
    for paper, suite in project.suites.items():
        for noun, names in (("table", suite.tables), ("figure", suite.figures)):
            for name in names:
                try:
                    definition(noun, name, paper)
                except XmlcError as error:
                    raise XmlcError(located(suite.file, (f"{noun}s",), str(error))) from error
        if paper in project.settings.papers and not suite.tables and not suite.figures:
            problem = "found no table and no figure, so nothing would be built. "
            problem += "Add a table, such as table1"
            raise XmlcError(located(suite.file, ("tables",), problem))


def check_targets(workflow: Any, project: Project) -> Callable[[str], bool]:
    """Return a replacement for `workflow.is_rule` that raises an error for unknown targets.

    Snakemake calls it for each target, after reading the study's rules.
    """
    is_rule: Callable[[str], bool] = workflow.is_rule
    # With remote storage, rules use other file names than targets.
    storage = workflow.storage_settings
    is_local = not (storage and storage.default_storage_provider)

    def is_made(path: str) -> bool:
        return any(rule.is_producer(path) for rule in workflow.rules)

    @in_one_line()
    def checked(name: str) -> bool:
        if is_rule(name):
            return True
        if is_local and workflow.dag_settings and not is_made(name):
            is_target = name in map(str, workflow.dag_settings.targets)
            rules = []
            for rule in workflow.rules:
                if not is_target or not rule.has_wildcards():
                    rules.append(rule.name)
            expected = instead_of(name, project, is_made, rules)
            problem = f"target {name}: found no rule or output of this name"
            raise XmlcError(f"{problem}, expected {expected}")
        return False

    return checked


def instead_of(
    name: str, project: Project, is_made: Callable[[str], bool], rules: Sequence[str]
) -> str:
    """Return the text after "expected" for an unknown target: its folder, files of this name or
    stem, a similar file, or a rule.
    """
    path = Path(os.path.relpath(name or "."))
    for folder in map(str, (path, *path.parents)):
        if is_made(folder):
            return folder
    files = []
    for dataset in project.catalogue:
        files += [paths.DATA.of(dataset=dataset), paths.STATISTICS.of(dataset=dataset)]
    for paper in project.suites:
        files += result_files(project, paper)
        files += outputs_of(records_of(project, paper))
    files = list(dict.fromkeys(files))
    same = [file for file in files if name in (Path(file).name, Path(file).stem)]
    if same:
        return selection(same[:MOST], len(same))
    if "/" in name and get_close_matches(name, files):
        return nearest(name, files)
    return nearest(name, rules)


def results_of(
    project: Project, paper: str, datasets: Sequence[str] | None = None
) -> dict[tuple[str, str], list[str]]:
    """Return the records of each result ("table" or "figure", name) that has any."""
    suite = project.suites[paper]
    results = {}
    for noun, names in (("table", suite.tables), ("figure", suite.figures)):
        for name in names:
            found = definition(noun, name, paper)
            records = found.files(project, paper, datasets)
            if records:
                results[noun, found.name] = records
    return results


def steps_of(project: Project, paper: str) -> list[str]:
    """Return the outputs before a suite's records: statistics, searches, trained models and
    estimates.
    """
    steps: dict[str, None] = {}
    for record in records_of(project, paper):
        run = paths.IN_RUN.read(record)
        if run is None:
            continue
        outputs = [paths.STATISTICS.of(**run), project.tuned_by(run["model"], run["dataset"])]
        if record != paths.PROGRESSIVE.of(**run):
            outputs.append(paths.TRAINING.of(**run))
        if run["split"] == "80" and not project.drops(run["dataset"]):
            outputs.append(paths.ESTIMATES.of(**run))
        steps |= dict.fromkeys(filter(None, outputs))
    return list(steps)


def records_of(project: Project, paper: str, datasets: Sequence[str] | None = None) -> list[str]:
    """Return the records that a suite's tables and figures need."""
    return [*chain(*results_of(project, paper, datasets).values())]


def jobs_of_dropped_models(project: Project) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return the jobs that train a model, run all steps that read it, and delete it.

    Models are ``dataset/model``, by split and steps. A job runs every step whose record any suite
    needs, so that the settings `papers`, `models` and `seeds` rerun no job.
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
            if job and job.split and job.step != "progressive" and job.dataset in dropped:
                steps.setdefault((job.split, f"{job.dataset}/{job.model}"), set()).add(job.step)
    jobs: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (split, model), names in sorted(steps.items()):
        if split == "80" and names & {"thresholds", "infer"}:
            names.add("estimate")
        after = tuple(rule for step, rule in AFTER_TRAINING[split].items() if step in names)
        jobs.setdefault((split, after), []).append(model)
    return jobs


def remarks(project: Project, made: Iterable[str]) -> list[str]:
    """Return remarks on models without estimates, which tables leave out."""
    papers = {table["paper"]: None for table in map(TABLE.read, made) if table}
    return [
        *filter(
            None, (project.check_estimates(paper) for paper in papers if paper in project.suites)
        )
    ]


def targets(project: Project) -> dict[str, Callable[[], list[str]]]:
    """Return a function for each target that lists its files."""
    found: dict[str, Callable[[], list[str]]] = {
        "all": partial(_files_of, project),
        "tables": partial(_files_of, project, figures=False),
        "baselines": partial(baseline_files, project),
    }
    for paper in project.suites:
        found[paper] = partial(_files_of, project, paper)
    for paper in project.suites:
        for name in project.datasets_of(paper):
            # ``demo`` is the suite and not the dataset of this name.
            found.setdefault(name, partial(outputs_of_dataset, project, name))
    return found


def _files_of(project: Project, paper: str = "", figures: bool = True) -> list[str]:
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
        problem = (
            f"config: models: found no model whose results a table of {', '.join(papers)} shows"
        )
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
    for noun, name in results_of(project, paper):
        if noun == "table" or figures:
            pattern, suffixes = RESULTS[noun]
            stem = pattern.of(**{"paper": paper, noun: name})
            made += [f"{stem}.{suffix}" for suffix in suffixes]
    return made


def outputs_for(project: Project, noun: str, name: str, paper: str) -> list[str]:
    """List the outputs of rules that a table or figure needs."""
    project.check_estimates(paper)
    return outputs_of(definition(noun, name, paper).files(project, paper))


def outputs_of_dataset(project: Project, dataset: str) -> list[str]:
    """List the outputs of rules that all suites need for one dataset."""
    records: list[str] = []
    for paper in project.suites:
        if dataset in project.datasets_of(paper):
            for model in project.models_on(paper, dataset):
                project.existing_files(model, dataset, project.suites[paper].seeds)
            records += records_of(project, paper, [dataset])
    return outputs_of(records)


def outputs_of(records: Iterable[str]) -> list[str]:
    """List the outputs of rules that contain the records, because a folder with the records of
    several methods is one output.
    """
    return list(dict.fromkeys(map(paths.output_of, records)))


def order_of(noun: str, paper: str, records: Iterable[str]) -> str:
    """Return a digest of a table's or figure's declaration, the names of models and columns, and
    the order of records, which Snakemake compares as a set.
    """
    files = [*map(str, (*TITLES, COLUMNS, SHEET)), *files_of(paper, noun)]
    return source_digest(files, *records)


def titles_of(project: Project, paper: str) -> list[str]:
    """Return options ``--title MODEL=TITLE``, with the model's name after a shared title."""
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
    """Return a list with the suite's file, if the table uses it."""
    if table_of(table, paper).takes_suite:
        return [project.suites[paper].file]
    return []


@cache
def code_of(noun: str, paper: str) -> str:
    """Return the plan of a job that builds a "table" or "figure" of a paper."""
    return planned_code(noun, sorted(modules_of(paper, noun)))


def sources_of_table(project: Project, paper: str, table: str) -> str:
    """Return a digest of a table's published numbers and suite."""
    files = sorted(map(str, Path(paths.PUBLISHED, paper).glob("*.csv")))
    texts = []
    if suite_of_table(project, paper, table):
        texts = [repr(project.suites[paper])]
    return source_digest(files, *texts)
