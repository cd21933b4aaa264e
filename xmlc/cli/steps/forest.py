"""`xmlc forest`: how a forest's ranking grows with its trees, how deep they are, and what their nodes optimised."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from xmlc.cli._options import FILE, data_option, model_option, threads_option
from xmlc.cli._steps import load_model, predict_timed
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.metrics.ranking import K, precision_and_ndcg
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.passport import passport, step_costs

EXEMPLARY = 2  # trees whose objectives are told


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
    model: Any = load_model(model_folder, record["estimator"], threads)  # a forest has more than every estimator
    if not hasattr(model, "trees"):
        raise XmlcError(f"{record['estimator']} is no forest whose first trees could be asked alone")
    X, Y = prepared.part("test")
    rows = []
    for n in [*sorted(size for size in set(sizes) if size < model.n_trees), model.n_trees]:
        first = model.trees(n)
        (labels, _), ms = predict_timed(first, X, partial(first.predict_top_k, k=max(K)))
        rows.append({"n_trees": n, "metrics": precision_and_ndcg(Y, labels), "predict_ms_per_instance": ms})
    common = {key: record[key] for key in ("dataset", "estimator", "model", "hyperparameters", "seed", "portion")}
    content = {"kind": "forest", "schema": 1} | common | {"rows": rows, "costs": {"predict_threads": threads}}
    content |= {"trees": shape_of_trees(model), "objectives": objectives_by_level(model)}
    step = step_costs("forest", threads, prepared.meta["name"], record["model"], record["portion"])
    write_json(out, content | {"passport": passport(threads), "step": step})


def shape_of_trees(model: Any) -> dict[str, list[int]] | None:
    """Return ``depths`` and numbers of ``nodes``, leaves included, tree by tree; None where an estimator tells none."""
    if not hasattr(model, "tree_depths_"):
        return None
    return {"depths": model.tree_depths_.tolist(), "nodes": model.n_nodes_.tolist()}


def objectives_by_level(model: SparseProbabilityEstimator) -> list[dict[str, Any]]:
    """Summarise the objectives that the nodes of the first trees reached, level by level.

    Returns
    -------
    list of dict
        ``tree``; ``level``, the root's being 1; ``nodes``, how many of the level were split; ``minimum``, ``mean`` and
        ``maximum`` of their objectives after each epoch. Empty for an estimator that has no objectives.
    """
    rows = []
    for tree, (levels, values) in enumerate(getattr(model, "objectives_", [])[:EXEMPLARY]):
        for level in np.unique(levels):
            found = values[levels == level]
            summary = {name: getattr(found, of)(axis=0) for name, of in SUMMARY.items()}
            rows.append({"tree": tree, "level": level, "nodes": found.shape[0], **summary})
    return rows


SUMMARY = {"minimum": "min", "mean": "mean", "maximum": "max"}
