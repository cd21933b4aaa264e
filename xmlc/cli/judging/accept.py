"""`xmlc accept`: take the current tables as the accepted ones."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FOLDER
from xmlc.judging.accept import accept

HELP = """Replace the accepted tables, REFERENCE/<suite>/, by those of the current run, TABLES/<suite>/*.csv.

Only suites with a folder in REFERENCE and only tables that the run made are replaced; all other accepted tables stay as
they are. Costs (times, memory) and numbers of threads are left out, so that `git diff` shows the numbers that moved and
nothing else.
"""


@click.command(help=HELP)
@click.argument("tables", type=FOLDER)
@click.argument("reference", type=FOLDER)
def command(tables: Path, reference: Path) -> None:
    """Accept the tables and print which."""
    for file, line in accept(tables, reference):
        click.echo(f"{file}: {line}")
