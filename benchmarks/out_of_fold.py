"""Thresholds tuned on a fifth of the training set (plt2016) or on out-of-fold estimates."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.commands import benchmark, count_option
from benchmarks.harness import CPU_TIME, PERCENT, POINTS, TRAINING, Contender, Data, Report
from xmlc.metrics.classification import classification_metrics, measure_scores
from xmlc.models.plt import PLT
from xmlc.suite.options import data_option
from xmlc.suite.results.intervals import estimate_of
from xmlc.suite.steps.prepared import fit_mask
from xmlc.thresholds.bounds import GRID, priors
from xmlc.thresholds.methods import agreement_above, apply_thresholds
from xmlc.thresholds.out_of_fold import OutOfFold
from xmlc.thresholds.sweeps import METHODS as SWEEPS

HELD_OUT = "80/20"
REFITTED = "80/20, fitted to all"
OUT_OF_FOLD = "out of fold, fitted to all"
WHAT = {
    HELD_OUT: "model from 80 %, thresholds from 20 % of the training set, as in plt2016",
    REFITTED: "thresholds of 80/20, model from the whole training set",
    OUT_OF_FOLD: "thresholds from out-of-fold estimates, model from the whole training set",
}
PAIRS = ((REFITTED, HELD_OUT), (OUT_OF_FOLD, HELD_OUT), (OUT_OF_FOLD, REFITTED))
METHODS = ("fta", "sto", "ofo")
FOLDS = 5
# By title, the measure on the test set, and the one that selects thresholds from the grid (macro_f
# in the papers)
PRESENT = "macro_f_present"
MEASURES = {name: (name, "macro_f") for name in ("macro_f", "macro_f_zero", PRESENT)}
MEASURES |= {"macro_f_present, chosen by it": (PRESENT, PRESENT)}


@benchmark(
    "out-of-fold",
    "Compare thresholds tuned on held-out data and out of fold.",
    data_option,
    count_option("--seeds", 5, "Number of seeds; a seed determines split, folds and model."),
)
def bench_out_of_fold(data: Path, seeds: int) -> Report:
    """Measure macro-F of three threshold methods, with three conventions for 0/0."""
    dataset = Data.read(data)
    scores = defaultdict[tuple[str, str, str], list[float]](list)
    seconds = defaultdict[str, list[float]](list)
    for seed in range(seeds):
        fit = fit_mask(dataset.X.shape[0], 0.2, seed)
        start = time.process_time()
        model = PLT(random_state=seed)
        part = model.unfitted().fit(dataset.X[fit], dataset.Y[fit])
        trained = time.process_time()
        whole = OutOfFold(model, folds=FOLDS, random_state=seed).fit(dataset.X, dataset.Y)
        seconds[HELD_OUT].append(trained - start)
        seconds[OUT_OF_FOLD].append(time.process_time() - trained)
        min_probability = whole.threshold
        held_out = (
            part.predict_proba(dataset.X[~fit], min_probability),
            dataset.Y[~fit],
            priors(dataset.Y[fit]),
        )
        stacked = whole.estimates_, dataset.Y, priors(dataset.Y)
        of_part, of_all = (
            one.predict_proba(dataset.X_test, min_probability) for one in (part, whole)
        )
        chosen = {
            HELD_OUT: (held_out, of_part),
            REFITTED: (held_out, of_all),
            OUT_OF_FOLD: (stacked, of_all),
        }
        for method in METHODS:
            best = {
                id(tuned_on): tuned_by_each(method, *tuned_on, min_probability)
                for tuned_on in (held_out, stacked)
            }
            for name, (tuned_on, spe) in chosen.items():
                found = {
                    by: classification_metrics(dataset.Y_test, apply_thresholds(spe, thresholds))
                    for by, (_, thresholds) in best[id(tuned_on)].items()
                }
                for title, (measure, by) in MEASURES.items():
                    scores[name, method, title].append(100 * found[by][measure])
    about = f"{dataset.size}, test set, mean of {seeds} seeds, {FOLDS} folds"
    report = Report(
        "out-of-fold", dataset.name, about, [Contender(name, what) for name, what in WHAT.items()]
    )
    for name, turns in seconds.items():
        report.add_least(name, TRAINING, CPU_TIME, "s", turns)
    for (name, method, measure), values in scores.items():
        report.add(name, method, measure, PERCENT, float(np.mean(values)), values)
    for (one, other), method, measure in product(PAIRS, METHODS, MEASURES):
        ours, theirs = (scores[name, method, measure] for name in (one, other))
        add_gain(report, f"{one} / {other}", method, measure, ours, theirs)
    return report


def add_gain(
    report: Report, pair: str, task: str, measure: str, ours: list[float], theirs: list[float]
) -> None:
    """Add the mean of paired differences and its confidence interval."""
    gains = np.subtract(ours, theirs).tolist()
    gain = estimate_of(gains)
    note = f"95 % of Student's t: {gain.lower:.2f} to {gain.upper:.2f}"
    report.add(pair, task, measure, POINTS, gain.mean, gains, note=note)


def tuned_by_each(
    method: str,
    spe: sparse.csr_array,
    Y: sparse.csr_array,
    prior: np.ndarray,
    min_probability: float,
) -> dict[str, tuple[float, np.ndarray]]:
    """Return the best score and its thresholds by measure, from one pass over the grid."""
    model_selection = list(dict.fromkeys(by for _, by in MEASURES.values()))
    best = dict.fromkeys(model_selection, (-1.0, np.empty(0, dtype=np.float32)))
    for point in SWEEPS[method].sweep(spe, Y, prior, GRID):
        thresholds = np.maximum(point.thresholds, np.float32(min_probability))
        scores = measure_scores(agreement_above(Y, spe, thresholds), model_selection)
        for by in model_selection:
            if scores[by] > best[by][0]:
                best[by] = scores[by], thresholds
    return best
