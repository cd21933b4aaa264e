"""`xmlc train`: one estimator on one part of one dataset, with one seed or several."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE, SEED, out_option, parse_parameters, threads_option
from xmlc.core.files import folder_bytes
from xmlc.core.passport import step_costs, with_passport
from xmlc.models.registry import make_estimator
from xmlc.models.warm_up import check_kept
from xmlc.suite.options import data_option, in_turn
from xmlc.suite.results.records.base import Portion
from xmlc.suite.results.records.search import SearchRecord
from xmlc.suite.results.records.training import Search, TrainingRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.subject import description
from xmlc.suite.steps.timed import fit_timed, training_costs

PORTIONS: dict[str, Portion] = {"train": "full", "fit": "80"}


@click.command(help="Train an estimator; write the model and the cost of its training.")
@data_option
@click.option("--part", type=click.Choice(["train", "fit"]), default="train", show_default=True,
              help="The whole training set, or the 80 % outside the validation set.")  # fmt: skip
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option("--name", required=True, help="Name of the model in tables.")
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--tuned", type=FILE, default=None,
              help="File written by `xmlc tune`; its best hyperparameters override --parameters.")  # fmt: skip
@click.option("--seed", "seeds", type=SEED, multiple=True, default=[0], show_default=True,
              help="Of the estimator and the 80/20 split; repeatable, with as many --out and --record.")  # fmt: skip
@threads_option
@out_option("Folder for the model.", multiple=True)
@click.option("--record", "records", type=FILE, multiple=True, required=True, help="JSON file for the costs.")
def command(
    data: Path,
    part: str,
    estimator: str,
    name: str,
    parameters: str,
    tuned: Path | None,
    seeds: tuple[int, ...],
    threads: int,
    out: tuple[Path, ...],
    records: tuple[Path, ...],
) -> None:
    """Train and save with each seed."""
    hyperparameters, result = parse_parameters(parameters), None
    for seed, folder, record in in_turn(seed=seeds, out=out, record=records):
        prepared = Prepared(data, seed)
        if tuned is not None:
            result = SearchRecord.read_for(tuned, estimator, prepared.digest)
            hyperparameters |= result.best["hyperparameters"]
        model = make_estimator(estimator, hyperparameters, seed, threads)
        check_kept(estimator, model, *prepared.part(part))
        times = fit_timed(model, *prepared.part(part), folder)
        last = with_passport(step_costs("train", threads, prepared.meta["name"], name, PORTIONS[part], written=folder))
        TrainingRecord(
            **description(prepared, model, estimator, name, seed, PORTIONS[part]),
            costs=training_costs(model, *times, threads, folder_bytes(folder)),
            tuning=search_of(result),
            **last,
        ).write(record)


def search_of(result: SearchRecord | None) -> Search | None:
    """Return the search that found the hyperparameters, for the record, if there was one."""
    if result is None:
        return None
    return {"method": result.method, "budget": result.budget, "seed": result.seed, "p@1": result.best["p@1"]}
