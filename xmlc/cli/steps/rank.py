"""`xmlc rank`: how good a model's ranking is, and what it costs."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, model_option, threads_option
from xmlc.cli._steps import instances_for, load_model, mean_inner_products, predict_timed
from xmlc.data.prepared import Prepared
from xmlc.files import read_json, write_json
from xmlc.metrics.ranking import K, propensities, propensity_parameters, ranking_metrics
from xmlc.passport import passport, peak_bytes, step_costs


@click.command(help="Rank the labels of the test set and score the ranking: P@k, nDCG@k, PSP@k.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, model_folder: Path, training: Path, threads: int, out: Path) -> None:
    """Rank and score."""
    prepared, record = Prepared(data), read_json(training)
    model = load_model(model_folder, record, threads)
    X, (_, Y) = instances_for(model, prepared, "test"), prepared.part("test")
    (labels, _), ms_per_instance = predict_timed(model, X, lambda rows: model.predict_top_k(rows, max(K)))
    propensity = propensities(prepared.part("train")[1], *propensity_parameters(prepared.meta["name"]))
    metrics = ranking_metrics(Y, labels, propensity)
    costs = record["costs"] | {
        "predict_ms_per_instance": ms_per_instance,
        "inner_products_per_instance": mean_inner_products(model),
        "predict_threads": threads,
        "predict_peak_bytes": peak_bytes(),
    }
    content = {"kind": "ranking", "schema": 1} | record
    step = step_costs("rank", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"metrics": metrics, "costs": costs, "passport": passport(threads), "step": step})
