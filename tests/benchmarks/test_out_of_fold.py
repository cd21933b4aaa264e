"""The benchmark of out-of-fold thresholds: its three contenders are what they are called."""

import csv
from itertools import product

import numpy as np
import pytest
from benchmark_rows import run_benchmark
from repository import ROOT
from small_data import prepare_tiny

from benchmarks.out_of_fold import HELD_OUT, MEASURES, METHODS, OUT_OF_FOLD, PAIRS, REFITTED
from xmlc.metrics import classification_metrics
from xmlc.models import PLT
from xmlc.suite.steps.prepared import Prepared, fit_mask
from xmlc.thresholds import OutOfFold, apply_thresholds, priors, tune


def test_each_contender_is_measured_and_compared(tmp_path):
    data = prepare_tiny(tmp_path)
    rows = run_benchmark(tmp_path, "out-of-fold", "--data", data, "--seeds", 2, "--folds", 3)
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    splits = [fit_mask(120, 0.2, seed) for seed in range(2)]
    parts = [PLT(random_state=seed).fit(X[fit], Y[fit]) for seed, fit in enumerate(splits)]
    wholes = [OutOfFold(PLT(random_state=seed), folds=3, random_state=seed).fit(X, Y) for seed in range(2)]
    for method, (title, (measure, by)) in product(METHODS, MEASURES.items()):
        expected = {HELD_OUT: [], REFITTED: [], OUT_OF_FOLD: []}
        for fit, part, whole in zip(splits, parts, wholes, strict=True):
            held_out = tune(method, part.predict_proba(X[~fit], 1e-4), Y[~fit], priors(Y[fit]), floor=1e-4, measure=by)
            stacked = tune(method, whole.estimates_, Y, priors(Y), floor=1e-4, measure=by)
            of_part, of_whole = (model.predict_proba(X_test, 1e-4) for model in (part, whole.estimator_))
            answers = (of_part, held_out), (of_whole, held_out), (of_whole, stacked)
            for turns, (spe, tuned) in zip(expected.values(), answers, strict=True):
                turns.append(100 * classification_metrics(Y_test, apply_thresholds(spe, tuned.thresholds))[measure])
        assert {name: rows[name, method, title, 1]["rounds"] for name in expected} == expected
        for one, other in PAIRS:
            gain = rows[f"{one} / {other}", method, title, 1]["value"]
            assert gain == pytest.approx(np.mean(expected[one]) - np.mean(expected[other]))


def test_the_table_of_the_page_is_what_was_measured():
    with open(ROOT / "results/benchmarks/out-of-fold.csv", newline="") as file:
        rows = {(row["dataset"], row["contender"], row["task"], row["measure"]): row for row in csv.DictReader(file)}
    page = (ROOT / "docs/package.md").read_text()
    datasets = list(dict.fromkeys(dataset for dataset, *_ in rows))
    assert len(datasets) == 6
    for dataset, method in product(datasets, METHODS):
        cells = [dataset, method.upper()]
        for measure in ("macro_f", "macro_f_present, chosen by it"):
            cells.append(f"{float(rows[dataset, HELD_OUT, method, measure]['value']):.1f}")
            for one, other in PAIRS[:2]:
                gain = rows[dataset, f"{one} / {other}", method, measure]
                low, high = map(float, gain["note"].rpartition(": ")[2].split(" to "))
                text = f"{float(gain['value']):+.1f}"
                cells.append(f"**{text}**" if low > 0 or high < 0 else text)
        assert f"| {' | '.join(cells)} |\n" in page
