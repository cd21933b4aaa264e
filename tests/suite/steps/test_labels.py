"""Test `xmlc labels`: results equal the library, and errors name a file."""

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from scipy import sparse
from threshold_cases import random_case

from xmlc.core.files import read_json
from xmlc.inference import fit_size_weights, gfm_sizes, meuf
from xmlc.metrics import classification_metrics
from xmlc.metrics.measures import UNLABELLED_METHODS
from xmlc.thresholds import ExpectedF, apply_thresholds, priors, tune

SPE, Y = random_case(60, 12, seed=3, levels=50)
TEST, Y_TEST = random_case(40, 12, seed=4, levels=50)
TRAINING = sparse.csr_array(np.tile(Y.toarray(), (2, 1)) & (np.arange(12) % 2 == 0)).astype(np.int8)
VALIDATION = ("--validation", "val.npz", "--truth", "val-y.npz")
TESTED = ("--test-truth", "test-y.npz")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matrices = {"val": SPE, "val-y": Y, "test": TEST, "test-y": Y_TEST, "training-y": TRAINING}
    for name, matrix in matrices.items():
        sparse.save_npz(f"{name}.npz", matrix)


def label(*arguments):
    return run("labels", "--test", "test.npz", "--out", "sets", *arguments)


def test_thresholds_label_sets_and_scores_equal_the_library(capsys):
    methods = ["--method", "sto", "--method", "ofo", "--method", "meuf", "--method", "gfm-sizes"]
    measured = ("--training-truth", "training-y.npz", "--measure", "macro_f_present")
    assert label(*methods, *VALIDATION, *TESTED, *measured) == 0
    scores = read_json("sets/measures.json")
    assert list(scores) == methods[1::2]
    printed = capsys.readouterr().out
    expected = {"meuf": meuf(TEST)[0], "gfm-sizes": gfm_sizes(TEST, fit_size_weights(SPE, Y))[0]}
    for method in ("sto", "ofo"):
        tuned = tune(method, SPE, Y, priors(TRAINING), measure="macro_f_present")
        np.testing.assert_array_equal(np.load(f"sets/{method}.thresholds.npy"), tuned.thresholds)
        expected[method] = apply_thresholds(TEST, tuned.thresholds)
        best = tuned.grid[tuned.best]
        for key in ("c", "a", "b", "validation"):
            assert scores[method][key] == getattr(best, key)
    for method, sets in expected.items():
        found = sparse.load_npz(f"sets/{method}.npz")
        assert found.dtype == bool
        np.testing.assert_array_equal(found.toarray(), sets.toarray())
        assert scores[method]["test"] == classification_metrics(Y_TEST, sets)
        assert f"{100 * scores[method]['test']['macro_f_zero']:.2f}" in printed


def test_methods_on_estimates_alone_need_no_true_labels_or_validation_set():
    assert label("--method", "meuf") == 0
    assert read_json("sets/measures.json") == {"meuf": {}}
    for method, zero_division in UNLABELLED_METHODS.items():
        assert label("--method", method, *TESTED) == 0
        fitted = ExpectedF(zero_division=zero_division).fit(TEST)
        scores = read_json("sets/measures.json")[method]
        np.testing.assert_array_equal(np.load(f"sets/{method}.thresholds.npy"), fitted.thresholds_)
        assert (sparse.load_npz(f"sets/{method}.npz") != fitted.predict(TEST)).nnz == 0
        assert scores["expected_macro_f"] == fitted.expected_.mean()
        assert scores["test"] == classification_metrics(Y_TEST, fitted.predict(TEST))
    assert label("--method", "fta", *VALIDATION) == 0
    assert read_json("sets/measures.json")["fta"]["test"] is None
    assert label("--method", "gfm-sizes") == 2


# Maps an invalid matrix to the name of its file and facts of the message.
INVALID = {
    "too few rows": (SPE[:50], "val", "val-y.npz: ", "(60, 12)", "(50, 12)"),
    "too few labels": (SPE[:, :9], "val", "val.npz: ", "(60, 9)", "12)"),
    "other rows": (Y, "test-y", "test-y.npz: ", "(60, 12)", "(40, 12)"),
    "no probabilities": (4 * TEST, "test", "test.npz: ", "sigmoid"),
    "no labels": (2 * Y.astype(int), "val-y", "val-y.npz: ", "2"),
    "no file": (None, "val", "val.npz: "),
}


@pytest.mark.parametrize("case", INVALID)
def test_invalid_file_is_named_and_nothing_is_written(capsys, case):
    matrix, name, *facts = INVALID[case]
    Path(f"{name}.npz").unlink()
    if matrix is not None:
        sparse.save_npz(f"{name}.npz", matrix)
    assert label("--method", "fta", "--method", "meuf", *VALIDATION, *TESTED) == 1
    error = capsys.readouterr().err
    assert all(fact in error for fact in facts)
    assert not Path("sets").exists()
