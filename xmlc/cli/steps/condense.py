"""`xmlc condense`: index fewer training instances, and see what that costs in P@k."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from xmlc.cli._options import FILE, data_option, threads_option
from xmlc.cli._steps import predict_timed
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.condensing import kept_instances
from xmlc.models.registry import make_estimator
from xmlc.passport import passport, step_costs

K = (1, 3, 5)


@click.command(help="Leave near-duplicates with the same label set out of the training set: quality against size.")
@data_option
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train` for the whole training set.")
@click.option(
    "--similarity",
    "similarities",
    type=float,
    multiple=True,
    required=True,
    help="Cosine from which on an instance stands for another; each is tried, after the whole training set.",
)
@threads_option
@click.option("--out", type=FILE, required=True, help="JSON record to write.")
def command(data: Path, training: Path, similarities: tuple[float, ...], threads: int, out: Path) -> None:
    """Train with the record's hyperparameters on what each similarity keeps, and rank the test set."""
    prepared, record = Prepared(data), read_json(training)
    (X, Y), (X_test, Y_test) = prepared.part("train"), prepared.part("test")
    if record["portion"] != "full" or record["dataset"]["digest"] != prepared.digest:
        raise XmlcError(f"{training}: expected the training on the whole training set of {data}")
    rows: list[dict[str, Any]] = []
    for similarity in (None, *similarities):
        kept = None if similarity is None else kept_instances(X, Y, similarity)
        model: Any = make_estimator(record["estimator"], record["hyperparameters"], record["seed"], threads)
        if not hasattr(type(model), "index_bytes_"):
            raise XmlcError(f"{record['estimator']} keeps no training instances; expected swnn")
        model.fit(*((X, Y) if kept is None else (X[kept], Y[kept])))
        (labels, _), ms = predict_timed(model, X_test, partial(model.predict_top_k, k=max(K)))
        rows.append(
            {
                "similarity": similarity,
                "instances": X.shape[0] if kept is None else int(kept.size),
                "index_bytes": int(model.index_bytes_),
                "metrics": {f"p@{k}": precision_at_k(Y_test, labels, k) for k in K},
                "predict_ms_per_instance": ms,
            }
        )
    common = {key: record[key] for key in ("dataset", "estimator", "model", "hyperparameters", "seed", "portion")}
    content = {"kind": "condensed", "schema": 1} | common | {"rows": rows, "costs": {"predict_threads": threads}}
    step = step_costs("condense", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"passport": passport(threads), "step": step})
