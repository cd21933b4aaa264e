"""Memory and minutes that jobs request."""

from pathlib import Path

import pytest
from suite_cases import project_of, suite

from xmlc.models.registry import ESTIMATORS
from xmlc.suites.resources import LONGEST, PRICES, PROCESS, memory_mb, minutes, size_of

BIBTEX = {"n_train": 4880, "n_test": 2515, "d": 1836, "m": 159, "labels_per_instance": 2.4, "source": "x"}
SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {
    "plt": {},
    "hashed": {"estimator": "plt", "hyperparameters": {"hash_bits": 30}},
    "forest": {"estimator": "fastxml", "hyperparameters": {"n_trees": 10}},
    "mine": {"estimator": "mine.py:Mine"},
    "known": {"estimator": "mine.py:Mine", "memory": 2.5, "minutes": 7},
}
STEPS = ("synth", "prepare", "train", "rank", "estimate", "thresholds", "infer", "forest", "tune", "progressive")
# Peaks of training on tib-core-26k in MB, kernels compiled; OPLT's without the process.
PEAKS = {"plt": 2092.8, "swnn": 332.3, "oplt": 3724.0, "napkinxc-oplt": 10856.0}
TIB = {"n_train": 41902, "n_test": 6983, "n_features": 111663, "n_labels": 26296, "nonzeros": 92}
CATALOGUE = {"bibtex": {"published": BIBTEX}, "shape": {"synthetic": SHAPE}, "tib": {"synthetic": TIB}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("class Mine(Base): ...")
    return project_of(tmp_path / "config", {"threads": 8}, catalogue=CATALOGUE, a=suite(MODELS))


@pytest.mark.parametrize("step", STEPS)
def test_a_large_set_requests_more_than_a_small_one(project, step):
    small, large = ({"dataset": name, "model": "plt"} for name in ("bibtex", "shape"))
    assert memory_mb(project, step, large) > 2 * memory_mb(project, step, small) > PROCESS
    assert LONGEST >= minutes(project, step, large) > minutes(project, step, small)


def test_each_estimator_has_a_price():
    assert set(PRICES) == set(ESTIMATORS)


@pytest.mark.parametrize(("estimator", "peak"), PEAKS.items())
def test_training_takes_less_than_the_bound(project, tmp_path, estimator, peak):
    other = project_of(tmp_path / "other", catalogue=CATALOGUE, a=suite({"one": {"estimator": estimator}}))
    assert peak < memory_mb(other, "train", {"dataset": "tib", "model": "one"}) < 4 * peak


def test_hashed_weights_have_the_size_of_their_table(project):
    held = memory_mb(project, "train", {"dataset": "bibtex", "model": "hashed"})
    assert held == pytest.approx(PROCESS + 2**32 / 1e6, rel=0.02)


def test_a_forest_has_the_price_of_each_tree(project):
    held = memory_mb(project, "train", {"dataset": "shape", "model": "forest"}) - PROCESS
    assert held == pytest.approx(10 * PRICES["fastxml"].memory * size_of(project, "shape").bytes / 1e6, abs=1)


def test_an_estimator_of_the_users_own_has_a_default_and_two_keys(project):
    size = size_of(project, "shape").bytes / 1e6
    mine, known = ({"dataset": "shape", "model": name} for name in ("mine", "known"))
    assert memory_mb(project, "train", mine) == pytest.approx(PROCESS + 50 * size, abs=1)
    assert memory_mb(project, "rank", known) == pytest.approx(PROCESS + 2.5 * size, abs=1)
    assert minutes(project, "train", known) == 7


def test_a_set_that_nobody_knows_has_common_sizes(project):
    assert memory_mb(project, "prepare", {"dataset": "nobody-knows"}) > PROCESS
    assert memory_mb(project, "simulate", {"paper": "a"}) == PROCESS


def test_a_damaged_record_does_not_keep_jobs_from_being_planned(project):
    before = memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"})
    path = Path("results/bibtex/statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert memory_mb(project, "train", {"dataset": "bibtex", "model": "plt"}) == before
