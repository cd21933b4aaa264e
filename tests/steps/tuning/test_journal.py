"""Trials that an interrupted search has finished: which of them count, and that none is trained again."""

import json
from pathlib import Path

import pytest
import yaml
from command_line import call
from small_data import prepare_tiny

from xmlc.cli.steps.tune import command as tune_command
from xmlc.cli.steps.tune import program
from xmlc.models import PLT
from xmlc.steps.tuning.journal import Journal, journal_of

ABOUT = {"seed": 0, "space": [1, 2]}


def trial(gamma, p1=0.5):
    about = {"hyperparameters": {"gamma": gamma, "solver": "sgd"}, "p@1": p1, "train_seconds": 0.1}
    return {"trial": about, "scores": [45, 0, 15]}


def opened(path, about=ABOUT):
    said = []
    return Journal(path, about, said.append), said


@pytest.fixture
def path(tmp_path):
    journal, said = opened(tmp_path / "deeper/plt.journal.jsonl")
    for gamma in (0.1, 1 / 3):
        journal.keep(trial(gamma))
    assert said == []
    return tmp_path / "deeper/plt.journal.jsonl"


def test_what_was_kept_comes_back_to_the_last_bit_whatever_the_order_of_its_keys(path):
    journal, said = opened(path)
    assert journal.finished({"solver": "sgd", "gamma": 1 / 3}) == trial(1 / 3)
    assert journal.finished({"gamma": 0.3, "solver": "sgd"}) is None
    assert said == ["plt.journal.jsonl: 2 finished trials are taken from it"]
    journal.remove()
    assert not path.exists()
    journal.remove()


@pytest.mark.parametrize("left", range(1, 60, 7))
def test_a_line_without_an_end_does_not_count_and_the_next_trial_is_whole(path, left):
    text = path.read_text()
    path.write_text(text[:-left])
    journal, _ = opened(path)
    assert journal.finished(trial(0.1)["trial"]["hyperparameters"]) == trial(0.1)
    assert journal.finished(trial(1 / 3)["trial"]["hyperparameters"]) is None
    journal.keep(trial(2.0))
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert kept == [ABOUT, trial(0.1), trial(2.0)]


@pytest.mark.parametrize("text", ["", "{", "no JSON}\n", '{"seed": 0}\n{"hyp', "\x00\n"])
def test_what_is_no_journal_is_written_anew(path, text):
    path.write_text(text)
    journal, _ = opened(path)
    assert journal.finished(trial(0.1)["trial"]["hyperparameters"]) is None
    assert path.read_text() == json.dumps(ABOUT) + "\n"


def test_trials_that_depend_on_something_else_are_dropped_and_what_it_is_is_said(path):
    journal, said = opened(path, ABOUT | {"seed": 1, "code": "x"})
    assert journal.finished(trial(0.1)["trial"]["hyperparameters"]) is None
    assert said == ["plt.journal.jsonl: code, seed changed since its trials; the search starts anew"]
    assert len(path.read_text().splitlines()) == 1


def test_it_stands_beside_the_result_and_is_none_of_the_workflow():
    assert journal_of(Path("results/x/tuning/plt.yaml")) == Path("results/x/tuning/plt.journal.jsonl")


SPACE = {"gamma": {"low": 0.01, "high": 10, "log": True}, "epochs": [2, 5]}
STAGES = [[{"gamma": 0.1}, {"gamma": 1}, {"gamma": 5}], [{"epochs": 2}, {"epochs": 4}]]
SEARCHES = {
    "random": ("--space", json.dumps(SPACE), "--budget", 5),
    "smac": ("--space", json.dumps(SPACE), "--budget", 5, "--method", "smac"),
    "stages": ("--stages", json.dumps(STAGES)),
    "auto": ("--auto", json.dumps({"stages": STAGES, "in_trials": {"lam": 1e-4}})),
}


class Killed(Exception):
    """Ends a search as a kill does: nothing of the program runs afterwards."""


@pytest.fixture
def trained(monkeypatch):
    """The gammas that were trained on more than the few rows of the warm-up; `trained.most` ends the search."""

    class Trained(list):
        most = 1000

    found, fit = Trained(), PLT.fit

    def counted(model, X, Y):
        if X.shape[0] > 8:
            if len(found) == found.most:
                raise Killed
            found.append(model.gamma)
        return fit(model, X, Y)

    monkeypatch.setattr(PLT, "fit", counted)
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return prepare_tiny(tmp_path_factory.mktemp("tiny"))


def tune(data, out, *arguments):
    call(tune_command, "--data", data, "--estimator", "plt", "--out", out, *arguments)
    return without_times(yaml.safe_load(out.read_text()))


def without_times(result):
    for one in (*result["trials"], result["best"], result["passport"]):
        one.pop("train_seconds", None)
        one.pop("time", None)
    return {name: value for name, value in result.items() if name != "checksum"}


EACH = [pytest.param(name, marks=pytest.mark.needs("tune") if name == "smac" else ()) for name in SEARCHES]


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("finished", [1, 4])
def test_a_search_that_was_killed_goes_on_behind_its_last_trial(data, tmp_path, trained, name, finished):
    expected = tune(data, tmp_path / "whole.yaml", *SEARCHES[name])
    every = list(trained)
    assert len(every) == 5
    out = tmp_path / "killed.yaml"
    trained.clear()
    trained.most = finished
    with pytest.raises(Killed):
        tune(data, out, *SEARCHES[name])
    assert not out.exists()
    assert len(journal_of(out).read_text().splitlines()) == 1 + finished
    trained.clear()
    trained.most = 1000
    assert tune(data, out, *SEARCHES[name]) == expected
    assert trained == every[finished:]
    assert not journal_of(out).exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--seed", 1), "seed"),
        (("--parameters", '{"lam": 0.01}'), "fixed"),
        (("--stages", '[[{"gamma": 0.1}]]'), "budget, space"),
    ],
)
def test_trials_of_another_search_are_trained_again(data, tmp_path, trained, changed, said):
    out = tmp_path / "r.yaml"
    trained.most = 2
    with pytest.raises(Killed):
        tune(data, out, *SEARCHES["stages"])
    trained.most = 1000
    trained.clear()
    common = ("--data", data, "--estimator", "plt", "--out", out)
    output = call(tune_command, *common, *SEARCHES["stages"], *changed)
    assert trained[0] == 0.1
    assert f"r.journal.jsonl: {said} changed since its trials" in output


def test_the_program_is_the_source_files_of_the_estimator_and_what_they_import():
    assert set(program("plt")) == {"code", "numpy", "scipy", "numba"}
    assert program("plt") == program("plt")
    assert program("plt")["code"] != program("fastxml")["code"]
