"""`xmlc score`: the quality of a model's rankings."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from xmlc.cli.options import FOLDER
from xmlc.kernels.stored import load_array
from xmlc.metrics.propensity import propensities, propensity_parameters
from xmlc.metrics.ranking import ranking_metrics
from xmlc.metrics.resampling import resampled_ranking, standard_errors
from xmlc.suite.options import data_option, record_option
from xmlc.suite.results.records.ranking import RankedRecord, RankingRecord
from xmlc.suite.steps.prepared import Prepared


@click.command(help="Score a ranking of the test instances: P@k, nDCG@k, PSP@k.")
@data_option
@click.option("--ranking", type=FOLDER, required=True, help="Folder written by `xmlc rank`.")
@click.option(
    "--propensity",
    type=(float, float),
    metavar="A B",
    help="Propensity parameters for PSP@k and PSnDCG@k.  [default: from the dataset's name]",
)
@record_option
def command(data: Path, ranking: Path, propensity: tuple[float, float] | None, out: Path) -> None:
    """Record the scores with the costs of the ranking."""
    prepared = Prepared(data)
    a, b = propensity or propensity_parameters(prepared.meta["name"])
    click.echo(f"{prepared.meta['name']}: using propensities with A = {a:g}, B = {b:g}", err=True)
    _, Y_train = prepared.part("train")
    _, Y = prepared.part("test")
    ranked = RankedRecord.read(ranking / RankedRecord.FILE)
    shape = (Y.shape[0], RankedRecord.DEPTH)
    labels = load_array(ranking / RankedRecord.LABELS, np.int32, shape, mmap=False)
    metrics = ranking_metrics(Y, labels, propensities(Y_train, a, b))
    settings = {"settings": ranked.settings | {"propensity": f"{a:g} {b:g}"}}
    RankingRecord(
        **vars(ranked) | settings,
        metrics=metrics,
        standard_errors=standard_errors(Y, labels),
        resampled=resampled_ranking(Y, labels, metrics),
    ).write(out)
