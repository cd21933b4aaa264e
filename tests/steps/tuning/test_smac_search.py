"""The search by SMAC: that it learns, ends, leaves no file, and depends on its seed alone."""

import json
import os
import subprocess
import sys
import tempfile

import pytest
from repository import ROOT
from search_cases import FIRST, NEEDS_SMAC, hill, trials_of

from xmlc.core.errors import XmlcError
from xmlc.steps.tuning.plan import METHODS
from xmlc.steps.tuning.ranges import parse_space


@pytest.mark.slow
@NEEDS_SMAC
def test_smac_does_not_depend_on_the_hash_of_text():
    """The order of a set of SMAC's would change the trials from one process to the next."""
    code = (
        "import json, sys\nsys.path.insert(0, sys.argv[1])\nfrom search_cases import trials_of\n"
        "print(json.dumps(trials_of('smac', 9)))"
    )
    found = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT / "tests/support")],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(done.stdout))
        assert done.stderr == ""
    assert found[0] == found[1]


@pytest.mark.slow
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
