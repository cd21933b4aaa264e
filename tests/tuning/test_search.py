"""Both searches: where they start, what they may try, and that a seed says it all."""

import json
import os
import subprocess
import sys
import tempfile
from math import log10

import pytest

from xmlc.errors import XmlcError
from xmlc.tuning.ranges import parse_space
from xmlc.tuning.search import METHODS, search

NEEDS_SMAC = pytest.mark.needs("tune")
EACH = [pytest.param(method, marks=NEEDS_SMAC if method == "smac" else ()) for method in METHODS]
SPACE = parse_space(
    {
        "gamma": {"low": 1e-6, "high": 10, "log": True},
        "epochs": {"low": 5, "high": 30, "integer": True},
        "solver": ["sgd", "adagrad", None],
    }
)
GIVEN = {"gamma": 1.0, "epochs": 10, "solver": None, "arity": 16}
FIRST = {"epochs": 10, "gamma": 1.0, "solver": None}


def hill(trial):
    """Worth with its top at gamma 0.1, epochs 20, solver sgd."""
    return (
        1 - (log10(trial["gamma"]) + 1) ** 2 / 50 - (trial["epochs"] - 20) ** 2 / 1000 - (trial["solver"] != "sgd") / 4
    )


def trials_of(method, budget, seed=0, space=SPACE, given=GIVEN, worth=hill):
    tried = []

    def objective(trial):
        tried.append(trial)
        return worth(trial)

    search(method, space, objective, budget, seed, given)
    return tried


@pytest.mark.parametrize("method", EACH)
def test_the_first_trial_is_what_was_given(method):
    trials = trials_of(method, 6)
    assert trials[0] == FIRST
    assert len(trials) == 6
    for name, values in SPACE.items():
        assert all(trial[name] in values for trial in trials), name
    assert trials_of(method, 1) == [FIRST]


@pytest.mark.parametrize("method", EACH)
@pytest.mark.parametrize("given", [{**GIVEN, "gamma": 11.0}, {**GIVEN, "epochs": 10.5}, {"gamma": 1.0}])
def test_what_lies_outside_the_space_is_no_trial(method, given):
    trials = trials_of(method, 3, given=given)
    assert len(trials) == 3
    assert given["gamma"] not in [trial["gamma"] for trial in trials]


@pytest.mark.parametrize("method", EACH)
def test_a_seed_repeats_a_search_and_another_does_not(method):
    trials = trials_of(method, 7, seed=3)
    assert trials_of(method, 7, seed=3) == trials
    assert trials_of(method, 7, seed=4)[1:] != trials[1:]


def test_a_longer_random_search_extends_a_shorter_one():
    assert trials_of("random", 20)[:8] == trials_of("random", 8)


@NEEDS_SMAC
def test_smac_does_not_depend_on_the_hash_of_text():
    """The order of a set of SMAC's would change the trials from one process to the next."""
    code = (
        "import json, sys\nsys.path.insert(0, sys.argv[1])\nfrom test_search import trials_of\n"
        "print(json.dumps(trials_of('smac', 9)))"
    )
    found = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, os.path.dirname(__file__)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))
        assert done.stderr == ""
    assert found[0] == found[1]


@NEEDS_SMAC
def test_smac_learns():
    """It spends what comes after its design near the top of the hill, where random draws seldom fall."""
    worths = {method: sorted(map(hill, trials_of(method, 20))) for method in METHODS}
    assert worths["smac"][10] > worths["random"][10]
    assert worths["smac"][-1] >= hill(FIRST)


@NEEDS_SMAC
def test_smac_ends_when_the_space_is_exhausted():
    space = parse_space({"solver": ["a", "b"], "arity": [2, 4]})
    trials = trials_of("smac", 12, space=space, given={}, worth=lambda trial: trial["arity"] / 8)
    assert sorted((trial["arity"], trial["solver"]) for trial in trials) == [(2, "a"), (2, "b"), (4, "a"), (4, "b")]


@NEEDS_SMAC
@pytest.mark.parametrize("worth", [0.0, 1.0])
def test_smac_takes_an_objective_that_is_constant(worth):
    assert len(trials_of("smac", 6, worth=lambda trial: worth)) == 6


@NEEDS_SMAC
def test_smac_leaves_no_file_even_after_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "here")
    trials_of("smac", 3)

    def fail(trial):
        raise XmlcError("no such luck")

    with pytest.raises(XmlcError, match="no such luck"):
        trials_of("smac", 3, worth=fail)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "temporary"]
    assert capsys.readouterr() == ("", "")


@NEEDS_SMAC
def test_ranges_as_a_space_of_smac():
    from ConfigSpace import CategoricalHyperparameter, UniformFloatHyperparameter, UniformIntegerHyperparameter

    from xmlc.tuning.smac_search import configuration_space, decoded, encoded

    configurations = configuration_space(SPACE)
    kinds = {"gamma": UniformFloatHyperparameter, "epochs": UniformIntegerHyperparameter}
    for name, kind in kinds.items():
        assert isinstance(configurations[name], kind)
        assert (configurations[name].lower, configurations[name].upper) == (SPACE[name].low, SPACE[name].high)
        assert configurations[name].log == SPACE[name].log
    assert isinstance(configurations["solver"], CategoricalHyperparameter)
    for solver in SPACE["solver"].values:
        point = {"epochs": 30, "gamma": 1e-6, "solver": solver}
        assert decoded(SPACE, encoded(SPACE, point, configurations)) == point


def test_without_smac_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "smac", None)
    with pytest.raises(XmlcError, match=r"pip install 'smac==2\.4\.\*'"):
        trials_of("smac", 2)
    assert len(trials_of("random", 2)) == 2


@pytest.mark.parametrize(
    ("method", "budget", "seed", "message"),
    [
        ("grid", 3, 0, "expected one of random, smac"),
        ("random", 0, 0, "at least one"),
        pytest.param("smac", 2, 2**32, "seed", marks=NEEDS_SMAC),
    ],
)
def test_refusals(method, budget, seed, message):
    with pytest.raises(XmlcError, match=message):
        trials_of(method, budget, seed)
