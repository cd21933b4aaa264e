"""The contribution of each part of `Stacking`: features, members, and held-out instances."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.commands import benchmark, count_option
from benchmarks.harness import PERCENT, Contender, Data, Report
from xmlc.kernels import elementwise
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.csr import stack_estimates, top_k_of
from xmlc.metrics import ece_at_k, ndcg_at_k, precision_at_k, propensities, psp_at_k
from xmlc.models import PLT, SparseWeightedNearestNeighbors, Stacking
from xmlc.models._held_out import joined, log_shares
from xmlc.models._stacked import features_of, fit_stacked, merge_lists
from xmlc.suite.options import data_option

MEMBERS = {"swnn": SparseWeightedNearestNeighbors(), "plt": PLT(), "ranking": PLT.for_ranking()}
ALL = "all features"
PRIOR = "without the labels' shares"
PRODUCTS = "without products"
HELD_OUT = 500, 2000, 5000
# Name, members, features, and number of held-out instances. With 0, members' scores are averaged.
VARIANTS = (
    ("default", ("swnn", "plt"), ALL, 2000),
    ("without the labels' shares", ("swnn", "plt"), PRIOR, 2000),
    ("without products", ("swnn", "plt"), PRODUCTS, 2000),
    ("mean score", ("swnn", "plt"), ALL, 0),
    ("SWNN alone", ("swnn",), ALL, 2000),
    ("PLT alone", ("plt",), ALL, 2000),
    ("SWNN, PLT and PLT.for_ranking", ("swnn", "plt", "ranking"), ALL, 2000),
    *((f"{n} held-out instances", ("swnn", "plt"), ALL, n) for n in HELD_OUT if n != 2000),
)
Lists = dict[str, tuple[np.ndarray, np.ndarray]]


@benchmark(
    "stacking",
    "Measure Stacking without some of its parts.",
    data_option,
    count_option("--draws", 10, "Number of draws of the held-out instances."),
)
def bench_stacking(data: Path, draws: int) -> Report:
    """Measure each variant with several random choices of held-out instances."""
    dataset = Data.read(data)
    propensity = propensities(dataset.Y)
    about = f"{dataset.size}, test set, mean of {draws} draws of the held-out instances"
    report = Report(
        "stacking",
        dataset.name,
        about,
        [Contender(name, features) for name, _, features, _ in VARIANTS],
    )
    scores: dict[tuple[str, str], list[float]] = {}
    # Rankings of the test set by member and selected hyperparameters
    finals: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
    for draw in range(draws):
        fits = {size: first_lists(dataset, draw, size) for size in HELD_OUT}
        for name, members, features, n_held_out in VARIANTS:
            rows, part, selected, lists = fits[n_held_out or 2000]
            for member in members:
                key = (member, str(selected[member]))
                if key not in finals:
                    model = MEMBERS[member].unfitted().set_params(**selected[member], n_jobs=1)
                    finals[key] = model.fit(dataset.X, dataset.Y).predict_top_k(
                        dataset.X_test, Stacking.n_candidates
                    )
            counts, candidates, values = merge_lists(*joined([lists[member] for member in members]))
            kept = kept_features(len(members), features)
            inputs = (
                features_of(candidates, values, log_shares(dataset.Y[part], np.ones(part.size)))
                * kept
            )
            true = np.asarray(dataset.Y[np.repeat(rows, counts), candidates]).reshape(-1)
            start = np.eye(1, kept.size)[0]
            found = start
            if n_held_out:
                found = fit_stacked(inputs, true, np.ones(true.size), start)
            of_test = {member: finals[member, str(selected[member])] for member in members}
            counts, candidates, values = merge_lists(
                *joined([of_test[member] for member in members])
            )
            inputs = (
                features_of(candidates, values, log_shares(dataset.Y, np.ones(dataset.Y.shape[0])))
                * kept
            )
            estimates = elementwise.sigmoid(inputs @ found).astype(np.float32)
            labels, best = top_k_of(
                stack_estimates(counts, candidates, estimates, dataset.Y.shape[1]), 5
            )
            Y = dataset.Y_test
            measured = {
                "P@1": precision_at_k(Y, labels, 1),
                "P@5": precision_at_k(Y, labels, 5),
                "nDCG@5": ndcg_at_k(Y, labels, 5),
                "PSP@5": psp_at_k(Y, labels, propensity, 5),
                "ECE@1": ece_at_k(Y, labels, best, 1),
            }
            for measure, value in measured.items():
                scores.setdefault((name, measure), []).append(100 * value)
    for (name, measure), values in scores.items():
        report.add(name, "test set", measure, PERCENT, float(np.mean(values)), values)
    return report


def first_lists(
    dataset: Data, draw: int, n_held_out: int
) -> tuple[np.ndarray, np.ndarray, dict[str, dict[str, object]], Lists]:
    """Train the members of Stacking.

    Returns held-out and other instances, and each member's selected hyperparameters and rankings.
    """
    order = random_permutation(dataset.X.shape[0], draw, Stream.STACKING)
    rows, part = np.split(order, [min(n_held_out, order.size // 5)])
    selected = {}
    lists = {}
    for name, member in MEMBERS.items():
        model = member.unfitted().set_params(n_jobs=1).fit(dataset.X[part], dataset.Y[part])
        selected[name] = model._selected()
        lists[name] = model.predict_top_k(dataset.X[rows], Stacking.n_candidates)
    return rows, part, selected, lists


def kept_features(n_members: int, which: str) -> np.ndarray:
    """Return a vector with 1 for each feature that a variant uses."""
    logs = n_members + 1
    pairs = [(first, second) for first, second in product(range(logs), repeat=2) if second <= first]
    kept = np.ones(2 + logs + len(pairs))
    if which == PRIOR:
        kept[1 + logs] = 0
        kept[2 + logs :] = [max(pair) < n_members for pair in pairs]
    if which == PRODUCTS:
        kept[2 + logs :] = 0
    return kept
