"""Test `xmlc thresholds`: the records of its methods, and a method that fails."""

import numpy as np
import pytest
from command_line import run
from small_data import prepare_tiny, train

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


def test_calibration_without_saved_estimates_is_refused(options, tmp_path, capsys):
    arguments = ("--calibration", tmp_path / "c.json", "--out", tmp_path / "out")
    assert run("thresholds", "expected-f", *options[:-2], *arguments) == 2
    assert "--estimates" in capsys.readouterr().err


def test_record_has_calibration_errors_and_resampled_measures(options, tmp_path):
    out = tmp_path / "calibration.json"
    folders = ("--thresholds", tmp_path / "80", "--out", tmp_path / "out")
    assert run("thresholds", "fta", *options, "--calibration", out, *folders) == 0
    prepared = Prepared(options[1])
    val, spe = (load_csr(options[-1], part) for part in ("val", "test"))
    Y = prepared.part("test")[1]
    labels, scores = top_k_of(spe, 5)
    isotonic = IsotonicCalibration().fit(val, prepared.part("val")[1]).transform(spe).toarray()
    # The labels stay the same even if calibration changes the order of estimates.
    calibrated = np.take_along_axis(isotonic, np.maximum(labels, 0), axis=1)
    calibrated[labels < 0] = 0
    record = CalibrationRecord.read(out)
    for k in (1, 3, 5):
        assert record.metrics[f"p@{k}"] == precision_at_k(Y, labels, k)
        assert record.metrics[f"ece@{k}"] == ece_at_k(Y, labels, scores, k)
        assert record.isotonic[f"ece@{k}"] == ece_at_k(Y, labels, calibrated, k)

    resampled = ThresholdRecord.read(tmp_path / "out/fta.json").resampled_numbers()[""]["macro_f"]
    sets = apply_thresholds(spe, np.load(tmp_path / "80/fta.npy"))
    drawn = np.repeat(np.arange(Y.shape[0]), draws(Y.shape[0], 7))
    expected = classification_metrics(Y[drawn], sets[drawn])["macro_f"]
    assert resampled[7] == pytest.approx(100 * expected, abs=1e-2)


def test_method_without_labels_is_also_evaluated_with_model_of_all_training_data(options, tmp_path):
    data = Prepared(options[1])
    X, Y = data.part("test")
    full = train(tmp_path / "full", options[1], "plt")
    minimum = ("--min-probability", "0.001", "--out")
    assert run("thresholds", "fta", "expected-f", *options, "--out", tmp_path / "80") == 0
    assert run("thresholds", "expected-f", *full, *minimum, tmp_path / "whole") == 0
    records = []
    for folder, model, part in (("80", options[3], "fit"), ("whole", full[3], "train")):
        spe = load_estimator("plt", model, 1).predict_proba(X, 0.001)
        expected = ExpectedF(prior=priors(data.part(part)[1])).fit(spe).predict(spe)
        record = ThresholdRecord.read(tmp_path / folder / "expected-f.json")
        assert classification_metrics(Y, expected).items() <= record.best.test.items()
        records.append((record.split, record.method_name, bool(record.best.validation)))
    assert records == [("80", "expected-f", True), ("full", "expected-f-full", False)]


def test_failing_custom_method_is_named(options, tmp_path, capsys):
    extension = tmp_path / "moody.py"
    extension.write_text(FAILING)
    thresholds = tmp_path / "thresholds"
    places = ("--extension", extension, "--thresholds", thresholds, "--out", tmp_path / "out")
    assert run("thresholds", "fta", "moody", *options, *places) == 1
    assert "method moody: ZeroDivisionError: a bad day" in capsys.readouterr().err
    assert not thresholds.exists()
    METHODS.pop("moody")
