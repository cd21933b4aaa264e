"""Trials that an interrupted search has finished: which of them count, and that none is trained again."""

import json

import pytest
from command_line import call
from search_cases import SEARCHES, what
from small_data import prepare_tiny

from xmlc.cli.steps.tune import command as tune_command
from xmlc.cli.steps.tune import program
from xmlc.core.files import read_json
from xmlc.models import PLT
from xmlc.steps.tuning.journal import Journal, journal_of

ABOUT = {"seed": 0, "space": [1, 2]}


def trial(gamma):
    return {"trial": {"hyperparameters": {"gamma": gamma, "solver": "sgd"}, "p@1": 0.5}, "scores": [45, 0, 15]}


@pytest.fixture
def path(tmp_path):
    journal = Journal(tmp_path / "deeper/plt.journal.jsonl", ABOUT)
    for gamma in (0.1, 1 / 3):
        journal.keep(trial(gamma))
    return tmp_path / "deeper/plt.journal.jsonl"


def test_what_was_kept_comes_back_to_the_last_bit_whatever_the_order_of_its_keys(path):
    journal = Journal(path, ABOUT)
    assert journal.finished({"solver": "sgd", "gamma": 1 / 3}) == trial(1 / 3)
    assert journal.finished({"gamma": 0.3, "solver": "sgd"}) is None
    journal.remove()
    assert not path.exists()


@pytest.mark.parametrize("left", range(1, 60, 7))
def test_a_line_without_an_end_does_not_count_and_the_next_trial_is_whole(path, left):
    path.write_text(path.read_text()[:-left])
    journal = Journal(path, ABOUT)
    assert journal.finished(trial(0.1)["trial"]["hyperparameters"]) == trial(0.1)
    assert journal.finished(trial(1 / 3)["trial"]["hyperparameters"]) is None
    journal.keep(trial(2.0))
    assert [json.loads(line) for line in path.read_text().splitlines()] == [ABOUT, trial(0.1), trial(2.0)]


@pytest.mark.parametrize("text", ["", "{", '{"seed": 1, "space": [1, 2]}\n{"trial'])
def test_trials_that_depend_on_something_else_are_dropped(path, text):
    path.write_text(text)
    Journal(path, ABOUT)
    assert path.read_text() == json.dumps(ABOUT) + "\n"


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
    return what(read_json(out))


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_was_killed_goes_on_behind_its_last_trial(data, tmp_path, trained, name):
    expected = tune(data, tmp_path / "whole.json", *SEARCHES[name])
    every = list(trained)
    assert len(every) == 5
    out = tmp_path / "killed.json"
    trained.clear()
    trained.most = 3
    with pytest.raises(Killed):
        tune(data, out, *SEARCHES[name])
    assert not out.exists()
    assert len(journal_of(out).read_text().splitlines()) == 1 + 3
    trained.most = 1000
    assert tune(data, out, *SEARCHES[name]) == expected
    assert trained == every
    assert not journal_of(out).exists()


def test_trials_of_another_search_are_trained_again(data, tmp_path, trained):
    out = tmp_path / "r.json"
    trained.most = 2
    with pytest.raises(Killed):
        tune(data, out, *SEARCHES["stages"])
    trained.most = 1000
    trained.clear()
    tune(data, out, *SEARCHES["stages"], "--seed", 1)
    assert trained[0] == 0.1
    assert program("plt")["code"] != program("fastxml")["code"]
