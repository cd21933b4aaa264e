"""`xmlc forest`: ranking by number of trees, depth of the trees, and objectives of their nodes."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, threads_option
from xmlc.core.passport import step_costs, with_passport
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option, model_option, training_option
from xmlc.suite.results.records.forest import ForestRecord, PredictionThreads
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.sweeps import objectives_by_level, rank_by_first_trees, shape_of_trees


@click.command(help="Rank with the first trees of a forest only; report depths and objectives of its trees.")
@data_option
@model_option
@training_option
@click.option("--trees", "sizes", type=click.IntRange(min=1), multiple=True, required=True,
              help="Number of trees to rank with, repeatable; the whole forest is always ranked.")  # fmt: skip
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, model_folder: Path, training: Path, sizes: tuple[int, ...], threads: int, out: Path) -> None:
    """Rank with each size."""
    prepared, record = Prepared(data), TrainingRecord.read(training)
    model = load_estimator(record.estimator, model_folder, threads)
    ForestRecord(
        **record.head_fields(),
        rows=rank_by_first_trees(model, prepared, sizes),
        costs=PredictionThreads(predict_threads=threads),
        trees=shape_of_trees(model),
        objectives=objectives_by_level(model),
        **with_passport(step_costs("forest", threads, *record.run_names)),
    ).write(out)
