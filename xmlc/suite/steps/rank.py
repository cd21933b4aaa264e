"""`xmlc rank`: labels ranked by trained models, with the costs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from xmlc.cli.options import FOLDER, out_option, threads_option
from xmlc.core.files import atomic_folder
from xmlc.core.memory import peak_bytes
from xmlc.suite.options import data_option, each_in_turn, file_option
from xmlc.suite.results.records.ranking import RankedRecord, RankingCosts
from xmlc.suite.steps.run import TrainedStep, mean_of, rank_timed


@click.command(help="Rank the five best labels of each test instance, for `xmlc score`.")
@data_option
@click.option(
    "--model",
    "models",
    type=FOLDER,
    multiple=True,
    required=True,
    help="Folder written by `xmlc train`; repeatable with --training and --out.",
)
@file_option("--training", "Record written by `xmlc train`.", multiple=True, required=True)
@threads_option
@out_option("Folder to write.", multiple=True)
def command(
    data: Path,
    models: tuple[Path, ...],
    training: tuple[Path, ...],
    threads: int,
    out: tuple[Path, ...],
) -> None:
    """Rank the test set with each model, and write labels and costs."""
    for folder, trained, ranking in each_in_turn(model=models, training=training, out=out):
        step = TrainedStep.read("rank", data, trained, threads, folder)
        model = step.model
        labels, ms = rank_timed(model, step.data, RankedRecord.DEPTH)
        costs = RankingCosts(
            **asdict(step.about.costs),
            predict_ms_per_instance=ms,
            inner_products_per_instance=mean_of(model.inner_products_),
            predict_threads=threads,
            predict_peak_bytes=peak_bytes(),
        )
        with atomic_folder(ranking) as written:
            np.save(written / RankedRecord.LABELS, labels)
            step.write(
                RankedRecord,
                written / RankedRecord.FILE,
                costs=costs,
                certified=mean_of(model.certified_),
            )
