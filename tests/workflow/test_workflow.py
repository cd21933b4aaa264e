"""Test which jobs run, and which jobs run again, on a tiny copy of the project."""

import os

import pytest
from project_copy import finished_demo

from xmlc.core.files import read_json
from xmlc.data.writer import save_repository

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_demo(tmp_path_factory.mktemp("project"))


def test_records_contain_numba_thread_count(finished):
    record = read_json(finished.folder / "results/demo/plt/seed0/full/ranking.json")
    assert record["costs"]["train_threads"] == record["costs"]["predict_threads"] == 2


def test_second_run_is_empty(finished):
    assert finished.planned("demo") == {}


def test_touched_file_reruns_nothing(finished):
    os.utime(finished.folder / "xmlc/thresholds/methods.py")
    assert finished.planned() == {}


#: Files with the jobs that run again after an edit. Other jobs may follow, unless "all" is given.
EDITED = {
    "xmlc/thresholds/methods.py": {"thresholds": 2, "table": 4, "figure": 1, "all": 7},
    "xmlc/models/plt/solvers.py": {"train": 2, "prepare": 0},
    "xmlc/suite/papers/common/figures.py": {"figure": 1, "all": 1},
    "xmlc/inference/gfm.py": {"infer": 1, "table": 1, "all": 2},
    "xmlc/metrics/ranking.py": {"score": 2, "thresholds": 2, "train": 0, "rank": 0, "estimate": 0},
}


@pytest.mark.parametrize("name", EDITED)
def test_edit_of_code_reruns_what_depends_on_it(finished, name):
    planned = finished.planned_after_an_edit(name)
    planned["all"] = sum(planned.values())
    expected = EDITED[name]
    assert {rule: planned.get(rule, 0) for rule in expected} == expected


def test_hyperparameters_rerun_only_their_model(finished):
    suite = "config/demo.yaml"
    with finished.restored(suite):
        finished.edit_yaml(
            suite, lambda content: content["models"]["plt"]["hyperparameters"].update(epochs=3)
        )
        planned = finished.planned()
    assert planned["train"] == 2
    assert planned["thresholds"] == 1  # The oracle's thresholds are not tuned again.


TABLES = {"table": 5, "figure": 1}
CATALOGUE = "config/datasets.yaml"
SUITE = "config/demo.yaml"
ABOUT = {
    "licence": "CC0",
    "homepage": "https://example.org",
    "edition": "the first",
    "published": {"source": "a paper"},
}
#: Edits of the configuration, each with the jobs that run again.
EDITS = {
    "a dataset's licence and other keys about it": (
        CATALOGUE,
        lambda content: content["demo"].update(ABOUT),
        {},
    ),
    "propensities of a dataset": (
        CATALOGUE,
        lambda content: content["demo"].update(propensity=[0.5, 0.4]),
        {"score": 2, "table": 1},
    ),
    "seed of a generated dataset": (
        CATALOGUE,
        lambda content: content["demo"]["synthetic"].update(seed=5),
        {"synthesise": 1, "prepare": 1, "train": 4, "rank": 2, "score": 2}
        | {"estimate": 2, "thresholds": 2, "infer": 1}
        | TABLES,
    ),
    "order of methods": (SUITE, lambda content: content["methods"].reverse(), TABLES),
    "another method": (
        SUITE,
        lambda content: content["methods"].append("expected-f"),
        {"thresholds": 2, "thresholds_without_validation": 2} | TABLES,
    ),
    "title of a model": (
        SUITE,
        lambda content: content["models"]["plt"].update(title="Mine"),
        TABLES,
    ),
    "title of a suite": (SUITE, lambda content: content.update(title="Other"), {}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edit_of_configuration_reruns_what_depends_on_it(finished, edit):
    file, change, expected = EDITS[edit]
    with finished.restored(file):
        finished.edit_yaml(file, change)
        assert finished.planned() == expected


def test_malformed_line_stops_run_and_leaves_no_output(finished, multilabel):
    mirror = finished.folder / "bad-mirror"
    (mirror / "bad-set").mkdir(parents=True)
    for part in ("train", "test"):
        (mirror / f"bad-set/{part}.txt").write_text("2 3 2\n0 0:1\n1 1:\n")
    settings = ("--config", "datasets=[bad-set]", f"mirror={mirror}")
    done = finished.run("plt2016", *settings)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert said.count("bad-set/train.txt:3: found '1:'") == 1
    data = "results/bad-set/data"
    assert not (finished.folder / data).exists()
    save_repository(mirror / "bad-set/train.txt", *multilabel(20, 3, 2))
    save_repository(mirror / "bad-set/test.txt", *multilabel(20, 3, 2))
    finished.run_well(data, *settings)
    os.utime(mirror / "bad-set/train.txt")
    assert finished.planned(data, *settings) == finished.planned(data) == {}
    copied = finished.folder / "resources/bad-set/train.txt"
    whole = copied.read_text()
    copied.write_text(whole.replace("1", "2", 1))
    assert finished.planned(data, *settings) == {"prepare": 1}
    copied.write_text(whole)
    (mirror / "bad-set/train.txt").write_text(whole.replace(":", ":1", 1))
    assert finished.planned(data, *settings) == {"download": 1, "prepare": 1}


def test_edited_record_and_damaged_data_are_refused_and_rebuilt(finished):
    before = finished.tables()
    record = finished.folder / "results/demo/plt/seed0/full/ranking.json"
    table, array = (
        finished.folder / f"results/{name}"
        for name in ("tables/demo/table1.csv", "demo/data/test/X.data.npy")
    )
    text = record.read_text()
    assert '"p@1": 0.' in text
    record.write_text(text.replace('"p@1": 0.', '"p@1": 0.9', 1))
    table.unlink()
    done = finished.run("demo")
    assert done.returncode != 0
    again = "Delete {0} and rebuild it: snakemake {0}"
    name = record.relative_to(finished.folder)
    assert f"{name}: " in done.stdout + done.stderr
    assert again.format(name) in done.stdout + done.stderr
    whole = array.read_bytes()
    array.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    said = finished.xmlc("verify")
    assert said.returncode == 1
    assert all(again.format(target) in said.stdout for target in (name, "results/demo/data"))
    # The array is restored, because all jobs would run again if it were deleted.
    array.write_bytes(whole)
    assert finished.xmlc("verify", "--delete").stdout.count("deleted: ") == 1
    assert not record.exists()
    assert finished.planned()["score"] == 1
    finished.run_well("demo")
    assert finished.tables() == before
    assert finished.xmlc("verify").returncode == 0
