"""`xmlc tune`: hyperparameters by validation P@1."""

from __future__ import annotations

import json
from pathlib import Path

import click
import yaml

from xmlc.cli._options import FILE, data_option, parse_parameters, threads_option
from xmlc.cli._steps import dataset_block, warm_up
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.passport import passport, timed
from xmlc.progress import Progress
from xmlc.tuning import Range, random_trials


@click.command(help="Search hyperparameters at random on the 80/20 split: the best P@1 on the 20 % wins.")
@data_option
@click.option("--estimator", required=True, help="Name, or path/to/file.py:ClassName.")
@click.option("--parameters", default="{}", help="Fixed hyperparameters as a JSON object.")
@click.option(
    "--space", required=True, help='Ranges as JSON, such as {"gamma": {"low": 0.1, "high": 10, "log": true}}.'
)
@click.option("--trials", default=30, show_default=True)
@click.option("--seed", default=0, show_default=True)
@threads_option
@click.option("--out", type=FILE, required=True, help="YAML file with the best values and every trial.")
def command(
    data: Path, estimator: str, parameters: str, space: str, trials: int, seed: int, threads: int, out: Path
) -> None:
    """Search at random; the test set is never looked at."""
    prepared, fixed = Prepared(data), parse_parameters(parameters)
    ranges = {name: Range.parse(name, content) for name, content in parse_parameters(space).items()}
    if trials < 1 or not ranges:
        raise XmlcError(f"{trials} trials over {len(ranges)} ranges: at least one of each is needed")
    (X, Y), (X_val, Y_val) = prepared.part("fit"), prepared.part("val")
    warm_up(make_estimator(estimator, fixed, seed, threads), X, Y)
    results = []
    with Progress(trials, f"tuning {estimator}", "trials") as progress:
        for drawn in random_trials(ranges, trials, seed):
            model = make_estimator(estimator, fixed | drawn, seed, threads)
            _, seconds = timed(lambda model=model: model.fit(X, Y))
            labels, _ = model.predict_top_k(X_val, 5)
            scores = {f"p@{k}": float(precision_at_k(Y_val, labels, k)) for k in (1, 3, 5)}
            results.append({"hyperparameters": drawn, **scores, "train_seconds": round(seconds, 3)})
            progress.update(1)
    best = max(results, key=lambda result: result["p@1"])
    content = {
        "dataset": dataset_block(prepared),
        "estimator": estimator,
        "method": "random",
        "chosen_by": "P@1 on the 20 % of the training set that validation holds",
        "space": json.loads(space),
        "fixed": fixed,
        "seed": seed,
        "best": best,
        "trials": results,
        "passport": passport(threads),
    }
    with atomic_file(out) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
