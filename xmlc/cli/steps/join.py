"""`xmlc join`: put the shares of a forest together that `xmlc train --trees` has grown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.errors import XmlcError
from xmlc.files import folder_bytes, read_json, write_json
from xmlc.models.registry import estimator_class


@click.command(help="Join shares of a forest, folders with model/ and train.json, in the order of their trees.")
@click.argument("shares", nargs=-1, required=True, type=FOLDER)
@click.option("--out", type=FOLDER, required=True, help="Folder for the model.")
@click.option("--record", type=FILE, required=True, help="JSON file for the costs.")
def command(shares: tuple[Path, ...], out: Path, record: Path) -> None:
    """Join and save; seconds are summed, as if one job had grown all trees, and the peak is the largest."""
    records = [read_json(share / "train.json") for share in shares]
    for key in ("estimator", "model", "hyperparameters", "seed", "portion"):
        if any(other[key] != records[0][key] for other in records):
            raise XmlcError(f"{shares[0]} and the other shares differ in {key}: they are not of one forest")
    if any(other["dataset"]["digest"] != records[0]["dataset"]["digest"] for other in records):
        raise XmlcError(f"{shares[0]} and the other shares were trained on different data; delete and train them anew")
    kind: Any = estimator_class(records[0]["estimator"])
    kind.join_trees([kind.load(share / "model") for share in shares]).save(out)
    costs = {
        **{key: sum(own["costs"][key] for own in records) for key in ("train_seconds", "train_cpu_seconds")},
        "train_peak_bytes": max(own["costs"]["train_peak_bytes"] for own in records),
        "model_bytes": folder_bytes(out),
    }
    steps = [own["step"] for own in records]
    step = {
        "seconds": sum(own["seconds"] for own in steps),
        "peak_bytes": max(own["peak_bytes"] for own in steps),
        "written_bytes": costs["model_bytes"],
    }
    write_json(record, records[0] | {"costs": records[0]["costs"] | costs, "step": steps[0] | step})
