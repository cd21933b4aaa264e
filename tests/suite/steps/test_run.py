"""Test the context of a step: settings in its record, and times without compilation."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from record_cases import progressive
from scipy import sparse

from xmlc.core.extensions import import_file
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.oracle import Oracle
from xmlc.models.warm_up import WARM_UP_ROWS
from xmlc.suite.provenance.sources import forget_sources
from xmlc.suite.results.records.base import DATASET_COLUMNS
from xmlc.suite.results.records.progressive import (
    ProgressiveCosts,
    ProgressiveRecord,
    ProgressiveRow,
)
from xmlc.suite.steps.run import Step, mean_of, predict_timed, step_to_train

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
    """Return a function that gives the settings in the record of a model as in a new process."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_s.py").write_text(OWN)
    (tmp_path / "part_s.py").write_text("POWER = 1\n")
    # An earlier test may have imported this module.
    monkeypatch.delitem(sys.modules, "part_s", raising=False)
    about = {"name": "tiny", "split": {"validation_share": 0.25}} | dict.fromkeys(
        DATASET_COLUMNS, 1
    )
    prepared = SimpleNamespace(digest="f" * 64, meta=about)

    def settings_of_model(name, seed=0, **values):
        forget_sources()
        step, _ = step_to_train("train", prepared, name, "m", values, seed, 1)
        return step.about.settings

    return settings_of_model


def test_settings_of_xmlc_model_have_the_validation_share(settings):
    assert settings("plt") == {"validation_share": 0.25}


def test_settings_of_custom_model_have_digests_of_code_and_files(settings, tmp_path):
    before = settings("mine_s.py:Mine")
    assert before.keys() == {"validation_share", "model code"}
    (tmp_path / "part_s.py").write_text("POWER = 2\n")
    assert settings("mine_s.py:Mine")["model code"] != before["model code"]
    (tmp_path / "words.txt").write_text("a b")
    one = settings("mine_s.py:Mine", words="words.txt")["files"]
    (tmp_path / "words.txt").write_text("a c")
    assert settings("mine_s.py:Mine", words="words.txt")["files"] != one


def test_settings_of_estimates_have_digests_of_files_per_seed(settings, tmp_path):
    digests = set()
    for seed in (0, 1):
        (tmp_path / f"tiny-{seed}.npz").write_text(f"{seed}")
        digests.add(settings("estimates", seed, test="{dataset}-{seed}.npz")["files"])
    assert len(digests) == 2


def test_settings_of_custom_method_have_digest_of_its_code(settings, tmp_path):
    about = ProgressiveRecord.of("x.json", progressive(settings={"files": "x"}))
    row = ProgressiveRow(instances=1, accuracy=1, entropy_reduction=None)
    values = {"constant_accuracy": 1, "rows": (row,), "costs": ProgressiveCosts()}
    step = Step("infer", None, about, 1)

    def settings_with(code):
        step.write(ProgressiveRecord, tmp_path / "r.json", code=code, **values)
        return ProgressiveRecord.read(tmp_path / "r.json").settings

    assert settings_with(import_file("mine_s.py").sweep).keys() == {"files", "method code"}
    assert settings_with(mean_of) == settings_with(None) == {"files": "x"}


X = sparse.csr_array((40, 3), dtype=np.float32)


class Counts(SparseProbabilityEstimator):
    """Estimator that records the numbers of requested rows."""

    def __init__(self):
        self.asked = []


def test_prediction_is_timed_after_a_warm_up_on_few_rows():
    model = Counts()
    rows, ms = predict_timed(
        model, X, lambda part: model.asked.append(part.shape[0]) or part.shape[0]
    )
    assert (rows, model.asked) == (40, [WARM_UP_ROWS, 40])
    assert ms > 0


def test_oracle_predicts_once_and_has_no_time():
    asked = []
    assert predict_timed(Oracle(), X, lambda part: asked.append(part.shape[0])) == (None, None)
    assert asked == [40]


def test_mean_of_no_counts_is_none():
    counts = np.array([1, 2, 6])
    assert mean_of(counts) == 3
    assert mean_of(None) is mean_of(counts[:0]) is None
