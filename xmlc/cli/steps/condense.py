"""`xmlc condense`: index fewer training instances, and measure the loss of P@k."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, threads_option
from xmlc.core.passport import step_costs, with_passport
from xmlc.data.prepared import Prepared
from xmlc.records.condensed import CondensedRecord, PredictionThreads
from xmlc.steps.subject import trained_on_all
from xmlc.steps.sweeps import condensed_rows


@click.command(help="Leave near-duplicates with the same label set out of the training set: quality against size.")
@data_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train` for the whole training set.")
@click.option(
    "--similarity",
    "similarities",
    type=float,
    multiple=True,
    default=[0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1],
    show_default=True,
    help="Cosine similarity of near-duplicates, at least; repeatable. The whole training set is measured first.",
)
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, training: Path, similarities: tuple[float, ...], threads: int, out: Path) -> None:
    """Train with the record's hyperparameters on each similarity's instances, and rank the test set."""
    prepared = Prepared(data)
    record = trained_on_all(training, prepared)
    rows = condensed_rows(prepared, record, similarities, threads)
    last = with_passport(step_costs("condense", threads, *record.run_names))
    CondensedRecord(**record.head_fields(), rows=rows, costs=PredictionThreads(predict_threads=threads), **last).write(
        out
    )
