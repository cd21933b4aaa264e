"""`xmlc join`: put the shares of a forest together that `xmlc train --trees` has grown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.errors import XmlcError
from xmlc.files import folder_bytes
from xmlc.models.registry import estimator_class
from xmlc.passport import StepCosts
from xmlc.records.training import TrainingRecord


@click.command(help="Join shares of a forest, folders with model/ and train.json, in the order of their trees.")
@click.argument("shares", nargs=-1, required=True, type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="Folder for the model.")
@click.option("--record", type=FILE, required=True, help="JSON file for the costs.")
def command(shares: tuple[Path, ...], out: Path, record: Path) -> None:
    """Join and save; seconds are summed, as if one job had grown all trees, and the peak is the largest."""
    records = [TrainingRecord.read(share / "train.json") for share in shares]
    first, steps = records[0], [own.step for own in records]
    for key in ("estimator", "model", "hyperparameters", "seed", "portion"):
        if any(getattr(other, key) != getattr(first, key) for other in records):
            raise XmlcError(f"{shares[0]} and the other shares differ in {key}: they are not of one forest")
    if any(other.dataset.digest != first.dataset.digest for other in records):
        raise XmlcError(f"{shares[0]} and the other shares were trained on different data; delete and train them anew")
    kind: Any = estimator_class(first.estimator)
    kind.join_trees([kind.load(share / "model") for share in shares]).save(out)
    size = folder_bytes(out)
    costs = replace(
        first.costs,
        train_seconds=sum(own.costs.train_seconds or 0 for own in records),
        train_cpu_seconds=sum(own.costs.train_cpu_seconds or 0 for own in records),
        train_peak_bytes=max(own.costs.train_peak_bytes or 0 for own in records),
        model_bytes=size,
    )
    whole: StepCosts = {
        **first.step,
        "seconds": sum(step["seconds"] for step in steps),
        "peak_bytes": max(step["peak_bytes"] for step in steps),
        "written_bytes": size,
    }
    replace(first, costs=costs, step=whole).write(record)
