"""Pieces: thresholds and inference, from estimates to label sets."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.inference import (
    METHODS,
    fit_size_weights,
    floor_bound,
    infer_blocks,
    labels_by_size,
    labels_by_size_from_marginals,
)
from xmlc.inference.simulation import MODELS, draw, exact_labels_by_size, simulate
from xmlc.samebits.pieces import Data, Parts, Run
from xmlc.thresholds.apply import apply_thresholds
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.fta import FTA
from xmlc.thresholds.tune import METHODS as TUNED
from xmlc.thresholds.tune import tune

FEW = 30  # instances that the costly methods are given


def tuned(method: str) -> Run:
    """Make a piece of a method of thresholds: all points of its grid, and what it predicts."""

    def run(data: Data) -> Parts:
        found = tune(method, data.P_test, data.Y_test, priors(data.Y))
        scores = [[score for _, score in sorted(point.validation.items())] for point in found.grid]
        grid = [[np.nan if x is None else x for x in (point.c, point.a, point.b)] for point in found.grid]
        Y_hat = apply_thresholds(data.P_test, found.thresholds)
        return {"thresholds": found.thresholds, "grid": np.array(grid), "scores": np.array(scores), "predicted": Y_hat}

    return run


def fixed(data: Data) -> Parts:
    """Choose common thresholds, and label-wise ones, by FTA itself."""
    methods = {"common": FTA(), "label_wise": FTA(label_wise=True)}
    return {name: method.fit(data.P_test, data.Y_test).thresholds_ for name, method in methods.items()}


def many_labels() -> np.ndarray:
    """Return marginals of more labels than `meuf_approx` has cells."""
    return ((np.arange(10)[:, None] * 37 + np.arange(24)[None, :] * 61) % 89) / 100


def inferred(method: str) -> Run:
    """Make a piece of a method of inference: from estimates, and from samples where it takes them."""

    def run(data: Data) -> Parts:
        few = data.P_test[:FEW]
        weights = fit_size_weights(data.P_test, data.Y_test) if METHODS[method].takes_sizes else None
        result: dict[str, object] = {} if weights is None else {"size_weights": weights}
        result["from_estimates"] = infer_blocks(method, few, 1, size_weights=weights)
        samples = draw(MODELS["dependent-signed"](8), 40, FEW, seed=3, stream=5)
        result["from_many_labels"] = infer_blocks(method, many_labels(), 1, size_weights=weights)
        result["from_samples"] = infer_blocks(method, samples, 1, size_weights=weights)
        if METHODS[method].takes == "joint":
            result["from_sizes"] = infer_blocks(method, labels_by_size(samples), 1)
        return result

    return run


def distributions(data: Data) -> Parts:
    """Work out joint distributions, and what a floor of the estimates may cost."""
    few = data.P_test[:FEW]
    Y_hat, expected = infer_blocks("meuf", few, 1) or (sparse.csr_array((0, 0)), np.empty(0))
    return {
        "of_marginals": tuple(labels_by_size_from_marginals(few)),
        "of_a_chain": [tuple(exact_labels_by_size(model(9))) for model in MODELS.values()],
        "floor_bound": floor_bound(Y_hat, expected, 0.01, 0.001),
    }


def simulated(data: Data) -> Parts:
    """Infer from samples of the paper's models."""
    found = simulate(seed=1, n_trials=3, sample_sizes=(5, 20), m=8, n_jobs=1)
    return {name: _numbers(model) for name, model in found.items()}


def _numbers(content: object) -> object:
    return {k: _numbers(v) for k, v in content.items()} if isinstance(content, dict) else np.asarray(content)


PIECES: dict[str, Run] = {
    **{f"thresholds {method}": tuned(method) for method in TUNED},
    "thresholds FTA itself": fixed,
    **{f"inference {method}": inferred(method) for method in METHODS},
    "distributions of label sets": distributions,
    "simulation": simulated,
}
