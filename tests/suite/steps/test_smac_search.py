"""Test the search by SMAC: it learns, ends and leaves no files."""

import tempfile

import pytest
from facts import raises_with
from search_cases import FIRST, NEEDS_SMAC, hill, trials_of

from xmlc.core.errors import XmlcError
from xmlc.suite.steps.tune import METHODS

pytestmark = NEEDS_SMAC


@pytest.mark.slow
def test_smac_samples_near_the_optimum():
    """After the initial design, SMAC tries points near the optimum, which random search seldom
    reaches.
    """
    worths = {method: sorted(map(hill, trials_of(method, 12))) for method in METHODS}
    assert worths["smac"][6] > worths["random"][6]
    assert worths["smac"][-1] >= hill(FIRST)


def test_smac_ends_when_the_space_is_exhausted():
    space = {"solver": ["a", "b"], "arity": [2, 4]}
    trials = trials_of("smac", 12, space=space, given={}, worth=lambda trial: 0.5)
    found = sorted((trial["arity"], trial["solver"]) for trial in trials)
    assert found == [(2, "a"), (2, "b"), (4, "a"), (4, "b")]


def test_smac_leaves_no_files_after_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "here")
    trials_of("smac", 3)

    def fail(trial):
        raise XmlcError("no such luck")

    with raises_with(XmlcError, "no such luck"):
        trials_of("smac", 3, worth=fail)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "temporary"]
    assert capsys.readouterr() == ("", "")
