"""What jobs request."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from record_cases import TRIAL, search
from suite_cases import project_of, suite

from xmlc.planning.steps import Costs
from xmlc.suites.resources import BESIDE, LEAST_MINUTES, Requests, expected, megabytes, minutes, shape_of
from xmlc.tuning.result import write_result

BIBTEX = {"n_train": 4880, "n_test": 2515, "d": 1836, "m": 159, "labels_per_instance": 2.4, "source": "x"}
SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
CATALOGUE = {"bibtex": {"published": BIBTEX}, "shape": {"synthetic": SHAPE}}
MODELS = {"plt": {}, "forest": {"estimator": "fastxml", "forest": True}, "swnn": {"estimator": "swnn", "threads": 1}}
STEPS = ("prepare", "train", "rank", "estimate", "thresholds", "infer", "forest", "tune", "progressive", "condense")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return project_of(tmp_path / "config", {"threads": 8}, catalogue=CATALOGUE, a=suite(MODELS))


def workflow(limit=None, local=True):
    return SimpleNamespace(global_resources={"mem_mb": SimpleNamespace(value=limit)}, local_exec=local)


@pytest.mark.parametrize("step", STEPS)
def test_a_large_set_requests_more_than_a_small_one(project, step):
    small, large = (expected(project, step, {"dataset": name, "model": "plt"}) for name in ("bibtex", "shape"))
    assert large.bytes > 2 * small.bytes
    assert large.seconds > small.seconds


def test_a_set_that_nobody_knows_has_common_sizes(project):
    assert expected(project, "prepare", {"dataset": "nobody-knows"}).bytes > 0
    assert expected(project, "simulate", {"paper": "a"}).seconds > 0


def test_a_damaged_record_does_not_keep_jobs_from_being_planned(project):
    before = expected(project, "train", {"dataset": "bibtex", "model": "plt"})
    path = Path("results/bibtex/statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert expected(project, "train", {"dataset": "bibtex", "model": "plt"}) == before


def test_what_exists_is_looked_at(project):
    run = {"dataset": "bibtex", "model": "plt", "seed": "0"}
    before = expected(project, "rank", run)
    path = Path("results/bibtex/plt/seed0/full/train.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"costs": {"model_bytes": 5_000_000_000}}))
    assert expected(project, "rank", run).bytes > before.bytes + 4e9
    assert expected(project, "train", run).bytes < 1e9
    assert shape_of(project, "bibtex").m == 159


def test_a_finished_search_says_what_is_trained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stages = {"estimator": "fastxml", "search": [[{"n_trees": 1}, {"n_trees": 2}]]}
    project = project_of(tmp_path / "config", catalogue=CATALOGUE, a=suite({"forest": stages}))
    run = {"dataset": "bibtex", "model": "forest", "seed": "0", "portion": "full"}
    before, tuned = expected(project, "train", run), Path("results/bibtex/tuning/forest.yaml")
    assert expected(project, "tune", run).seconds < before.seconds
    tuned.parent.mkdir(parents=True)
    write_result(tuned, search(best=TRIAL | {"hyperparameters": {"n_trees": 500}}))
    assert expected(project, "train", run).seconds > 5 * before.seconds
    tuned.write_text(tuned.read_text().replace("500", "5000"))
    assert expected(project, "train", run) == before


def test_retries_ask_for_more():
    found = Costs(1e9, 600.0)
    assert [megabytes(found, attempt) for attempt in (1, 2, 3)] == [1000, 2000, 3000]
    assert minutes(found, attempt=2) == 2 * minutes(found)
    assert minutes(found, n_threads=4) < minutes(found)
    assert minutes(found, speed=2.0) < minutes(found) < minutes(found, speed=0.5)
    assert minutes(Costs(1e9, 0.0)) == LEAST_MINUTES


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


def test_a_rule_has_functions_for_snakemake(project):
    wildcards = {"dataset": "bibtex", "model": "plt", "seed": "0", "portion": "full"}
    local, remote = (Requests(project, workflow(local=local)).of("train") for local in (True, False))
    assert set(local) == {"mem_mb", "runtime", "cpu_seconds"}
    assert remote["mem_mb"](wildcards, attempt=1) == local["mem_mb"](wildcards, attempt=1) + BESIDE
    assert local["runtime"](wildcards, threads=8, attempt=1) >= LEAST_MINUTES
    assert local["cpu_seconds"](wildcards) >= 1


def test_a_rule_of_several_steps_asks_for_the_largest_memory_and_all_minutes(project):
    wildcards = {"dataset": "shape", "model": "plt"}
    requests = Requests(project, workflow())
    train, rank, both, thrice = (
        requests.of_steps(*asked)
        for asked in (({"train": []},), ({"rank": []},), ({"train": [], "rank": []},), ({"train": [], "rank": []}, 3))
    )
    memory = [one["mem_mb"](wildcards, attempt=1) for one in (train, rank)]
    assert both["mem_mb"](wildcards, attempt=1) == thrice["mem_mb"](wildcards, attempt=1) == max(memory)
    seconds = [one["cpu_seconds"](wildcards) for one in (train, rank, both, thrice)]
    assert seconds[2] == seconds[3] == pytest.approx(seconds[0] + seconds[1], abs=1)
    short, long = (one["runtime"](wildcards, threads=1, attempt=1) - LEAST_MINUTES for one in (both, thrice))
    assert long == pytest.approx(3 * short, abs=3)


def test_steps_have_the_threads_that_they_can_use(project):
    requests = Requests(project, workflow())
    assert requests.threads("train")({"model": "plt"}) == 8
    assert requests.threads("thresholds")({"model": "plt"}) == 2
    assert requests.threads("train")({"model": "swnn"}) == requests.threads("rank")({"model": "swnn"}) == 1
    assert requests.threads("rank")({}) == 4
