"""`xmlc infer`: label sets inferred for each instance of the test set, by several methods in one job."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from scipy import sparse

from xmlc.cli._options import FILE, FOLDER, data_option, threads_option
from xmlc.cli._steps import instances_for, load_model, predict_timed
from xmlc.csr import load_csr
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json
from xmlc.inference.floor import floor_bound, labels_below_floor
from xmlc.inference.methods import METHODS, infer_blocks, method_named, n_instances, take_instances
from xmlc.inference.sizes import fit_size_weights
from xmlc.metrics import classification_metrics
from xmlc.passport import WARM_UP_ROWS, passport, peak_bytes, step_costs, timed
from xmlc.samples import Samples

MAXIMISERS = ("gfm", "meuf", "meuf-cubic")  # exact ones: what the floor costs is bounded for these alone


class Given(NamedTuple):
    """What label sets are inferred from, and what it took to get it.

    Attributes
    ----------
    distribution : Samples, or csr_array of shape (n, m)
        Label vectors of a model that can be drawn from; of any other the marginals p(Y_i = 1).
    costs : dict
        ``draw_ms_per_instance`` and ``estimate_ms_per_instance``, of which one is None; both are for an oracle.
    floor : float
        Marginals up to this count as 0.
    """

    distribution: Samples | sparse.csr_array
    costs: dict[str, float | None]
    floor: float


@click.command(help="Infer a label set for each test instance by each METHOD, from a model or from its estimates.")
@data_option
@click.option("--model", "model_folder", type=FOLDER, default=None,
              help="Folder written by `xmlc train`; it is drawn from, or asked for marginals.")  # fmt: skip
@click.option("--estimates", type=FOLDER, default=None, help="Folder written by `xmlc estimate`, in place of --model.")
@click.option("--training", type=FILE, required=True, help="Record written by `xmlc train`.")
@click.option("--method", "methods", multiple=True, required=True, help=f"One of {', '.join(METHODS)}; several times.")
@click.option("--floor", default=0.0, show_default=True, help="Marginals asked of --model must be greater.")
@click.option("--samples", default=200, show_default=True, type=click.IntRange(min=1),
              help="Label vectors drawn for each instance.")  # fmt: skip
@click.option("--time-limit", type=float, default=None, help="Seconds of inferring after which a method is stopped.")
@threads_option
@click.option("--out", type=FOLDER, required=True, help="Gets <method>.json, one record each.")
def command(
    data: Path,
    model_folder: Path | None,
    estimates: Path | None,
    training: Path,
    methods: tuple[str, ...],
    floor: float,
    samples: int,
    time_limit: float | None,
    threads: int,
    out: Path,
) -> None:
    """Draw or estimate once, then do one method after the other: starting a process takes longer than most of them."""
    needs_sizes = any([method_named(name).takes_sizes for name in methods])
    if needs_sizes and estimates is None:
        raise XmlcError("gfm-sizes learns from estimates of the validation set: give --estimates in place of --model")
    prepared, record = Prepared(data), read_json(training)
    if estimates is not None and model_folder is None:
        given = read_estimates(estimates)
    elif model_folder is not None and estimates is None:
        given = ask_model(prepared, model_folder, record, floor, samples, threads)
    else:
        raise XmlcError("give either --model or --estimates: label sets are inferred from one of them")
    Y = prepared.part("test")[1]
    if n_instances(given.distribution) != Y.shape[0]:
        raise XmlcError(
            f"estimates of {n_instances(given.distribution)} instances, a test set of {Y.shape[0]}; they do not belong "
            f"together: delete {estimates or model_folder} and make it again"
        )
    marginals = None if isinstance(given.distribution, Samples) else given.distribution
    about: dict[str, Any] = {"samples": samples if marginals is None else None, "time_limit": time_limit}
    about["estimates"] = (
        None if marginals is None or given.floor <= 0 else describe_estimates(marginals, given.floor, Y)
    )
    sizes = learn_sizes(prepared, estimates) if needs_sizes and estimates is not None else None
    weights = None if sizes is None else np.array(sizes["weights"])
    names = prepared.meta["name"], record["model"], record["portion"]
    for method in methods:
        content = {"kind": "inference", "schema": 1} | record | {"method": method} | about
        content["sizes"] = sizes if method_named(method).takes_sizes else None
        content |= infer_and_score(method, given, Y, time_limit, threads, weights)
        content["costs"] = record["costs"] | content["costs"]
        content |= {"passport": passport(threads), "step": step_costs("infer", threads, *names, method)}
        write_json(out / f"{method}.json", content)


def read_estimates(folder: Path) -> Given:
    """Take the test set's part of what `xmlc estimate` wrote; its cost is told there."""
    meta = read_json(folder / "estimate.json")
    costs = {"draw_ms_per_instance": None, "estimate_ms_per_instance": meta["parts"]["test"]["ms_per_instance"]}
    return Given(load_csr(folder, "test", mmap=False), costs, meta["floor"])


def ask_model(
    prepared: Prepared, folder: Path, record: dict[str, Any], floor: float, n_samples: int, threads: int
) -> Given:
    """Draw label vectors for the test set from a model that can be drawn from; ask any other for its marginals."""
    model = load_model(folder, record["estimator"], threads)
    X = instances_for(model, prepared, "test")
    if not hasattr(model, "sample"):
        spe, ms = predict_timed(model, X, lambda rows: model.predict_proba(rows, floor))
        return Given(spe, {"draw_ms_per_instance": None, "estimate_ms_per_instance": ms}, floor)
    drawn, ms = predict_timed(model, X, lambda rows: model.sample(rows, n_samples))
    return Given(Samples(drawn, n_samples), {"draw_ms_per_instance": ms, "estimate_ms_per_instance": None}, 0.0)


def learn_sizes(prepared: Prepared, folder: Path) -> dict[str, Any]:
    """Learn from the validation set how many labels instances have, for `gfm_sizes`."""
    estimates, Y = load_csr(folder, "val", mmap=False), prepared.part("val")[1]
    fit_size_weights(estimates[:WARM_UP_ROWS], Y[:WARM_UP_ROWS])
    weights, seconds = timed(lambda: fit_size_weights(estimates, Y))
    return {"weights": weights.tolist(), "learn_seconds": seconds}


def describe_estimates(marginals: sparse.csr_array, floor: float, Y: sparse.csr_array) -> dict[str, float]:
    """Say what the floor left of the estimates, and how many true labels it left out."""
    return {
        "floor": floor,
        "estimates_per_instance": marginals.nnz / max(Y.shape[0], 1),
        "missed_per_instance": float(labels_below_floor(marginals, Y).mean()),
    }


def floor_loss(given: Given, Y: sparse.csr_array, Y_hat: sparse.csr_array, expected_f: np.ndarray) -> float:
    """Bound what the floor costs of the mean expected F, by the number of true labels that it left out.

    This number estimates the sum of their marginals, in which `floor_bound` is linear but for its first term,
    min(delta, 2 kappa). That is concave, so that its mean is at most its value at the mean.
    """
    missed = labels_below_floor(given.distribution, Y)
    linear = floor_bound(Y_hat, expected_f, missed, kappa=0.0)
    return float(min(missed.mean(), 2 * given.floor) + linear.mean())


def infer_and_score(
    method: str,
    given: Given,
    Y: sparse.csr_array,
    time_limit: float | None,
    threads: int,
    size_weights: np.ndarray | None = None,
) -> dict[str, Any]:
    """Run one method, compiled beforehand on a few rows, within its time; return the part of the record about it."""
    few = take_instances(given.distribution, slice(0, WARM_UP_ROWS))
    infer_blocks(method, few, threads, size_weights=size_weights)
    inferred, seconds = timed(lambda: infer_blocks(method, given.distribution, threads, time_limit, size_weights))
    ms = None if inferred is None else 1e3 * seconds / max(Y.shape[0], 1)
    before = [cost for cost in given.costs.values() if cost is not None]
    costs = given.costs | {
        "infer_ms_per_instance": ms,
        # All that an instance takes, for the whole test set: gfm2011's "inference time".
        "inference_seconds": 1e-3 * Y.shape[0] * (before[0] + ms) if before and ms is not None else None,
        "threads": threads,
        "infer_peak_bytes": peak_bytes(),
    }
    if inferred is None:
        return {"finished": False, "metrics": None, "expected_f": None, "floor_loss": None, "costs": costs}
    Y_hat, expected_f = inferred
    loss = floor_loss(given, Y, Y_hat, expected_f) if given.floor > 0 and method in MAXIMISERS else None
    scores = {"metrics": classification_metrics(Y, Y_hat), "expected_f": float(expected_f.mean()), "floor_loss": loss}
    return {"finished": True, **scores, "costs": costs}
