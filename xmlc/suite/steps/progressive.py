"""`xmlc progressive`: a model on a shuffled stream, each instance predicted before it is learned."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, SEED, parse_parameters, threads_option
from xmlc.core.passport import peak_bytes, step_costs, with_passport
from xmlc.models.registry import make_estimator
from xmlc.suite.options import data_option
from xmlc.suite.results.records.progressive import ProgressiveCosts, ProgressiveRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.streams import run_stream, shuffled_stream
from xmlc.suite.steps.subject import description


@click.command(help="Predict each instance of the shuffled training set, then learn it; write the curve of scores.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName; one that learns a stream.")
@click.option("--name", required=True, help="Name of the model in figures.")
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the stream's order and the model.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, estimator: str, name: str, parameters: str, seed: int, threads: int, out: Path) -> None:
    """Run the stream."""
    prepared = Prepared(data)
    model = make_estimator(estimator, parse_parameters(parameters), seed, threads)
    rows, constant, seconds = run_stream(model, *shuffled_stream(prepared, seed))
    ProgressiveRecord(
        **description(prepared, model, estimator, name, seed, "full"),
        constant_accuracy=constant,
        rows=rows,
        costs=ProgressiveCosts(cpu_seconds=seconds, threads=threads, peak_bytes=peak_bytes()),
        **with_passport(step_costs("progressive", threads, prepared.meta["name"], name, "full")),
    ).write(out)
