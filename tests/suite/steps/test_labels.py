"""Test `xmlc labels`: results equal the library, and errors name a file."""

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
TRAINING = sparse.csr_array(np.tile(Y.toarray(), (2, 1)) & (np.arange(12) % 2 == 0))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matrices = {
        "val": SPE,
        "val-y": Y,
        "test": TEST,
        "test-y": Y_TEST,
        "training-y": TRAINING.astype(np.int8),
    }
    for name, matrix in matrices.items():
        sparse.save_npz(f"{name}.npz", matrix)
    return [
        "--validation",
        "val.npz",
        "--truth",
        "val-y.npz",
        "--test",
        "test.npz",
        "--out",
        "sets",
    ]


def test_thresholds_label_sets_and_scores_equal_the_library(files, tmp_path, capsys):
    methods = ("sto", "ofo", "meuf", "gfm-sizes")
    named = []
    for method in methods:
        named += ("--method", method)
    more = [
        "--test-truth",
        "test-y.npz",
        "--training-truth",
        "training-y.npz",
        "--measure",
        "macro_f_present",
    ]
    assert run("labels", *named, *files, *more) == 0
    scores = read_json("sets/measures.json")
    printed = capsys.readouterr().out
    expected = {"meuf": meuf(TEST)[0], "gfm-sizes": gfm_sizes(TEST, fit_size_weights(SPE, Y))[0]}
    for method in ("sto", "ofo"):
        tuned = tune(method, SPE, Y, priors(TRAINING), measure="macro_f_present")
        np.testing.assert_array_equal(np.load(f"sets/{method}.thresholds.npy"), tuned.thresholds)
        expected[method] = apply_thresholds(TEST, tuned.thresholds)
        best = tuned.grid[tuned.best]
        keys = ("c", "a", "b", "validation")
        assert [scores[method][key] for key in keys] == [getattr(best, key) for key in keys]
    for method, sets in expected.items():
        found = sparse.load_npz(f"sets/{method}.npz")
        assert (found.dtype, found.shape, (found != sets).nnz) == (bool, TEST.shape, 0)
        assert scores[method]["test"] == classification_metrics(Y_TEST, sets)
        assert f"{100 * scores[method]['test']['macro_f_zero']:.2f}" in printed
    assert list(scores) == list(methods)


def test_methods_on_estimates_alone_need_no_true_labels_or_validation_set(files):
    assert run("labels", "--method", "meuf", *files[4:]) == 0
    assert read_json("sets/measures.json") == {"meuf": {}}
    for method, zero_division in UNLABELLED_METHODS.items():
        assert run("labels", "--method", method, *files[4:], "--test-truth", "test-y.npz") == 0
        fitted = ExpectedF(zero_division=zero_division).fit(TEST)
        scores = read_json("sets/measures.json")[method]
        np.testing.assert_array_equal(np.load(f"sets/{method}.thresholds.npy"), fitted.thresholds_)
        assert (sparse.load_npz(f"sets/{method}.npz") != fitted.predict(TEST)).nnz == 0
        assert scores["expected_macro_f"] == fitted.expected_.mean()
        assert scores["test"] == classification_metrics(Y_TEST, fitted.predict(TEST))
    assert run("labels", "--method", "fta", *files) == 0
    assert read_json("sets/measures.json")["fta"]["test"] is None
    assert run("labels", "--method", "gfm-sizes", *files[4:]) == 2


@pytest.mark.parametrize(
    ("name", "matrix", "facts"),
    [
        ("val", SPE[:50], ["val-y.npz: ", "(60, 12)", "(50, 12)"]),
        ("val", SPE[:, :9], ["val.npz: ", "(60, 9)", "12)"]),
        ("test-y", Y, ["test-y.npz: ", "(60, 12)", "(40, 12)"]),
        ("test", 4 * TEST, ["test.npz: ", "sigmoid"]),
        ("val-y", 2 * Y.astype(int), ["val-y.npz: ", "2"]),
        ("val", None, ["val.npz: "]),
    ],
)
def test_invalid_file_is_named_and_nothing_is_written(files, tmp_path, capsys, name, matrix, facts):
    file = tmp_path / f"{name}.npz"
    file.unlink()
    if matrix is not None:
        sparse.save_npz(file, matrix)
    assert (
        run("labels", "--method", "fta", "--method", "meuf", *files, "--test-truth", "test-y.npz")
        == 1
    )
    error = capsys.readouterr().err
    assert all(fact in error for fact in facts)
    assert not (tmp_path / "sets").exists()
