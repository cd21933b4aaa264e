"""Test `xmlc thresholds`: the records of its methods, and a method that fails."""

import numpy as np
import pytest
from command_line import run
from small_data import prepare_tiny, train

from xmlc.core.files import read_json
from xmlc.data.matrices import load_csr
from xmlc.kernels.csr import top_k_of
from xmlc.metrics import classification_metrics, ece_at_k, precision_at_k
from xmlc.metrics.resampling import draws
from xmlc.models.registry import load_estimator
from xmlc.suite.results.records.calibration import CalibrationRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.steps.prepared import Prepared
from xmlc.thresholds import ExpectedF, IsotonicCalibration, apply_thresholds, priors
from xmlc.thresholds.sweeps import METHODS

FAILING = """
from xmlc.thresholds.sweeps import register


@register("moody")
def sweep(spe, Y, priors, grid):
    raise ZeroDivisionError("a bad day")
"""


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Return the common options of the steps of a trained PLT."""
    folder = tmp_path_factory.mktemp("thresholds")
    about = train(folder, prepare_tiny(folder), "plt", part="fit")
    assert run("estimate", *about, "--min-probability", "0.001", "--out", folder / "spe") == 0
    return [*about, "--estimates", folder / "spe"]


def test_each_method_has_a_record_and_thresholds(options, tmp_path):
    methods = ("fta", "sto")
    out = tmp_path / "evaluation"
    thresholds = tmp_path / "thresholds"
    assert run("thresholds", *methods, *options, "--thresholds", thresholds, "--out", out) == 0
    records = [ThresholdRecord.read(out / f"{method}.json") for method in methods]
    assert [record.method for record in records] == list(methods)
    steps = [read_json(out / f"{method}.json")["step"] for method in methods]
    assert 0 < steps[1]["seconds"] < 60  # the process of the tests started earlier
    assert {step["name"] for step in steps} == {"evaluate"}
    m = Prepared(options[1]).part("test")[1].shape[1]
    assert np.load(thresholds / "sto.npy").shape == (m,)


def test_calibration_error_is_measured_before_and_after(options, tmp_path):
    out = tmp_path / "calibration.json"
    assert run("thresholds", "fta", *options, "--calibration", out, "--out", tmp_path / "80") == 0
    record = CalibrationRecord.read(out)
    prepared = Prepared(options[1], 0)
    spe = {part: load_csr(options[-1], part) for part in ("val", "test")}
    isotonic = (
        IsotonicCalibration()
        .fit(spe["val"], prepared.part("val")[1])
        .transform(spe["test"])
        .toarray()
    )
    Y = prepared.part("test")[1]
    (labels, scores) = top_k_of(spe["test"], 5)
    # The labels stay the same even if calibration changes the order of estimates.
    calibrated = np.where(
        labels < 0, 0, np.take_along_axis(isotonic, np.maximum(labels, 0), axis=1)
    )
    for k in (1, 3, 5):
        assert record.metrics[f"p@{k}"] == precision_at_k(Y, labels, k)
        assert record.metrics[f"ece@{k}"] == ece_at_k(Y, labels, scores, k)
        assert record.isotonic[f"ece@{k}"] == ece_at_k(Y, labels, calibrated, k)


def test_calibration_without_saved_estimates_is_refused(options, tmp_path, capsys):
    arguments = ("--calibration", tmp_path / "c.json", "--out", tmp_path / "out")
    assert run("thresholds", "expected-f", *options[:-2], *arguments) == 2
    assert "--estimates" in capsys.readouterr().err


def test_resampled_numbers_of_a_record_equal_measures_of_resampled_label_sets(options, tmp_path):
    assert (
        run(
            "thresholds",
            "fta",
            *options,
            "--thresholds",
            tmp_path / "80",
            "--out",
            tmp_path / "out",
        )
        == 0
    )
    record = ThresholdRecord.read(tmp_path / "out/fta.json")
    (_, Y) = Prepared(options[1], 0).part("test")
    sets = apply_thresholds(load_csr(options[-1], "test"), np.load(tmp_path / "80/fta.npy"))
    drawn = np.repeat(np.arange(Y.shape[0]), draws(Y.shape[0], 7))
    expected = classification_metrics(Y[drawn], sets[drawn])
    drawn_scores = record.resampled_numbers()[""]["macro_f"]
    assert drawn_scores[7] == pytest.approx(100 * expected["macro_f"], abs=1e-2)


def test_method_without_labels_is_also_evaluated_with_model_of_all_training_data(options, tmp_path):
    data = options[1]
    full = tmp_path / "full"
    assert run("thresholds", "fta", "expected-f", *options, "--out", tmp_path / "80") == 0
    about = (*train(full, data, "plt"), "--min-probability", "0.001", "--out", tmp_path / "whole")
    assert run("thresholds", "expected-f", *about) == 0
    X, Y = Prepared(data, 0).part("test")
    for split, part, folder in (("80", "fit", options[3]), ("full", "train", full / "model")):
        fitted = ExpectedF(prior=priors(Prepared(data, 0).part(part)[1]))
        fitted.fit(spe := load_estimator("plt", folder, 1).predict_proba(X, 0.001))
        record = ThresholdRecord.read(
            tmp_path / ("80" if split == "80" else "whole") / "expected-f.json"
        )
        assert classification_metrics(Y, fitted.predict(spe)).items() <= record.best.test.items()
        assert (record.split, bool(record.best.validation)) == (split, split == "80")
    assert record.method_name == "expected-f-full"


def test_failing_custom_method_is_named(options, tmp_path, capsys):
    extension = tmp_path / "moody.py"
    extension.write_text(FAILING)
    arguments = (
        "fta",
        "moody",
        *options,
        "--extension",
        extension,
        "--thresholds",
        tmp_path / "thresholds",
    )
    assert run("thresholds", *arguments, "--out", tmp_path / "out") == 1
    assert "method moody: ZeroDivisionError: a bad day" in capsys.readouterr().err
    assert not (tmp_path / "thresholds").exists()
    METHODS.pop("moody")


def test_folders_with_unrelated_files_are_not_overwritten(options, tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").write_text("mine")
    assert (
        run(
            "thresholds",
            "fta",
            *options,
            "--thresholds",
            tmp_path / "thesis",
            "--out",
            tmp_path / "out",
        )
        == 1
    )
    assert [file.name for file in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]
    assert "thesis.tex" in capsys.readouterr().err
