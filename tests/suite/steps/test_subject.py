"""What a record says of how its model was made."""

import sys
from types import SimpleNamespace

import pytest

from xmlc.core import sources
from xmlc.core.extensions import import_file
from xmlc.models.registry import make_estimator
from xmlc.suite.results.records.base import DATASET_COLUMNS
from xmlc.suite.steps.subject import description, with_method

OWN = """
from xmlc.models.base import SparseProbabilityEstimator
from part_s import POWER


class Mine(SparseProbabilityEstimator):
    def __init__(self, words=None):
        self.words = words

    def fit(self, X, Y):
        return self

    def predict_proba(self, X, threshold=0.0):
        pass


def sweep(spe, Y, priors, grid):
    pass
"""


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Return a function that gives the settings in the record of a model, as a new process does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_s.py").write_text(OWN)
    (tmp_path / "part_s.py").write_text("POWER = 1\n")
    monkeypatch.delitem(sys.modules, "part_s", raising=False)  # of an earlier test
    about = {"name": "tiny", "split": {"validation_share": 0.25}} | dict.fromkeys(DATASET_COLUMNS, 1)
    prepared = SimpleNamespace(digest="f" * 64, meta=about)

    def of(name, seed=0, **values):
        for known in (sources._content_digest, sources._parsed, sources._closure):
            known.cache_clear()
        return description(prepared, make_estimator(name, values, seed), name, "m", seed, "full")["settings"]

    return of


def test_a_model_of_the_package_has_the_share_of_the_validation_set(settings):
    assert settings("plt") == {"validation_share": 0.25}


def test_a_users_model_has_the_digest_of_its_code_and_of_the_files_that_it_names(settings, tmp_path):
    before = settings("mine_s.py:Mine")
    assert before.keys() == {"validation_share", "model code"}
    (tmp_path / "part_s.py").write_text("POWER = 2\n")
    assert settings("mine_s.py:Mine")["model code"] != before["model code"]
    (tmp_path / "words.txt").write_text("a b")
    one = settings("mine_s.py:Mine", words="words.txt")["files"]
    (tmp_path / "words.txt").write_text("a c")
    assert settings("mine_s.py:Mine", words="words.txt")["files"] != one


def test_estimates_have_the_digests_of_their_files_for_each_seed(settings, tmp_path):
    for name in ("tiny-0", "tiny-1"):
        (tmp_path / f"{name}.npz").write_text(name)
    one, two = (settings("estimates", seed, test="{dataset}-{seed}.npz")["files"] for seed in (0, 1))
    assert one != two


def test_a_method_of_the_users_has_the_digest_of_its_code(settings, tmp_path):
    record = SimpleNamespace(settings={"files": "x"}, head_fields=lambda: {"settings": {"files": "x"}, "seed": 0})
    module = import_file("mine_s.py")
    found = with_method(record, module.sweep)
    assert found["settings"].keys() == {"files", "method code"}
    assert with_method(record, description)["settings"] == with_method(record, None)["settings"] == {"files": "x"}
