"""`xmlc status`: say for each paper and dataset what is done, missing and failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.errors import XmlcError
from xmlc.overview.failed import failures
from xmlc.overview.status import read_status, to_text

PLAN = Path("results/plan.json")


@click.command(
    help="Say for each paper and dataset what is done, missing and failed. SETTINGS are those of the run, as in "
    "datasets='[yeast]' mirror=/data/xmlc. Exit status 0: all is there; 1: something is missing or failed, or the "
    "status cannot be told."
)
@click.argument("settings", nargs=-1)
@click.option("--paper", "papers", multiple=True, help="Only this paper; again for another.")
@click.option(
    "--plan", type=FILE, default=None, help="List of what is to be made, if not the one of the workflow here."
)
@click.option("--logs", type=FOLDER, default="logs", show_default=True, help="Folder of the steps' logs.")
@click.pass_context
def command(
    ctx: click.Context, settings: tuple[str, ...], papers: tuple[str, ...], plan: Path | None, logs: Path
) -> None:
    """Ask the workflow what it would make, look what is there."""
    if plan is None:
        _ask_workflow(settings)
        plan = PLAN
    status = read_status(plan, Path(), failures(logs), papers)
    click.echo(to_text(status), nl=False)
    if not all(progress.complete for progress in status.values()):
        ctx.exit(1)


def _ask_workflow(settings: tuple[str, ...]) -> None:
    """Have the workflow write its plan, by the same configuration as a run with these settings."""
    if not Path("Snakefile").is_file():
        raise XmlcError("no Snakefile is here; call `xmlc status` in the folder of the project, or give --plan")
    configured = ["--config", *settings] if settings else []
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all", *configured, "--", str(PLAN)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise XmlcError(f"the workflow cannot say what it would make: {(done.stderr or done.stdout).strip()[-2000:]}")
