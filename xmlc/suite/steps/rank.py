"""Run `xmlc rank`. The command measures the quality and the costs of a model's rankings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FOLDER, threads_option
from xmlc.core.machine import peak_bytes
from xmlc.metrics.propensity import propensities, propensity_parameters
from xmlc.metrics.ranking import K, ranking_metrics, standard_errors
from xmlc.metrics.resampling import resampled_ranking
from xmlc.suite.options import data_option, each_in_turn, file_option
from xmlc.suite.results.records.ranking import RankingCosts, RankingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.run import TrainedStep, mean_of, rank_timed


@click.command(help="Rank the labels of each test instance, and score the rankings.")
@data_option
@click.option("--model", "models", type=FOLDER, multiple=True, required=True,
              help="Folder written by `xmlc train`; repeatable with --training and --out.")  # fmt: skip
@file_option("--training", "Record written by `xmlc train`.", multiple=True, required=True)
@click.option(
    "--propensity",
    type=(float, float),
    metavar="A B",
    help="Propensity parameters for PSP@k and PSnDCG@k.  [default: from the dataset's name]",
)
@threads_option
@file_option("--out", "JSON record to write.", multiple=True, required=True)
def command(
    data: Path,
    models: tuple[Path, ...],
    training: tuple[Path, ...],
    propensity: tuple[float, float] | None,
    threads: int,
    out: tuple[Path, ...],
) -> None:
    """Rank the labels of the test instances with each model, score the rankings, and write a record for each model."""
    prepared = Prepared(data)
    a, b = propensity or propensity_parameters(prepared.meta["name"])
    click.echo(f"{prepared.meta['name']}: using propensities with A = {a:g}, B = {b:g}", err=True)
    propensity_of_labels, Y = propensities(prepared.part("train")[1], a, b), prepared.part("test")[1]
    for folder, trained, record in each_in_turn(model=models, training=training, out=out):
        step = TrainedStep.read("rank", data, trained, threads)
        model = step.load(folder)
        labels, ms = rank_timed(model, step.data, max(K))
        metrics = ranking_metrics(Y, labels, propensity_of_labels)
        costs = RankingCosts(
            **asdict(step.about.costs),
            predict_ms_per_instance=ms,
            inner_products_per_instance=mean_of(model.inner_products_),
            predict_threads=threads,
            predict_peak_bytes=peak_bytes(),
        )
        step.write(
            RankingRecord,
            record,
            settings=step.about.settings | {"propensity": f"{a:g} {b:g}"},
            metrics=metrics,
            standard_errors=standard_errors(Y, labels),
            certified=mean_of(model.certified_),
            resampled=resampled_ranking(Y, labels, metrics),
            costs=costs,
        )
