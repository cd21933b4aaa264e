"""A comparison of ExpectedF with tuned thresholds and top k.

Thresholds are tuned with labels, on a fifth of the training set, whereas ExpectedF maximises the
expected macro-F by probability estimates only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain, pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.commands import benchmark, count_option, several_option
from benchmarks.harness import PERCENT, Contender, Data, Report
from benchmarks.out_of_fold import METHODS, add_gain, tuned_by_each
from benchmarks.settings import paper_setting
from xmlc.data.formats import load
from xmlc.kernels.csr import top_k_of
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.classification import agreement, measure_scores
from xmlc.models.registry import make_estimator
from xmlc.suite.options import data_option
from xmlc.suite.steps.prepared import fit_mask
from xmlc.thresholds.bounds import priors
from xmlc.thresholds.expected import ExpectedF
from xmlc.thresholds.methods import agreement_above
from xmlc.thresholds.out_of_fold import OutOfFold

PART = "80 %"
WHOLE = "100 %"
GIVEN = "given"
BEST = "best of three on the 20 %"
# Priors of labels always come from the 80 % split, even for a model trained on all data
PRIOR = " with prior"
# By convention for 0/0, the measure for which thresholds are tuned, and the ExpectedF to compare.
# If 0/0 counts as 0, macro-F over all labels is proportional to that over the labels in the test
# set.
OURS = {zero: f"ExpectedF(zero_division={zero})" for zero in (0, 1)}
CONVENTIONS = {
    "macro_f": ("macro_f", OURS[1]),
    "macro_f_zero": ("macro_f_present", OURS[0]),
    "macro_f_present": ("macro_f_present", OURS[0]),
}
COMPARED = ("macro_f", "macro_f_present")
MODEL = "Model of config/papers/plt2016.yaml; repeatable."
TOP = 5
# Test instances to which ExpectedF is fitted before it predicts all label sets
SIZES = (100, 300, 1000, 3000)
# Bands of labels, by their smallest number of training instances
BANDS = (0, 1, 2, 4, 11, 101)
OTHERWISE: dict[str, Hyperparameters] = {"fastxml": {"n_trees": 30}}
MIN_SHARE = OutOfFold.threshold
Score = tuple[tuple[str, str, str], float]  # key (training split, task, measure) and score


class Estimates(NamedTuple):
    """Estimates of one seed, true labels of the validation set, and priors."""

    held_out: sparse.csr_array
    Y: sparse.csr_array
    priors: np.ndarray
    # Test estimates of the model of each training split.
    of_test: dict[str, sparse.csr_array]


@benchmark(
    "expected-f",
    "Compare ExpectedF with tuned thresholds.",
    data_option,
    several_option("--model", "models", ("plt-batch", "fastxml", "swnn"), MODEL, only_these=False),
    count_option("--seeds", 5, "Number of seeds; a seed determines split and model."),
)
def bench_expected_f(data: Path, models: tuple[str, ...], seeds: int) -> Report:
    """Measure macro-F on the test set with three conventions for 0/0.

    Instead of a dataset, the folder may have ``estimates.txt.xz`` and ``labels.txt.xz``, whose
    random halves become the validation set and the test set.
    """
    if (data / "estimates.txt.xz").exists():
        Y_test, halves = halves_of(data)
        name = data.name
        Y_train = halves.Y
        about = f"{Y_test.shape[0]} test instances, {Y_test.shape[1]} labels"
        turns_of = {GIVEN: lambda seed: halves}
    else:
        dataset = Data.read(data)
        name = dataset.name
        Y_train = dataset.Y
        Y_test = dataset.Y_test
        about = dataset.size
        turns_of = {model: partial(estimates_of, dataset, model) for model in models}
    splits_of = product(turns_of, (PART, WHOLE))
    contenders = [Contender(f"{model}, {split}", f"model of {split}") for model, split in splits_of]
    report = Report(
        "expected-f",
        name,
        f"{about}, test set, mean of {seeds} seeds of split and model",
        contenders,
    )
    size = round(Y_train.nnz / Y_train.shape[0])
    for model, turn in turns_of.items():
        found = defaultdict[tuple[str, str, str], list[float]](list)
        splits = [PART]
        for seed in range(seeds):
            estimates = turn(seed)
            splits = list(estimates.of_test)
            scores = scores_of(estimates, Y_test, size, seed)
            sums = sums_of(estimates.of_test[PART], Y_train, Y_test)
            for key, value in chain(scores, sums):
                found[key].append(value)
        for (split, task, measure), values in found.items():
            unit = ""
            if measure in CONVENTIONS:
                unit = PERCENT
            report.add(f"{model}, {split}", task, measure, unit, float(np.mean(values)), values)
        for measure, split, prior, method in product(
            COMPARED, splits, ("", PRIOR), (*METHODS, BEST)
        ):
            pair = f"{model}, {split} / {method}, {PART}"
            theirs = found[PART, method, measure]
            ours = CONVENTIONS[measure][1] + prior
            add_gain(report, pair, ours, measure, found[split, ours, measure], theirs)
    return report


def estimates_of(data: Data, model: str, seed: int) -> Estimates:
    """Return estimates of models trained on 80 % of the data and on all of it."""
    fit = fit_mask(data.X.shape[0], 0.2, seed)
    name, values = paper_setting("plt2016", model, data.name, OTHERWISE.get(model))
    part = make_estimator(name, values, seed).fit(data.X[fit], data.Y[fit])
    whole = make_estimator(name, values, seed).fit(data.X, data.Y)
    of_test = {
        PART: part.predict_proba(data.X_test, MIN_SHARE),
        WHOLE: whole.predict_proba(data.X_test, MIN_SHARE),
    }
    return Estimates(
        part.predict_proba(data.X[~fit], MIN_SHARE), data.Y[~fit], priors(data.Y[fit]), of_test
    )


def halves_of(folder: Path) -> tuple[sparse.csr_array, Estimates]:
    """Return the true labels of the test half, and the estimates of the model."""
    spe, _ = load(folder / "estimates.txt.xz", "svmlight")
    _, Y = load(folder / "labels.txt.xz", "svmlight", n_labels=spe.shape[1])
    order = np.random.RandomState(0).permutation(spe.shape[0])
    first, second = np.split(order, [order.size // 2])
    return Y[second], Estimates(spe[first], Y[first], priors(Y[first]), {PART: spe[second]})


def scores_of(
    estimates: Estimates, Y_test: sparse.csr_array, size: int, seed: int
) -> Iterator[Score]:
    """Yield the test scores of all methods, and of the best ``TOP`` and ``size`` labels."""
    tuned = {}
    for method in METHODS:
        for by, found in tuned_by_each(method, *estimates[:3], MIN_SHARE).items():
            tuned[method, by] = found
    best = {by: max(METHODS, key=lambda method: tuned[method, by][0]) for _, by in tuned}
    for split, spe in estimates.of_test.items():
        ranked, _ = top_k_of(spe, max(TOP, size))
        sets = {
            f"top {TOP}": best_labels(ranked[:, :TOP], spe),
            f"top {size}": best_labels(ranked[:, :size], spe),
        }
        for zero, name in OURS.items():
            sets[name] = ExpectedF(zero_division=zero).fit(spe).predict(spe)
            sets[name + PRIOR] = (
                ExpectedF(zero_division=zero, prior=estimates.priors).fit(spe).predict(spe)
            )
        for name, predicted in sets.items():
            for measure, score in measure_scores(agreement(Y_test, predicted), CONVENTIONS).items():
                yield (split, name, measure), 100 * score
        if split == PART:
            for task, measure, fitted in fitted_to_others(spe, estimates.held_out, seed):
                scores = measure_scores(agreement(Y_test, fitted.predict(spe)), [measure])
                yield (split, task, measure), 100 * scores[measure]
        for (method, by), (_, thresholds) in tuned.items():
            scores = measure_scores(agreement_above(Y_test, spe, thresholds), CONVENTIONS)
            for measure in (measure for measure in CONVENTIONS if CONVENTIONS[measure][0] == by):
                yield (split, method, measure), 100 * scores[measure]
                if method == best[by]:
                    yield (split, BEST, measure), 100 * scores[measure]


def fitted_to_others(
    spe: sparse.csr_array, held_out: sparse.csr_array, seed: int
) -> Iterator[tuple[str, str, ExpectedF]]:
    """Yield ExpectedF methods fitted to subsets of the test set or to the validation set.

    Each has variants with and without a minimum probability.
    """
    order = np.random.RandomState(seed).permutation(spe.shape[0])
    others = {f"{size}": spe[order[:size]] for size in SIZES if size < spe.shape[0]} | {
        "the 20 %": held_out
    }
    for (name, fitted), (zero, ours), min_share in product(others.items(), OURS.items(), (0, 0.25)):
        method = ExpectedF(zero_division=zero, min_share=min_share).fit(fitted)
        yield (
            f"{ours} of {name}, min_share={min_share}",
            "macro_f" if zero else "macro_f_present",
            method,
        )


def best_labels(ranked: np.ndarray, spe: sparse.csr_array) -> sparse.csr_array:
    """Convert a ranking to label sets, without entries -1."""
    rows, ranks = np.nonzero(ranked >= 0)
    return sparse.csr_array(
        (np.ones(rows.size, dtype=bool), (rows, ranked[rows, ranks])), shape=spe.shape
    )


def sums_of(
    spe: sparse.csr_array, Y_train: sparse.csr_array, Y_test: sparse.csr_array
) -> Iterator[Score]:
    """Yield labels, positives and the sum of estimates of each of `BANDS`."""
    known, positives = (np.bincount(Y.indices, minlength=Y.shape[1]) for Y in (Y_train, Y_test))
    sums = np.bincount(spe.indices, weights=spe.data, minlength=spe.shape[1])
    for low, end in pairwise((*BANDS, np.inf)):
        band = (known >= low) & (known < end)
        for measure, amount in {
            "labels": band,
            "positives": positives[band],
            "estimates": sums[band],
        }.items():
            yield (PART, f"labels, training instances from {low}", measure), float(amount.sum())
