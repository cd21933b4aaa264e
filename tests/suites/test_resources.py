"""What jobs request."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import snakemake.api  # noqa: F401  # before what it imports in a circle
from suite_cases import project_of, suite

from xmlc.models.registry import ESTIMATORS
from xmlc.suites.resources import BESIDE, CLASSES, PROCESS, SLOT, TRAINING, Requests, minutes, most_bytes, size_of

BIBTEX = {"n_train": 4880, "n_test": 2515, "d": 1836, "m": 159, "labels_per_instance": 2.4, "source": "x"}
SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {
    "plt": {},
    "hashed": {"estimator": "plt", "hyperparameters": {"hash_bits": 30}},
    "forest": {"estimator": "fastxml", "hyperparameters": {"n_trees": 10}},
    "swnn": {"estimator": "swnn", "threads": 1},
    "mine": {"estimator": "mine.py:Mine"},
    "known": {"estimator": "mine.py:Mine", "memory": 2.5, "minutes": 7},
}
STEPS = ("synth", "prepare", "train", "rank", "estimate", "thresholds", "infer", "forest", "tune", "progressive")
# Peaks of training on tib-core-26k in 10^6 bytes, kernels compiled; OPLT's without the process.
PEAKS = {"plt": 2092.8, "swnn": 332.3, "oplt": 3724.0, "napkinxc-oplt": 10856.0}
TIB = {"n_train": 41902, "n_test": 6983, "n_features": 111663, "n_labels": 26296, "nonzeros": 92}
CATALOGUE = {"bibtex": {"published": BIBTEX}, "shape": {"synthetic": SHAPE}, "tib": {"synthetic": TIB}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("class Mine(Base): ...")
    return project_of(tmp_path / "config", {"threads": 8}, catalogue=CATALOGUE, a=suite(MODELS))


def workflow(limit=None, local=True):
    return SimpleNamespace(global_resources={"mem_mb": SimpleNamespace(value=limit)}, local_exec=local)


@pytest.mark.parametrize("step", STEPS)
def test_a_large_set_requests_more_than_a_small_one(project, step):
    small, large = ({"dataset": name, "model": "plt"} for name in ("bibtex", "shape"))
    assert most_bytes(project, step, large) > 2 * most_bytes(project, step, small) > PROCESS
    assert minutes(project, step, large) > minutes(project, step, small)


def test_each_estimator_has_a_number():
    assert set(TRAINING) | set(SLOT) == set(ESTIMATORS)


@pytest.mark.parametrize(("estimator", "peak"), PEAKS.items())
def test_training_takes_less_than_the_bound(project, tmp_path, estimator, peak):
    other = project_of(tmp_path / "other", catalogue=CATALOGUE, a=suite({"one": {"estimator": estimator}}))
    bound = most_bytes(other, "train", {"dataset": "tib", "model": "one"})
    assert peak * 1e6 < bound < 2.5 * peak * 1e6


def test_hashed_weights_have_the_size_of_their_table(project):
    held = most_bytes(project, "train", {"dataset": "bibtex", "model": "hashed"})
    assert held == pytest.approx(PROCESS + 2**32, rel=0.01)


def test_an_estimator_of_the_users_own_has_a_default_and_two_keys(project):
    size = size_of(project, "shape").bytes
    mine, known = ({"dataset": "shape", "model": name} for name in ("mine", "known"))
    assert most_bytes(project, "train", mine) == PROCESS + 50 * size
    assert most_bytes(project, "train", known | {"dataset": "bibtex"}) < PROCESS + 0.1 * size
    assert most_bytes(project, "rank", known) == PROCESS + (3.5 + 2.5) * size
    assert (minutes(project, "train", mine), minutes(project, "train", known)) == (CLASSES[2], 7)


def test_a_set_that_nobody_knows_has_common_sizes(project):
    assert most_bytes(project, "prepare", {"dataset": "nobody-knows"}) > PROCESS
    assert most_bytes(project, "simulate", {"paper": "a"}) == PROCESS


def test_a_damaged_record_does_not_keep_jobs_from_being_planned(project):
    before = most_bytes(project, "train", {"dataset": "bibtex", "model": "plt"})
    path = Path("results/bibtex/statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert most_bytes(project, "train", {"dataset": "bibtex", "model": "plt"}) == before


def test_a_model_that_exists_is_looked_at(project):
    run = {"dataset": "bibtex", "model": "plt", "seed": "0"}
    before = most_bytes(project, "rank", run)
    path = Path("results/bibtex/plt/seed0/full/train.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"costs": {"model_bytes": 5_000_000_000}}))
    assert most_bytes(project, "rank", run) > before + 4e9
    assert most_bytes(project, "train", run) < 1e9


def test_a_job_larger_than_the_machine_is_named_once_for_each_dataset(project, capsys):
    small, large = ({"dataset": name, "model": "plt", "seed": "0"} for name in ("bibtex", "shape"))
    memory = Requests(project, workflow(limit=1000)).of("rank")["mem_mb"]
    memory(small, attempt=1)
    assert not capsys.readouterr().err
    assert memory(large, attempt=1) == memory(large, attempt=1) > 1000
    said = capsys.readouterr().err
    assert said.startswith("shape: rank ")
    assert "MB, more than the 1,000 MB that all jobs have together" in said
    assert said.count("\n") == 1


def test_a_retry_asks_for_more_and_a_node_for_snakemake_too(project):
    wildcards = {"dataset": "bibtex", "model": "plt", "seed": "0", "portion": "full"}
    local, remote = (Requests(project, workflow(local=local)).of("train") for local in (True, False))
    assert set(local) == {"mem_mb", "runtime"}
    assert remote["mem_mb"](wildcards, attempt=1) == local["mem_mb"](wildcards, attempt=1) + BESIDE
    for asked in local.values():
        once, third = (asked(wildcards, attempt=attempt) for attempt in (1, 3))
        assert third == 3 * once


def test_a_rule_of_several_steps_asks_for_the_largest_memory_and_more_minutes(project):
    wildcards, requests = {"dataset": "shape", "model": "plt"}, Requests(project, workflow())
    train, rank, thrice = requests.of("train"), requests.of("rank"), requests.of("train", "rank", times=3)
    assert thrice["mem_mb"](wildcards, attempt=1) == max(one["mem_mb"](wildcards, attempt=1) for one in (train, rank))
    assert (train["runtime"](wildcards, attempt=1), thrice["runtime"](wildcards, attempt=1)) == CLASSES[2:4]


def test_steps_have_the_threads_that_they_can_use(project):
    requests = Requests(project, workflow())
    assert requests.threads("train")({"model": "plt"}) == 8
    assert requests.threads("thresholds")({"model": "plt"}) == 2
    assert requests.threads("train")({"model": "swnn"}) == requests.threads("rank")({"model": "swnn"}) == 1
    assert requests.threads("rank")({}) == 4
