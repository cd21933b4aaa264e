"""Test path patterns: they read back the wildcards that they format, and refuse other paths."""

import re
from pathlib import Path

import pytest

from xmlc.suite.config import paths
from xmlc.suite.config.paths import Pattern
from xmlc.suite.results.manifest import in_project

PATTERNS = {name: pattern for name, pattern in vars(paths).items() if isinstance(pattern, Pattern)}
VALUES = {
    "dataset": "wiki10-31k",
    "model": "oplt-b-1-pass",
    "seed": "12",
    "split": "80",
    "method": "for-micro-f",
    "paper": "plt2016",
    "table": "instance-f",
    "figure": "figure1",
    "step": "train",
    "folder": "thresholds",
    "rest": "inference/gfm.json",
    "sweep": "max-nodes",
}
NAMES = "TRAINING INFERENCE RANKING FOREST SWEEP PROGRESSIVE EVALUATION STATISTICS"
RECORDS = [PATTERNS[name] for name in NAMES.split()]


@pytest.mark.parametrize("name", PATTERNS)
def test_formatted_path_is_parsed_into_the_same_wildcards(name):
    pattern = PATTERNS[name]
    wildcards = set(re.findall(r"{(\w+)}", pattern))
    path = pattern.of(**VALUES)
    assert "{" not in path
    assert pattern.read(path) == pattern.read(Path(path)) == {key: VALUES[key] for key in wildcards}
    assert pattern.read(f"elsewhere/{path}") is None
    # `pathlib` also drops a slash at the end.
    assert "rest" in wildcards or pattern.read(f"{path}/") == pattern.read(path)


def test_each_record_path_matches_one_kind():
    for record in RECORDS:
        path = record.of(**VALUES)
        assert [other for other in RECORDS if other.read(path)] == [record]


def test_missing_wildcards_stay_in_the_path():
    assert (
        paths.EVALUATION.of(method="sto")
        == "results/{dataset}/{model}/seed{seed}/80/evaluation/sto.json"
    )
    assert paths.RUN.of(dataset="a", model="b", seed=0, split="full") == "results/a/b/seed0/full"
    assert paths.STATISTICS.of(dataset="a", model="b") == "results/a/statistics.json"


def test_paths_that_do_not_match_are_not_parsed():
    for run in ("a/b/seed0/half", "A/b/seed0/full"):
        assert paths.RUN.read(f"results/{run}") is None
    assert paths.DATA.read("results/../data") is None
    for file in ("80/evaluation/STO.json", "full/evaluation/sto.json"):
        assert paths.EVALUATION.read(f"results/a/b/seed0/{file}") is None


def test_local_copies_of_stored_files_have_project_paths():
    copy = ".snakemake/storage/s3/results/mine"
    for record in ("results/a/b/seed0/full/train.json", "/results/a.json"):
        assert in_project(Path(record)) == record
    assert in_project(Path(f"{copy}/results/a/data")) == "results/a/data"
