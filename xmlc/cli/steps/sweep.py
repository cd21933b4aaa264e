"""`xmlc sweep`: what a hyperparameter does to a model's ranking and, of trees, to their depth."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.measuring.sweeps import sweep_rows
from xmlc.passport import passport, step_costs


@click.command(help="Train with several values of one hyperparameter, each on the whole training set, and rank.")
@data_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train` for the whole training set.")
@click.option("--parameters", default="{}", help="JSON object of hyperparameters to put over the record's.")
@click.option("--hyperparameter", required=True, help="Which is swept.")
@click.option("--value", "values", multiple=True, required=True, help="A value of it, as JSON; each is tried.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(
    data: Path, training: Path, parameters: str, hyperparameter: str, values: tuple[str, ...], threads: int, out: Path
) -> None:
    """Train and rank with each value."""
    prepared, record = Prepared(data), read_json(training)
    if record["portion"] != "full" or record["dataset"]["digest"] != prepared.digest:
        raise XmlcError(f"{training}: expected the training on the whole training set of {data}")
    common = {key: record[key] for key in ("dataset", "estimator", "model", "seed", "portion")}
    hyperparameters = record["hyperparameters"] | parse_parameters(parameters)
    settings = hyperparameters, hyperparameter, map(json.loads, values), record["seed"], threads
    found = [asdict(row) for row in sweep_rows(prepared, record["estimator"], *settings)]
    rows = [{hyperparameter: row.pop("value"), **row} for row in found]
    content = {"kind": "sweep", "schema": 1} | common | {"hyperparameters": hyperparameters}
    content |= {"hyperparameter": hyperparameter, "rows": rows, "costs": {"threads": threads}}
    step = step_costs("sweep", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"passport": passport(threads), "step": step})
