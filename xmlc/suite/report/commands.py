"""Define the commands that show, check and compare the results of a run. None writes a record or table of a run."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.core.advice import message_of
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import LastRun
from xmlc.suite.config.settings import Settings, read_config
from xmlc.suite.options import split_names
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.latex import panel_to_latex
from xmlc.suite.papers.plan import plan_of
from xmlc.suite.papers.printing import select, to_markdown
from xmlc.suite.report.compare import accept, compare, compared_fingerprints
from xmlc.suite.report.finished import archived_files, long_table, separate_stale, with_contributed, write_archive
from xmlc.suite.report.runs import read_spreads, runs_of, write_runs
from xmlc.suite.report.status import failures, of_files, outcome_of, status_of, to_text
from xmlc.suite.report.summary import tell_published, tell_runs, told_as_markdown, told_as_text
from xmlc.suite.report.verdicts import Judge, Tolerance
from xmlc.suite.report.verify import verify
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.made_of import SUFFIX, MadeOf, finished_tables

TABLES, LOGS, RUNS = Path(paths.TABLES), Path(paths.LOGS), "runs.csv"
ANY, NOT_NEGATIVE = click.Path(path_type=Path), click.FloatRange(min=0)
NAMES: dict[str, Any] = {"multiple": True, "callback": split_names}


SHOWING = """Print Markdown tables and name other result files.

With a choice of datasets, models, methods, columns or a panel, or with --tex, tables are made again from their records:
such as `xmlc show results/tables/plt2016/table2.md --datasets bibtex --panel 1 --tex paper/table2`.
"""


@click.command(help=SHOWING)
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--datasets", **NAMES, help="Only these datasets, such as a,b.")
@click.option("--models", **NAMES, help="Only these models, by their names in the suite.")
@click.option("--methods", **NAMES, help="Only these threshold or inference methods.")
@click.option("--columns", **NAMES, help="Only these columns, as the CSV names them.")
@click.option("--panel", type=click.IntRange(1), default=None, help="Only this panel, from 1.")
@click.option("--tex", type=FILE, default=None, help="Prefix of LaTeX files to write, one a panel that fits a column.")
@click.option("--brief", is_flag=True, help="Print only the first panel of each table, without its notes and paths.")
def show_command(files: tuple[Path, ...], tex: Path | None, brief: bool, **selection: Any) -> None:
    """Print Markdown tables first, then the paths of all files."""
    for file in files:
        if not file.is_file():
            there = [str(other) for other in TABLES.glob("*/*.md")]
            expected = nearest(str(file), there) if there else "a finished table, such as one from `make demo`"
            raise XmlcError(f"{file}: no such file, expected {expected}")
    if tex or any(selection.values()):
        for file in files:
            made = MadeOf.beside(file)
            if made is None:
                raise XmlcError(
                    f"{file}: expected a table with {file.stem}{SUFFIX} beside it, as the workflow makes it"
                )
            _show_part(select(build_table(made), **selection), tex)
        return
    for file in files:
        if file.suffix == ".md" or brief:
            text = file.read_text(encoding="utf-8").strip()
            click.echo(f"\n{first_panel(text) if brief else text}\n")
    if brief:
        return
    click.echo("Written:")
    for file in files:
        beside = sorted(other.name.removeprefix(file.stem) for other in file.parent.glob(f"{file.stem}.*"))
        click.echo(f"  {file.with_suffix('')}{{{','.join(beside)}}}" if len(beside) > 1 else f"  {file}")


def _show_part(table: Table, tex: Path | None) -> None:
    """Print a table as Markdown, or write each of its panels as LaTeX."""
    if tex is None:
        click.echo(f"\n{to_markdown(table).strip()}\n")
        return
    for place, panel in enumerate(table.panels, start=1):
        file = tex.with_name(f"{tex.name}-{place}.tex")
        with atomic_file(file) as temporary:
            temporary.write_text(panel_to_latex(table, panel, place) + "\n", encoding="utf-8")
        click.echo(f"{file}: {panel.title or table.caption.partition('.')[0]}")


def first_panel(text: str) -> str:
    """Return the first panel of a Markdown table, with its heading, that is not only about datasets."""
    blocks = text.split("\n\n")
    panels = [k for k, block in enumerate(blocks) if block.startswith("|")]
    first = next((k for k in panels if blocks[k - 1] != "**Datasets**"), 0)
    return "\n\n".join(blocks[max(first - 1, 0) : first + 1])


STATUS = """Count files done, missing and failed for each paper and dataset. SETTINGS are the run's, as in
datasets='[yeast]' mirror=/data/xmlc; without any, the last run's in this folder. Exit status 0: all is there; 1:
something is missing or failed, or the status cannot be determined."""


@click.command(help=STATUS)
@click.argument("settings", nargs=-1)
@click.option("--paper", "papers", multiple=True, help="Only this paper; repeatable.")
@click.pass_context
def status_command(ctx: click.Context, settings: tuple[str, ...], papers: tuple[str, ...]) -> None:
    """Plan as the workflow does, and check which files exist."""
    last = LastRun() if settings else LastRun.read()
    content = read_config(config_folder() / "config.yaml", settings) | last.settings
    plan = plan_of(Project.read(content))
    plan = of_files(plan, last.files) if last.files and not papers else plan
    status = status_of(plan, Path(), failures(LOGS), papers)
    click.echo(to_text(status, last.about, outcome_of(last)), nl=False)
    if not all(result.done for result in status):
        ctx.exit(1)


@click.command(help="Make one self-contained HTML page of all finished tables and figures, beside the papers' numbers.")
@click.option("--contributed", is_flag=True, help="Show the runs in results/reference/contributed, too.")
@click.option("--out", type=FILE, default=paths.PAGE, show_default=True, help="HTML file to write.")
def report_command(contributed: bool, out: Path) -> None:
    """Write the page, then print the best models and how the published numbers compare."""
    from xmlc.suite.report.page.content import page_of  # here, because it needs the extra `report`
    from xmlc.suite.report.page.render import to_html

    papers = Settings.read(read_config(config_folder() / "config.yaml")).papers
    whole, stale = separate_stale(finished_tables(TABLES, papers))
    whole = with_contributed(whole) if contributed else whole
    judge = Judge.of_project(config_folder(), read_spreads(config_folder() / RUNS))
    page = page_of(whole, failures(LOGS) + stale, judge)
    with atomic_file(out) as temporary:
        temporary.write_text(to_html(page), encoding="utf-8")
    for table in stale:
        click.echo(f"{table.step}: {table.reason}", err=True)
    for one in page.contests:
        click.echo(f"{one.name}: {one.headline}")
    click.echo(page.outcome)


@click.command(help="Write every number behind the finished tables as one long table (CSV).")
@click.option("--out", type=FILE, default=paths.RESULTS, show_default=True, help="CSV to write.")
def results_command(out: Path) -> None:
    """Write the long table of all numbers, and print their count."""
    whole, stale = separate_stale(finished_tables(TABLES, ()))
    table = long_table(whole)
    with atomic_file(out) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    for one in stale:
        click.echo(f"{one.step}: {one.reason}", err=True)
    click.echo(f"{out}: {len(table)} numbers")


ARCHIVE = """Put the records and figures behind finished tables into one archive, from which the page is made again.

Unpack it in a folder that has the project's config and results/published, and call `xmlc report` there. The archive is
small: it has no datasets, models or estimates.
"""


@click.command(help=ARCHIVE)
@click.option("--out", type=FILE, required=True, help="Archive to write, such as records.tar.xz.")
def archive_command(out: Path) -> None:
    """Write the archive, and print its size."""
    made = finished_tables(TABLES, [])
    if not made:
        raise XmlcError(f"{TABLES}: no finished table; make some first, as with `make demo` or `snakemake plt2016`")
    files = archived_files(made)
    write_archive(files, out)
    click.echo(f"{len(files)} files of {len(made)} tables in {out}, {out.stat().st_size / 1e6:.2f} MB")


@click.command(
    help="Read every file of PATHS (results and resources), and name files that changed since they were written."
)
@click.argument("places", metavar="[PATHS]...", type=ANY, nargs=-1)
@click.option("--delete", is_flag=True, help="Delete damaged files; the same snakemake command then makes it again.")
def verify_command(places: tuple[Path, ...], delete: bool) -> None:
    """Print a line for each file that is damaged or out of place, then totals."""
    found = verify(places or [Path(name) for name in paths.MADE if Path(name).is_dir()])
    for file in found.unlisted:
        click.echo(f"{file}: is none of the files that were written there; no step reads it")
    for damage in found.damaged:
        click.echo(message_of(damage))
    for target in found.targets if delete else ():
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
        click.echo(f"deleted: {target}")
    seconds = max(found.seconds, 1e-9)
    click.echo(
        f"{found.files} files, {found.bytes / 1e9:.3f} GB in {seconds:.2f} s ({found.bytes / seconds / 1e9:.2f} GB/s): "
        f"{len(found.damaged)} damaged, {len(found.unlisted)} out of place; "
        f"{len(found.without)} others without checksum"
    )
    if found.damaged and not delete:
        raise XmlcError(f"{len(found.damaged)} of {found.files} files are not as they were written")


COMPARING = """Say what moved between the tables OLD and NEW: two CSV files, two folders of them, or two folders of
suites, of which those in OLD are compared.

First come five lines at most: fingerprints, how much moved, what settings of the two runs differ; then the largest
moves of headline quantities beside the noise over seeds, then each table in a line, claims last.

Two runs of ours, or a run and the accepted numbers, are compared exactly if no tolerance is given: one seed gives the
same numbers to the last bit, whatever the processor and the number of threads. With --published, OLD was printed in a
paper: each number that the paper measured is judged by an interval of its own, and NEW may have more.

Costs, such as times, are never judged. Exit status: 0 if nothing moved, and with --published; 1 if a judged cell moved,
or a row, column or table is missing or new; 2 if the comparison cannot be made.
"""


@click.command(help=COMPARING)
@click.argument("old", type=ANY)
@click.argument("new", type=ANY)
@click.option("--published", is_flag=True, help="OLD was printed in a paper.")
@click.option("--tolerance", type=NOT_NEGATIVE, default=0.0, help="Numbers that differ by at most this are equal.")
@click.option("--relative", type=NOT_NEGATIVE, default=0.0, help="Likewise by at most this share of the old number.")
@click.option("--columns", **NAMES, help="Only these columns, such as p@1,macro_f.")
@click.option("--all", "every_cell", is_flag=True, help="List each cell that moved.")
@click.option("--markdown", type=FILE, default=None, help="Write it as Markdown too, short enough for a comment.")
@click.pass_context
def compare_command(
    ctx: click.Context,
    old: Path,
    new: Path,
    published: bool,
    tolerance: float,
    relative: float,
    columns: tuple[str, ...],
    every_cell: bool,
    markdown: Path | None,
) -> None:
    """Print the comparison, and exit with the status described in the help."""
    if published and (tolerance or relative):
        raise click.UsageError("--published judges by intervals; leave out --tolerance and --relative")
    within = [f"{tolerance:g}"] * bool(tolerance) + [f"{100 * relative:g} % of old"] * bool(relative)
    how = f"equal within {' or '.join(within)}" if within else "exact"
    how = "each by an interval of its own" if published else how
    title = f"old: {old}, new: {new}; {how}" + (f"; only {', '.join(columns)}" if columns else "")
    try:
        runs = read_spreads(config_folder() / RUNS)
        if published:
            comparisons = compare(old, new, Judge.of_project(config_folder(), runs), columns=columns)
            told = tell_published(comparisons, title)
        else:
            comparisons = compare(old, new, tolerance=Tolerance(tolerance, relative), columns=columns, runs=runs)
            told = tell_runs(comparisons, *compared_fingerprints(old, new), title)
        if markdown:
            with atomic_file(markdown) as temporary:
                temporary.write_text(told_as_markdown(told), encoding="utf-8")
    except (XmlcError, OSError) as error:  # the usual exit status 1 would mean that numbers moved
        click.echo(f"xmlc: error: {error}", err=True)
        ctx.exit(2)
    click.echo(told_as_text(told, every_cell), nl=False)
    if not all(comparison.same for comparison in comparisons):
        ctx.exit(1)


ACCEPTING = """Replace the accepted tables, REFERENCE/<suite>/, by those of the current run, TABLES/<suite>/*.csv.

Only suites with a folder in REFERENCE and only tables that the run made are replaced; all other accepted tables stay as
they are. Costs (times, memory) and numbers of threads are left out, so that `git diff` shows the numbers that moved;
beside claims it shows the data and settings behind them.
"""


@click.command(help=ACCEPTING)
@click.argument("tables", type=FOLDER)
@click.argument("reference", type=FOLDER)
def accept_command(tables: Path, reference: Path) -> None:
    """Replace the reference tables, and print a line for each."""
    for file, line in accept(tables, reference):
        click.echo(f"{file}: {line}")


FINGERPRINT = """Print a fingerprint of all numbers of each PATH: the same fingerprint means the same numbers.

PATH is a table (CSV), arrays (.npy, .npz), or a folder of tables or arrays, such as that of a model or a prepared
dataset; by default the finished tables, results/tables. Costs (times, memory) and numbers of threads do not count,
nor do the order of rows and columns. The fingerprint of each part is printed above that of the
whole.
"""


@click.command(help=FINGERPRINT)
@click.argument("given", metavar="[PATH]...", type=ANY, nargs=-1)
def fingerprint_command(given: tuple[Path, ...]) -> None:
    """Print the fingerprint of each path and of its parts."""
    found = {path: fingerprint(path) for path in given or (TABLES,)}
    lines = [line for path, whole in found.items() for line in (*whole.lines(), (str(path), whole.word))]
    width = max(len(name) for name, _ in lines)
    for name, word in lines:
        click.echo(f"{name:{width}}  {word}")


DEVIATIONS = """Take finished tables apart by seed and write what each run gave for each printed cell.

TABLES is a folder of tables that were made with several seeds (key `seeds` of the configuration); each seed draws the
80/20 split too. From the runs `xmlc compare --published` and the report take the interval of each cell. What the file
has of other datasets stays.
"""


@click.command(help=DEVIATIONS)
@click.argument("tables", type=FOLDER)
@click.option("--out", type=FILE, required=True, help="CSV to write, such as config/runs.csv.")
def deviations_command(tables: Path, out: Path) -> None:
    """Write the value of each run for each published cell, and print their counts."""
    known: Known = {}
    found = runs_of([build_table(made, known) for made in finished_tables(tables, [])], known)
    write_runs(found, out)
    for where, cells in Counter(f"{paper}/{table}" for paper, table in zip(found["paper"], found["table"])).items():
        click.echo(f"{where}: {cells} cells")
    click.echo(f"Runs written to {out}")
