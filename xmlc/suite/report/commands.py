"""Commands that show, check and compare the results of a run, of which only `verify` may delete
files.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path

import click
from tabulate import tabulate

from xmlc.cli.options import FILE, FOLDER
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, write_text
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import LastRun
from xmlc.suite.config.settings import read_config
from xmlc.suite.files import similar_path
from xmlc.suite.papers import tables_of
from xmlc.suite.provenance.damage import message_of
from xmlc.suite.report import compare
from xmlc.suite.report.finished import long_table, write_archive
from xmlc.suite.report.runs import runs_of, write_runs
from xmlc.suite.report.status import (
    Failure,
    failures,
    is_planned,
    outdated_files,
    planned_files,
    run_outcome,
    to_text,
    unfinished_files,
)
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.report.verify import verify
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.manifest import Manifest, finished_tables

TABLES = Path(paths.TABLES)
LOGS = Path(paths.LOGS)
ANY = click.Path(path_type=Path)


@click.command()
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option(
    "--brief", is_flag=True, help="Print only the first panel of each table, without notes."
)
def show_command(files: tuple[Path, ...], brief: bool) -> None:
    """Print finished tables, such as results/tables/demo/table2.md."""
    for file in files:
        if not file.is_file():
            raise XmlcError(
                f"{file}: found no finished table, such as `make demo` builds{similar_path(file)}"
            )
        text = file.read_text(encoding="utf-8").strip()
        click.echo(first_panel(text) if brief else f"\n{text}\n")


def first_panel(text: str) -> str:
    """Return the first panel with results in Markdown, not one that only describes datasets."""
    blocks = text.split("\n\n")
    panels = [k for k, block in enumerate(blocks) if block.startswith("|")]
    first = next((k for k in panels if blocks[k - 1] != "**Datasets**"), 0)
    return "\n\n".join(blocks[max(first - 1, 0) : first + 1])


@click.command()
@click.argument("settings", nargs=-1)
@click.pass_context
def status_command(ctx: click.Context, settings: tuple[str, ...]) -> None:
    """Count the finished and missing results of a run, and list failed steps.

    SETTINGS are the settings of the run, such as papers='[plt2016]' datasets='[yeast]' [default:
    from the last run in this folder]. A result is finished if its file exists, no job is writing
    it, and Snakemake would not make it again. Exit status: 0 if all results are finished, else 1.
    """
    run = LastRun()
    if not settings:
        run = LastRun.read()
        settings = tuple(f"{key}={json.dumps(value)}" for key, value in run.settings.items())
    project = Project.read(read_config(config_folder() / "config.yaml", settings))
    planned = planned_files(project, run.files)
    unfinished = [*unfinished_files(), *outdated_files(settings, run.targets)]
    exists = planned["file"].map(os.path.exists).astype(bool)
    planned["done"] = exists & ~planned["file"].map(paths.output_of).isin(unfinished)
    files = [*planned["file"], *run.files]  # The last run may make more, such as baselines
    failed = [failure for failure in failures(LOGS) if is_planned(failure.log, files)]
    click.echo(to_text(planned, failed, run), nl=False)
    if not planned["done"].all():
        ctx.exit(1)


def current_tables(folder: Path = TABLES) -> tuple[list[Manifest], list[Failure]]:
    """Return the current tables in a folder, and a failure, also printed, for each table that
    xmlc does not define, or whose records were deleted or rebuilt later.
    """
    current = []
    stale = []
    for made in finished_tables(folder):
        file = folder / made.paper / made.table
        table = file.with_suffix(".md")
        # An archive has no Markdown files, so only the existence of records is checked.
        written = table.stat().st_mtime_ns if table.exists() else math.inf
        reason = ""
        if made.table not in {spec.name for spec in tables_of(made.paper)}:
            reason = "xmlc has no table of this name. Delete its files"
        elif not all(
            record.exists() and record.stat().st_mtime_ns <= written for record in made.records
        ):
            reason = f"its records are missing or newer. Run `snakemake {file}.md` to rebuild it"
        if reason:
            stale.append(Failure(file, reason))
            click.echo(f"{file}: {reason}", err=True)
        else:
            current.append(made)
    if not current:
        raise XmlcError(
            f"{folder}: found no finished table that is up to date. Build one first, as with "
            "`make demo` or `snakemake plt2016`"
        )
    return current, stale


@click.command()
@click.option(
    "--out", type=FOLDER, default=paths.REPORT, show_default=True, help="Folder to write."
)
def report_command(out: Path) -> None:
    """Write all finished tables and figures as HTML pages.

    The page index.html links to a page for each paper. The pages replace an earlier report, but not
    a folder with other files.
    """
    from xmlc.suite.report.page import pages_of  # Jinja takes a while to import

    current, stale = current_tables()
    judge = Judge.of_project(config_folder())
    pages, numbers = pages_of(current, failures(LOGS) + stale, judge, run_outcome(LastRun.read()))
    with atomic_folder(out) as folder:
        for name, text in pages.items():
            write_text(folder / name, text)
    for line in compare.published_lines(numbers):
        click.echo(line)
    click.echo(out / "index.html")


@click.command()
@click.option(
    "--out", type=FILE, default=paths.RESULTS, show_default=True, help="CSV file to write."
)
def results_command(out: Path) -> None:
    """Write all numbers of finished tables as one CSV."""
    table = long_table(current_tables()[0])
    write_text(out, table.to_csv(index=False, lineterminator="\n"))
    click.echo(f"{out}: {len(table)} numbers")


@click.command()
@click.option("--out", type=FILE, required=True, help="Archive to write, such as records.tar.xz.")
def archive_command(out: Path) -> None:
    """Archive the records and figures of finished tables.

    To rebuild the page, unpack the archive in a folder with the project's config and
    results/published, and run `xmlc report` there. It contains no datasets, models or estimates.
    """
    current, _ = current_tables()
    files = write_archive(current, out)
    click.echo(
        f"{files} files of {len(current)} tables in {out}, {out.stat().st_size / 1e6:.2f} MB"
    )


@click.command()
@click.argument("places", metavar="[PATHS]...", type=ANY, nargs=-1)
@click.option(
    "--delete", is_flag=True, help="Delete damaged files, so that snakemake rebuilds them."
)
def verify_command(places: tuple[Path, ...], delete: bool) -> None:
    """Find files that changed since they were written.

    PATHS are files or folders [default: results and resources].
    """
    found = verify(places or [Path(name) for name in paths.MADE if Path(name).is_dir()])
    for file in found.unlisted:
        click.echo(f"{file}: found a file that no step wrote or reads")
    for damage in found.damaged:
        click.echo(message_of(damage))
    for target in found.targets if delete else ():
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
        click.echo(f"deleted: {target}")
    click.echo(
        f"{found.files} files: {len(found.damaged)} damaged, {len(found.unlisted)} unexpected; "
        f"{len(found.without)} others without checksum"
    )
    if found.damaged and not delete:
        raise XmlcError(
            f"{len(found.damaged)} of {found.files} files are damaged. Run again with --delete to "
            "delete them"
        )


@click.command()
@click.argument("old", type=ANY)
@click.argument("new", type=ANY)
@click.option("--published", is_flag=True, help="Treat OLD as published numbers of a paper.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Largest difference of equal numbers.",
)
@click.option("--all", "every_cell", is_flag=True, help="List each cell that changed.")
@click.option(
    "--markdown",
    type=FILE,
    default=None,
    help="Markdown file to write, short enough for a comment.",
)
@click.pass_context
def compare_command(
    ctx: click.Context,
    old: Path,
    new: Path,
    published: bool,
    tolerance: float,
    every_cell: bool,
    markdown: Path | None,
) -> None:
    """List the numbers that differ between OLD and NEW tables.

    OLD and NEW are two CSV files, two folders of CSV files, or two folders of suites, of which only
    those in OLD are compared. Fingerprints, counts of verdicts, and the settings that differ come
    first. Then follow the cells, rows and tables that differ, beginning with the largest moves of
    headline quantities.

    Without a tolerance, numbers are compared exactly, because one seed gives bit-identical numbers
    on any processor and any number of threads. With --published, each measured number of OLD is
    judged by an interval, and NEW may have more rows.

    Costs, such as times, are never judged. Exit status: 0 if nothing changed, or with --published;
    1 if a judged cell changed, or a row or table is missing or new; 2 if the comparison fails.
    """
    if published and tolerance:
        raise click.UsageError("--published: found --tolerance, expected none, as intervals decide")
    try:
        judge = None
        if published:
            judge = Judge.of_project(config_folder())
        comparison = compare.compare(old, new, judge, tolerance)
        head = [*comparison.head, f"old: {old}, new: {new}"]
        table = compare.listing(comparison.cells, published)
        if markdown:
            write_text(markdown, compare.to_markdown(head, table))
    # Not 1, which means that numbers changed
    except (XmlcError, OSError) as error:
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    listed = compare.LISTED
    if every_cell:
        listed = len(table)
    click.echo(compare.to_text(head, table, listed), nl=False)
    if not published and len(table):
        ctx.exit(1)


@click.command()
@click.argument("tables", type=FOLDER)
@click.argument("reference", type=FOLDER)
def accept_command(tables: Path, reference: Path) -> None:
    """Replace reference tables by tables of this run.

    TABLES/<suite>/*.csv replace the files in REFERENCE/<suite>/. Suites without a folder in
    REFERENCE are skipped, and tables that the run lacks do not change. Costs (times, memory) and
    numbers of threads are left out, so that `git diff` shows the numbers that changed. For claims,
    it also shows changes of the data and settings.
    """
    for file in compare.accept(tables, reference):
        click.echo(file)


@click.command()
@click.argument("given", metavar="[PATH]...", type=ANY, nargs=-1)
def fingerprint_command(given: tuple[Path, ...]) -> None:
    """Print a fingerprint of the numbers in each PATH, which is equal for equal numbers.

    PATH is a table (CSV), an array file (.npy, .npz), or a folder of them, such as a model or a
    prepared dataset [default: results/tables]. Costs (times, memory), numbers of threads, and the
    order of rows and columns do not count. Fingerprints of parts precede the fingerprint of the
    whole.
    """
    lines = []
    for path in given or (TABLES,):
        whole = fingerprint(path)
        lines += [*whole.lines(), (str(path), whole.word)]
    click.echo(tabulate(lines, tablefmt="plain", disable_numparse=True))


@click.command()
@click.argument("tables", type=FOLDER)
@click.option("--out", type=FILE, required=True, help="CSV file to write, such as config/runs.csv.")
def seed_variation_command(tables: Path, out: Path) -> None:
    """Write the value of each seed for each published cell.

    TABLES is a folder of tables from several seeds (key `seeds` of the configuration), each with
    another 80/20 split. `xmlc compare --published` and the report compute the interval of each cell
    from these values. Lines of the file are kept if TABLES do not contain their dataset. Tables
    that are out of date are listed and skipped.
    """
    runs = runs_of(current_tables(tables)[0])
    write_runs(runs, out)
    for (paper, table), cells in runs.groupby(["paper", "table"], sort=False):
        click.echo(f"{paper}/{table}: {len(cells)} cells")
    click.echo(f"Runs written to {out}")
