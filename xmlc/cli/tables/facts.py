"""`xmlc facts`: write the fact table, one row for each number that was measured."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.files import atomic_file
from xmlc.overview.facts import facts_of
from xmlc.overview.failures import failures, with_records
from xmlc.suites import paths
from xmlc.tables.made_of import finished_tables


@click.command(help="Write the numbers behind all finished tables as one tidy CSV, failures included.")
@click.option("--tables", type=FOLDER, default="results/tables", show_default=True, help="Folder of finished tables.")
@click.option("--logs", type=FOLDER, default="logs", show_default=True, help="Folder of the steps' logs.")
@click.option("--config", type=FOLDER, default="config", show_default=True, help="Folder of configurations.")
@click.option("--out", type=FILE, default=paths.FACTS, show_default=True, help="CSV to write.")
def command(tables: Path, logs: Path, config: Path, out: Path) -> None:
    """Collect, write, count."""
    whole, gone = with_records(finished_tables(tables, ()))
    facts = facts_of(whole, failures(logs) + gone, config)
    with atomic_file(out) as temporary:
        facts.to_csv(temporary, index=False, lineterminator="\n")
    counts = facts["status"].value_counts(sort=False)
    click.echo(f"{out}: " + (", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing"))
