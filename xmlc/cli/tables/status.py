"""`xmlc status`: show for each paper and dataset what is done, missing and failed."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FOLDER
from xmlc.overview.failures import failures
from xmlc.overview.status import status_of, to_text
from xmlc.papers.plan import plan_of
from xmlc.suites.project import Project
from xmlc.suites.settings import last_settings, read_config


@click.command(
    help="Show for each paper and dataset what is done, missing and failed. SETTINGS are those of the run, as in "
    "datasets='[yeast]' mirror=/data/xmlc; without any, those of the last run in this folder. Exit status 0: all is "
    "there; 1: something is missing or failed, or the status cannot be determined."
)
@click.argument("settings", nargs=-1)
@click.option("--paper", "papers", multiple=True, help="Only this paper; repeatable.")
@click.option("--config", type=FOLDER, default="config", show_default=True, help="Folder of configurations.")
@click.option("--logs", type=FOLDER, default="logs", show_default=True, help="Folder of the steps' logs.")
@click.pass_context
def command(ctx: click.Context, settings: tuple[str, ...], papers: tuple[str, ...], config: Path, logs: Path) -> None:
    """Plan as the workflow does, and look up which files exist."""
    content = read_config(config / "config.yaml", settings)
    if not settings:
        of_last_run, said = last_settings()
        content |= of_last_run
        if said:
            click.echo(f"{said}\n")
    plan = plan_of(Project.read(content, config))
    status = status_of(plan, Path(), failures(logs), papers)
    click.echo(to_text(status), nl=False)
    if not all(progress.complete for progress in status.values()):
        ctx.exit(1)
