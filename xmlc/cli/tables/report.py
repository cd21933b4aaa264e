"""`xmlc report`: one self-contained HTML page of all finished tables and figures."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.files import atomic_file
from xmlc.judging.judge import Judge
from xmlc.overview.failures import failures, with_records
from xmlc.page.content import Folders, Page, PagePaper, page_of
from xmlc.page.render import to_html
from xmlc.papers.common.claims import claims_line
from xmlc.suites import paths
from xmlc.suites.settings import Settings, read_config
from xmlc.tables.made_of import finished_tables


@click.command(help="Make one self-contained HTML page of all finished tables and figures, beside what papers print.")
@click.option("--tables", type=FOLDER, default="results/tables", show_default=True, help="Folder of finished tables.")
@click.option("--figures", type=FOLDER, default="results/figures", show_default=True, help="Folder of figures.")
@click.option("--reference", type=FOLDER, default="results/reference", show_default=True, help="Accepted tables.")
@click.option("--config", type=FOLDER, default="config", show_default=True, help="Folder of configurations.")
@click.option("--logs", type=FOLDER, default="logs", show_default=True, help="Folder of the steps' logs.")
@click.option("--paper", "papers", multiple=True, help="Paper to put first, repeatable; by default those configured.")
@click.option("--out", type=FILE, default=paths.PAGE, show_default=True, help="HTML file to write.")
def command(
    tables: Path, figures: Path, reference: Path, config: Path, logs: Path, papers: tuple[str, ...], out: Path
) -> None:
    """Gather, render, write; print the headlines."""
    papers = papers or tuple(Settings.read(read_config(config / "config.yaml")).papers)
    whole, gone = with_records(finished_tables(tables, papers))
    page = page_of(whole, failures(logs) + gone, Judge.of_project(config), Folders(figures, reference, config))
    with atomic_file(out) as temporary:
        temporary.write_text(to_html(page), encoding="utf-8")
    for table in gone:
        click.echo(f"{table.step}: {table.reason}", err=True)
    if page.own and page.best:
        click.echo(page.headline)
        for names, cells in page.best.rows:
            by_precision, precision, by_f, f, _ = (cell.text for cell in cells)
            click.echo(f"{names[0]}: best P@1 {precision} ({by_precision}), macro-F {f} ({by_f})")
        return
    for paper in page.papers:
        click.echo(f"{paper.name}: {'; '.join(_headlines(paper))}")
    if len(page.papers) > 1:
        click.echo(f"together: {'; '.join(_headlines(page))}")


def _headlines(about: Page | PagePaper) -> list[str]:
    """Say what became of claims, where there are some, and of cells."""
    return [*([claims_line(about.claims)] if about.claims else []), about.tally.headline]
