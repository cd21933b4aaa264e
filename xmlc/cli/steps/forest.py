"""`xmlc forest`: how a forest's ranking grows with its trees, how deep they are, and what their nodes optimised."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from xmlc.cli._options import FILE, data_option, model_option, threads_option
from xmlc.data.prepared import Prepared
from xmlc.files import read_json, write_json
from xmlc.measuring.forests import objectives_by_level, rank_by_first_trees, shape_of_trees
from xmlc.models.registry import load_estimator
from xmlc.passport import passport, step_costs


@click.command(help="Rank with the first trees of a forest alone, and tell depths and objectives of its trees.")
@data_option
@model_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--trees", "sizes", type=click.IntRange(min=1), multiple=True, required=True,
              help="Rank with so many, if there are more; then with all.")  # fmt: skip
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, model_folder: Path, training: Path, sizes: tuple[int, ...], threads: int, out: Path) -> None:
    """Rank with each size."""
    prepared, record = Prepared(data), read_json(training)
    model = load_estimator(record["estimator"], model_folder, threads)
    rows = [asdict(row) for row in rank_by_first_trees(model, *prepared.part("test"), sizes)]
    trees = shape_of_trees(model)
    common = {key: record[key] for key in ("dataset", "estimator", "model", "hyperparameters", "seed", "portion")}
    content = {"kind": "forest", "schema": 1} | common | {"rows": rows, "costs": {"predict_threads": threads}}
    content |= {"trees": trees and asdict(trees), "objectives": list(map(asdict, objectives_by_level(model)))}
    step = step_costs("forest", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"passport": passport(threads), "step": step})
