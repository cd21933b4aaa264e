"""`xmlc rank`: quality and costs of a model's ranking."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from xmlc.cli._options import FILE, FOLDER, threads_option
from xmlc.core.passport import peak_bytes, step_costs, with_passport
from xmlc.metrics.propensity import propensities, propensity_parameters
from xmlc.metrics.ranking import K, ranking_metrics, standard_errors
from xmlc.metrics.resampling import resampled_ranking
from xmlc.models.registry import load_estimator
from xmlc.suite.options import data_option, in_turn
from xmlc.suite.results.records.ranking import RankingCosts, RankingRecord
from xmlc.suite.results.records.training import TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.timed import mean_of, rank_timed


@click.command(help="Rank the labels of the test set and score the ranking.")
@data_option
@click.option("--model", "models", type=FOLDER, multiple=True, required=True,
              help="Folder written by `xmlc train`; repeatable, with as many --training and --out.")  # fmt: skip
@click.option(
    "--training", "trainings", type=FILE, multiple=True, required=True, help="Record written by `xmlc train`."
)
@click.option(
    "--propensity", type=(float, float), metavar="A B", help="Of PSP@k and PSnDCG@k; by default as the name says."
)
@threads_option
@click.option("--out", type=FILE, multiple=True, required=True, help="JSON record to write.")
def command(
    data: Path,
    models: tuple[Path, ...],
    trainings: tuple[Path, ...],
    propensity: tuple[float, float] | None,
    threads: int,
    out: tuple[Path, ...],
) -> None:
    """Rank and score with each model."""
    prepared = Prepared(data)
    a, b = propensity or propensity_parameters(prepared.meta["name"])
    click.echo(f"propensities of {prepared.meta['name']}: A = {a:g}, B = {b:g}", err=True)
    propensity_of_labels = propensities(prepared.part("train")[1], a, b)
    for files in in_turn(model=models, training=trainings, out=out):
        _rank(prepared, propensity_of_labels, f"{a:g} {b:g}", threads, *files)


def _rank(
    prepared: Prepared,
    propensity: np.ndarray,
    of: str,
    threads: int,
    model_folder: Path,
    training: Path,
    out: Path,
) -> None:
    record = TrainingRecord.read(training)
    model = load_estimator(record.estimator, model_folder, threads)
    Y, (labels, ms_per_instance) = prepared.part("test")[1], rank_timed(model, prepared, max(K))
    metrics, errors = ranking_metrics(Y, labels, propensity), standard_errors(Y, labels)
    costs = RankingCosts(
        **asdict(record.costs),
        predict_ms_per_instance=ms_per_instance,
        inner_products_per_instance=mean_of(model.inner_products_),
        predict_threads=threads,
        predict_peak_bytes=peak_bytes(),
    )
    resampled, certified = resampled_ranking(Y, labels, metrics), mean_of(model.certified_)
    about, last = record.head_fields(), with_passport(step_costs("rank", threads, *record.run_names))
    about |= {"settings": record.settings | {"propensity": of}}
    about |= {"metrics": metrics, "standard_errors": errors, "certified": certified, "resampled": resampled}
    RankingRecord(**about, tuning=record.tuning, costs=costs, **last).write(out)
