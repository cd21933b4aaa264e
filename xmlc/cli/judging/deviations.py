"""`xmlc deviations`: keep our runs with several seeds, from which the intervals of printed numbers are taken."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.judging.measure_runs import runs_of
from xmlc.judging.runs import Runs
from xmlc.tables.made_of import finished_tables

HELP = """Take finished tables apart by seed and write what each run gave for each printed cell.

TABLES is a folder of tables that were made with several seeds (key `seeds` of the configuration); each seed draws the
80/20 split too. From the runs `xmlc compare --published` and the report take the interval of each cell. What the file
has of other datasets stays.
"""


@click.command(help=HELP)
@click.argument("tables", type=FOLDER)
@click.option("--out", type=FILE, required=True, help="CSV to write, such as config/runs.csv.")
def command(tables: Path, out: Path) -> None:
    """Measure and write."""
    found = runs_of(finished_tables(tables, []))
    found.over(Runs.read(out) if out.is_file() else Runs()).write(out)
    counts: dict[str, int] = {}
    for place in found.cells:
        where = f"{place.paper}/{place.table}"
        counts[where] = counts.get(where, 0) + 1
    for where, count in counts.items():
        click.echo(f"{where}: {count} cells")
    click.echo(f"Runs written to {out}")
