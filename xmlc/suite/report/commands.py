"""Commands that show and check the results of a run: none of them makes a record or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE
from xmlc.core.advice import message_of
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import LastRun
from xmlc.suite.config.settings import Settings, read_config
from xmlc.suite.options import split_names
from xmlc.suite.papers.building import build_table
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.latex import panel_to_latex
from xmlc.suite.papers.plan import plan_of
from xmlc.suite.papers.printing import select, to_markdown
from xmlc.suite.report.archive import archived_files, write_archive
from xmlc.suite.report.contributed import with_contributed
from xmlc.suite.report.failures import failures, separate_stale
from xmlc.suite.report.judge import Judge
from xmlc.suite.report.results import long_table
from xmlc.suite.report.status import of_files, outcome_of, status_of, to_text
from xmlc.suite.report.verify import remove, verify
from xmlc.suite.results.made_of import SUFFIX, MadeOf, finished_tables

TABLES, LOGS = Path(paths.TABLES), Path(paths.LOGS)
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
    """Print Markdown tables first, then all paths."""
    for file in files:
        if not file.is_file():
            there = [str(other) for other in Path(paths.TABLES).glob("*/*.md")]
            expected = nearest(str(file), there) if there else "a finished table, such as one from `make demo`"
            raise XmlcError(f"{file}: no such file, expected {expected}")
    if tex or any(value for value in selection.values()):
        for file in files:
            made = MadeOf.beside(file)
            if made is None:
                raise XmlcError(
                    f"{file}: expected a table with {file.stem}{SUFFIX} beside it, as the workflow makes it"
                )
            _show_part(select(build_table(made), **selection), tex)
        return
    if brief:
        for file in files:
            click.echo(f"\n{first_panel(file.read_text(encoding='utf-8'))}\n")
        return
    for file in files:
        if file.suffix == ".md":
            click.echo(f"\n{file.read_text(encoding='utf-8').strip()}\n")
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
    """Return the rows of the first panel of a Markdown table that is not about datasets alone, with its heading."""
    blocks = text.strip().split("\n\n")
    panels = [k for k, block in enumerate(blocks) if block.startswith("|")]
    first = next((k for k in panels if blocks[k - 1] != "**Datasets**"), 0)
    return "\n\n".join(blocks[max(first - 1, 0) : first + 1])


@click.command(
    help="Count files done, missing and failed for each paper and dataset. SETTINGS are the run's, as in "
    "datasets='[yeast]' mirror=/data/xmlc; without any, the last run's in this folder. Exit status 0: all is "
    "there; 1: something is missing or failed, or the status cannot be determined."
)
@click.argument("settings", nargs=-1)
@click.option("--paper", "papers", multiple=True, help="Only this paper; repeatable.")
@click.pass_context
def status_command(ctx: click.Context, settings: tuple[str, ...], papers: tuple[str, ...]) -> None:
    """Plan as the workflow does, and look up which files exist."""
    last = LastRun() if settings else LastRun.read()
    content = read_config(config_folder() / "config.yaml", settings) | last.settings
    plan = plan_of(Project.read(content))
    plan = of_files(plan, last.files) if last.files and not papers else plan
    status = status_of(plan, Path(), failures(LOGS), papers)
    click.echo(to_text(status, last.about, outcome_of(last)), nl=False)
    if not all(progress.complete for progress in status.values()):
        ctx.exit(1)


@click.command(help="Make one self-contained HTML page of all finished tables and figures, beside the papers' numbers.")
@click.option("--contributed", is_flag=True, help="Show the runs in results/reference/contributed, too.")
@click.option("--out", type=FILE, default=paths.PAGE, show_default=True, help="HTML file to write.")
def report_command(contributed: bool, out: Path) -> None:
    """Gather, render, write; print who wins, then what became of the printed numbers."""
    from xmlc.suite.report.page.content import page_of  # of the extra `report`
    from xmlc.suite.report.page.render import to_html

    papers = Settings.read(read_config(config_folder() / "config.yaml")).papers
    whole, stale = separate_stale(finished_tables(TABLES, papers))
    whole = with_contributed(whole) if contributed else whole
    page = page_of(whole, failures(LOGS) + stale, Judge.of_project(config_folder()))
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
    """Collect, write, count."""
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
    """Collect and write."""
    made = finished_tables(TABLES, [])
    if not made:
        raise XmlcError(f"{TABLES}: no finished table; make some first, as with `make demo` or `snakemake plt2016`")
    files = archived_files(made, TABLES, Path(paths.FIGURES))
    write_archive(files, out)
    click.echo(f"{len(files)} files of {len(made)} tables in {out}, {out.stat().st_size / 1e6:.2f} MB")


@click.command(
    help="Read every file of PATHS (results and resources), and name files that changed since they were written."
)
@click.argument("places", metavar="[PATHS]...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--delete", is_flag=True, help="Delete damaged files; the same snakemake command then makes it again.")
def verify_command(places: tuple[Path, ...], delete: bool) -> None:
    """Print a line for each file that is damaged or out of place, and how much was read."""
    found = verify(places or [Path(name) for name in paths.MADE if Path(name).is_dir()])
    for file in found.unlisted:
        click.echo(f"{file}: is none of the files that were written there; no step reads it")
    for damage in found.damaged:
        click.echo(message_of(damage))
    if delete:
        remove(found.targets)
        for target in found.targets:
            click.echo(f"deleted: {target}")
    seconds = max(found.seconds, 1e-9)
    click.echo(
        f"{found.files} files, {found.bytes / 1e9:.3f} GB in {seconds:.2f} s ({found.bytes / seconds / 1e9:.2f} GB/s): "
        f"{len(found.damaged)} damaged, {len(found.unlisted)} out of place; "
        f"{len(found.without)} others without checksum"
    )
    if found.damaged and not delete:
        raise XmlcError(f"{len(found.damaged)} of {found.files} files are not as they were written")
