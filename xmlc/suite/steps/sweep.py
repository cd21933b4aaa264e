"""`xmlc sweep`: ranking and, of trees, depth by the value of one hyperparameter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from xmlc.cli._options import FILE, parse_parameters, threads_option
from xmlc.core.passport import step_costs, with_passport
from xmlc.suite.options import data_option, training_option
from xmlc.suite.results.records.sweep import SweepRecord, Threads
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.subject import trained_on_all
from xmlc.suite.steps.sweeps import sweep_rows


@click.command(help="Train with several values of one hyperparameter, each on the whole training set, and rank.")
@data_option
@training_option
@click.option("--parameters", default="{}", help="JSON object of hyperparameters that override the record's.")
@click.option("--hyperparameter", required=True, help="Name of the hyperparameter.")
@click.option("--value", "values", multiple=True, required=True, help="One of its values, as JSON; repeatable.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(
    data: Path, training: Path, parameters: str, hyperparameter: str, values: tuple[str, ...], threads: int, out: Path
) -> None:
    """Train and rank with each value."""
    prepared = Prepared(data)
    record = trained_on_all(training, prepared)
    record = replace(record, hyperparameters=record.hyperparameters | parse_parameters(parameters))
    rows = sweep_rows(prepared, record, hyperparameter, map(json.loads, values), threads, out)
    SweepRecord(
        **record.head_fields(),
        hyperparameter=hyperparameter,
        rows=rows,
        costs=Threads(threads=threads),
        **with_passport(step_costs("sweep", threads, *record.run_names)),
    ).write(out)
