"""`xmlc condense`: index fewer training instances, and see what that costs in P@k."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.measuring.sweeps import condensed_rows
from xmlc.passport import passport, step_costs


@click.command(help="Leave near-duplicates with the same label set out of the training set: quality against size.")
@data_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train` for the whole training set.")
@click.option(
    "--similarity",
    "similarities",
    type=float,
    multiple=True,
    required=True,
    help="Cosine from which on an instance stands for another; each is tried, after the whole training set.",
)
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, training: Path, similarities: tuple[float, ...], threads: int, out: Path) -> None:
    """Train with the record's hyperparameters on what each similarity keeps, and rank the test set."""
    prepared, record = Prepared(data), read_json(training)
    if record["portion"] != "full" or record["dataset"]["digest"] != prepared.digest:
        raise XmlcError(f"{training}: expected the training on the whole training set of {data}")
    settings = record["hyperparameters"], similarities, record["seed"], threads
    rows = [asdict(row) for row in condensed_rows(prepared, record["estimator"], *settings)]
    common = {key: record[key] for key in ("dataset", "estimator", "model", "hyperparameters", "seed", "portion")}
    content = {"kind": "condensed", "schema": 1} | common | {"rows": rows, "costs": {"predict_threads": threads}}
    step = step_costs("condense", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"passport": passport(threads), "step": step})
