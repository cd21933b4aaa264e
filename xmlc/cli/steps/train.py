"""`xmlc train`: one estimator on one part of one dataset."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, data_option, parse_parameters, threads_option
from xmlc.data.prepared import Prepared
from xmlc.files import folder_bytes
from xmlc.measuring.subject import dataset_of, hyperparameters_of
from xmlc.measuring.training import fit_timed
from xmlc.models.base import LooksUp
from xmlc.models.registry import make_estimator
from xmlc.passport import ending, peak_bytes
from xmlc.records.base import Described, Portion, Search, TrainingCosts
from xmlc.records.training import TrainingRecord
from xmlc.tuning.result import read_result

PORTIONS: dict[str, Portion] = {"train": "full", "fit": "80"}


@click.command(help="Train an estimator and write the model and what the training cost.")
@data_option
@click.option("--part", type=click.Choice(["train", "fit"]), default="train", show_default=True,
              help="The whole training set, or the 80 % that validation leaves.")  # fmt: skip
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option("--name", required=True, help="Name of the model in tables.")
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--tuned", type=FILE, default=None,
              help="YAML file written by `xmlc tune`; its best hyperparameters are put over --parameters.")  # fmt: skip
@click.option("--trees", "share", default=None, metavar="I-of-N",
              help="Grow the I-th of N shares of a forest's trees only; `xmlc join` puts them together.")  # fmt: skip
@click.option("--seed", default=0, show_default=True)
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Folder for the model.")
@click.option("--record", type=FILE, required=True, help="JSON file for the costs.")
def command(
    data: Path,
    part: str,
    estimator: str,
    name: str,
    parameters: str,
    tuned: Path | None,
    share: str | None,
    seed: int,
    threads: int,
    out: Path,
    record: Path,
) -> None:
    """Train and save."""
    prepared, hyperparameters = Prepared(data), parse_parameters(parameters)
    tuning: Search | None = None
    if tuned is not None:
        result = read_result(tuned, estimator, prepared.digest)
        best = result["best"]
        hyperparameters |= best["hyperparameters"]
        tuning = {"method": result["method"], "budget": result["budget"], "seed": result["seed"], "p@1": best["p@1"]}
    model = make_estimator(estimator, hyperparameters, seed, threads)
    seconds, spent = fit_timed(model, *prepared.part(part), share)
    model.save(out)
    about: Described = {
        "dataset": dataset_of(prepared),
        "estimator": estimator,
        "model": name,
        "hyperparameters": hyperparameters_of(model),
        "seed": seed,
        "portion": PORTIONS[part],
    }
    names, known = (prepared.meta["name"], name, PORTIONS[part]), not isinstance(model, LooksUp)
    costs = TrainingCosts(
        train_seconds=seconds if known else None,
        train_cpu_seconds=spent if known else None,
        train_threads=threads if known else None,
        train_peak_bytes=peak_bytes(),
        model_bytes=folder_bytes(out),
    )
    TrainingRecord(**about, costs=costs, tuning=tuning, **ending("train", threads, *names, written=out)).write(record)
