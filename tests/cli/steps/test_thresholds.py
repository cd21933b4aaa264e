"""`xmlc thresholds`: the records of its methods, and one that fails among others."""

import pytest
from command_line import run
from small_data import prepare_tiny

from xmlc.cli.steps import thresholds as steps
from xmlc.cli.steps.thresholds import UNFINISHED
from xmlc.core.files import read_json
from xmlc.data.prepared import Prepared
from xmlc.metrics import classification_metrics
from xmlc.models.registry import load_estimator
from xmlc.records.thresholds import ThresholdRecord
from xmlc.thresholds import ExpectedF, priors
from xmlc.thresholds.sweeps import METHODS

FAILING = '''"""A method that fails as long as a file says so."""

from pathlib import Path

import numpy as np
from xmlc.thresholds.sweeps import METHODS, GridPoint, register

METHODS.pop("moody", None)


@register("moody")
def sweep(spe, Y, priors, grid):
    if Path(__file__).with_suffix(".txt").exists():
        raise ZeroDivisionError("a bad day")
    yield GridPoint(np.full(spe.shape[1], 0.25, dtype=np.float32), c=4)
'''


def tuned(monkeypatch):
    """Give a list that methods come into as they are tuned."""
    done, tune = [], steps.tune_method
    monkeypatch.setattr(steps, "tune_method", lambda *given: done.append(given[2]) or tune(*given))
    return done


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """What the steps of a trained PLT have in common."""
    folder = tmp_path_factory.mktemp("thresholds")
    data = prepare_tiny(folder)
    model, training, estimates = folder / "model", folder / "train.json", folder / "spe"
    arguments = ("--part", "fit", "--estimator", "plt", "--name", "plt", "--record", training)
    assert run("train", "--data", data, "--out", model, *arguments) == 0
    about = ("--data", data, "--model", model, "--training", training)
    assert run("estimate", *about, "--floor", "0.001", "--out", estimates) == 0
    return [*about, "--estimates", estimates]


def test_a_step_is_not_charged_with_those_before_it_in_the_same_process(options, tmp_path):
    methods = ("fta", "sto")
    assert run("thresholds", *methods, *options, "--out", tmp_path) == 0
    steps = [read_json(tmp_path / f"thresholds/{method}/tuning.json")["step"] for method in methods]
    steps += [read_json(tmp_path / f"evaluation/{method}.json")["step"] for method in methods]
    assert all(0 < step["seconds"] < 60 for step in steps[1:])  # the tests' process is older than any of them
    assert {step["name"] for step in steps} == {"threshold", "evaluate"}


@pytest.mark.parametrize("methods", [("fta",), ()], ids=["beside thresholds", "alone"])
def test_label_sets_are_inferred_beside_thresholds_or_alone(options, tmp_path, methods):
    assert run("thresholds", *methods, "--infer", "gfm", "--infer", "h", *options, "--out", tmp_path) == 0
    assert sorted(path.name for path in tmp_path.glob("inference/*")) == ["gfm.json", "h.json"]
    assert sorted(path.name for path in tmp_path.glob("evaluation/*")) == [f"{method}.json" for method in methods]
    assert not (tmp_path / UNFINISHED).exists()
    assert run("thresholds", *options, "--out", tmp_path) == 2, "neither a method nor --infer"


def test_a_method_without_labels_is_evaluated_with_the_model_of_the_whole_training_set_too(options, tmp_path):
    data, full = options[1], tmp_path / "full"
    arguments = ("--estimator", "plt", "--name", "plt", "--out", full / "model", "--record", full / "train.json")
    assert run("train", "--data", data, *arguments) == 0
    assert run("thresholds", "fta", "expected-f", *options, "--full", full, "--out", tmp_path) == 0
    prepared, (made,) = Prepared(data, 0), full.glob("evaluation/*")
    X, Y = prepared.part("test")
    for portion, part, folder in (("80", "fit", options[3]), ("full", "train", full / "model")):
        fitted = ExpectedF(prior=priors(prepared.part(part)[1]))
        fitted.fit(spe := load_estimator("plt", folder, 1).predict_proba(X, 0.001))
        file = tmp_path / "evaluation/expected-f.json" if portion == "80" else made
        record = ThresholdRecord.read(file)
        assert record.best.test == classification_metrics(Y, fitted.predict(spe))
        assert (record.portion, bool(record.best.validation)) == (portion, portion == "80")
    assert (made.name, record.method_name) == ("expected-f.json", "expected-f-full")


def test_a_method_that_fails_loses_nothing_of_the_others(options, tmp_path, capsys, monkeypatch):
    extension, bad_day, out = tmp_path / "moody.py", tmp_path / "moody.txt", tmp_path / "out"
    extension.write_text(FAILING)
    bad_day.touch()
    arguments = ("fta", "moody", "sto", *options, "--extension", extension, "--out", out)
    assert run("thresholds", *arguments) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said  # where it happened
    assert "method moody failed: ZeroDivisionError: a bad day; results of the other 2" in said.splitlines()[-1]
    assert not (out / "evaluation").exists()  # Snakemake would delete it: the job has failed
    # The next attempt does the one that failed, and no other.
    bad_day.unlink()
    extension.write_text(f"# no better\n{FAILING}")
    done = tuned(monkeypatch)
    assert run("thresholds", *arguments) == 0
    assert done == ["moody"]
    for method in ("fta", "moody", "sto"):
        assert read_json(out / f"evaluation/{method}.json")["method"] == method
        assert (out / f"thresholds/{method}/thresholds.npy").exists()
    METHODS.pop("moody")


def test_what_was_kept_is_not_taken_for_that_of_other_estimates(options, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert run("thresholds", "fta", "no-such-method", *options, "--out", out) == 1
    estimates = options[-1]
    assert run("estimate", *options[:-2], "--floor", "0.01", "--out", estimates) == 0
    done = tuned(monkeypatch)
    assert run("thresholds", "fta", *options, "--out", out) == 0
    assert done == ["fta"]
    assert not (out / UNFINISHED).exists()


def test_folders_of_others_are_left_alone(options, tmp_path, capsys):
    for folder in ("unfinished", "thresholds/sto"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "thesis.tex").write_text("mine")
    for methods, status in ((("fta",), 0), (("fta", "sto"), 1)):
        assert run("thresholds", *methods, *options, "--out", tmp_path) == status
        assert (tmp_path / "unfinished/thesis.tex").exists()
        assert [file.name for file in (tmp_path / "thresholds/sto").iterdir()] == ["thesis.tex"]
    assert "thresholds/sto: holds thesis.tex, which xmlc did not write" in capsys.readouterr().err
