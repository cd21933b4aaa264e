"""`xmlc join`: put the shares of a forest together that `xmlc train --trees` has grown."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, out_option
from xmlc.core.files import folder_bytes
from xmlc.records.training import TrainingRecord
from xmlc.steps.training import check_one_forest, joined_model, joined_record


@click.command(help="Join shares of a forest, folders with model/ and train.json, in the order of their trees.")
@click.argument("shares", nargs=-1, required=True, type=FOLDER)
@out_option("Folder for the model.")
@click.option("--record", type=FILE, required=True, help="JSON file for the costs.")
def command(shares: tuple[Path, ...], out: Path, record: Path) -> None:
    """Join and save; seconds are summed, as if one job had grown all trees, and the peak is the largest."""
    records = [TrainingRecord.read(share / "train.json") for share in shares]
    check_one_forest(records, shares)
    joined_model(records[0].estimator, [share / "model" for share in shares]).save(out)
    joined_record(records, folder_bytes(out)).write(record)
