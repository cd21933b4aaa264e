"""Test the files that each target of the workflow requests."""

import os
import subprocess
import sys
from itertools import chain

import pytest
from facts import raises_with
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.costs import job_of
from xmlc.suite.config.project import Project
from xmlc.suite.papers.plan import (
    jobs_of_dropped_models,
    outputs_for,
    outputs_of_dataset,
    remarks,
    results_of,
    targets,
    titles_of,
)


@pytest.fixture(scope="module")
def configured():
    return Project.read({"datasets": ["yeast", "bibtex"], "papers": ["plt2016"]}, ROOT / "config")


def test_no_target_requests_a_file_inside_an_output_folder(configured):
    """Snakemake would treat an existing file of such a folder as a source."""
    found = [*chain.from_iterable(files() for files in targets(configured).values())]
    assert len(found) > 100
    assert {file for file in found if paths.output_of(file) != file} == set()


def test_dataset_target_requests_its_outputs_for_all_tables_and_figures(configured):
    def own(files):
        return {file for file in files if file.startswith("results/bibtex/")}

    wanted = set()
    for paper, listed in configured.suites.items():
        if paper != "neural" and "bibtex" in configured.datasets_of(paper):
            for noun, names in (("table", listed.tables), ("figure", listed.figures)):
                for name in names:
                    wanted |= own(outputs_for(configured, noun, name, paper))
    assert wanted == own(outputs_of_dataset(configured, "bibtex"))
    assert "results/bibtex/plt/seed0/80/evaluation" in wanted


def test_job_of_a_dropped_model_writes_each_record_that_a_table_needs():
    settings = {"papers": [], "datasets": ["far-set", "yeast", "demo"], "keep_models": False}
    project = Project.read(settings, ROOT / "config")
    steps = {}
    for (split, rules), models in jobs_of_dropped_models(project).items():
        for model in models:
            assert (split, model) not in steps
            steps[split, model] = [rule.removesuffix("_without_validation") for rule in rules]
    asked = []
    for paper, listed in project.suites.items():
        # a paper's suite can run on any dataset
        datasets = listed.datasets if listed.own else project.dropped
        for files in results_of(project, paper, datasets).values():
            asked += filter(None, map(job_of, files))
    asked = [job for job in asked if job.step in ("rank", "forest", "thresholds", "infer")]
    assert len(asked) > 100
    for job in asked:
        assert job.step in steps[job.split, f"{job.dataset}/{job.model}"]


def test_jobs_of_dropped_models_do_not_depend_on_selected_papers_models_and_seeds(tmp_path):
    shapes = {
        "big": {"synthetic": {"n_train": 10**6, "n_test": 1000, "n_features": 1000, "n_labels": 10}}
    }
    models = {"plt": {}, "fastxml": {"estimator": "fastxml"}}
    shared = {
        "datasets": ["big", "yeast"],
        "tables": ["table1", "table2"],
        "methods": ["fta", "expected-f"],
    }
    found = []
    for settings in ({}, {"papers": ["plt2016"], "models": ["plt"], "seeds": [3]}):
        project = project_of(tmp_path, settings, catalogue=shapes, plt2016=suite(models, **shared))
        found.append(jobs_of_dropped_models(project))
    assert found[0] == found[1]
    assert found[0] == {
        ("80", ("estimate", "thresholds")): ["big/fastxml", "big/plt"],
        ("full", ("rank", "thresholds_without_validation")): ["big/fastxml", "big/plt"],
    }


def scored(folder, monkeypatch, **content):
    """Return a project with a model of estimates of two seeds, whose folder for yeast exists."""
    monkeypatch.chdir(folder)
    (folder / "scores/yeast").mkdir(parents=True)
    files = {"test": "scores/{dataset}/t-{seed}.npz"}
    theirs = {"estimator": "estimates", "hyperparameters": files}
    known = suite({"plt": {}, "theirs": theirs}, tables=["table1"], **content)
    return project_of(folder / "config", {"datasets": ["yeast", "mine"]}, a=known)


def test_models_without_estimates_are_named(tmp_path, monkeypatch):
    project = scored(tmp_path, monkeypatch, datasets=["yeast", "mine"])
    (tmp_path / "scores/yeast/t-0.npz").touch()
    left_out = ["skipped theirs on mine: found no estimates"]
    assert remarks(project, {"results/tables/a/table1.csv", "results/yeast/data"}) == left_out
    assert remarks(project, {"results/yeast/data"}) == []


def test_dataset_with_missing_file_of_estimates_is_refused(tmp_path, monkeypatch):
    project = scored(tmp_path, monkeypatch, datasets=["yeast"])
    with raises_with(XmlcError, "scores/yeast/t-0.npz"):
        outputs_of_dataset(project, "yeast")


def test_models_with_equal_titles_are_distinguished_by_name(tmp_path):
    titles = {"plt": None, "one": "PLT", "two": "Trees", "three": "Trees", "four": "Forest"}
    models = {name: {"title": title} if title else {} for name, title in titles.items()}
    options = titles_of(project_of(tmp_path, a=suite(models)), "a")
    expected = ["one=PLT (one)", "two=Trees (two)", "three=Trees (three)", "four=Forest"]
    assert options[1::2] == expected


def test_size_that_selects_no_dataset_is_refused(tmp_path):
    project = project_of(tmp_path, {"datasets": "large"}, a=suite(datasets=["yeast"]))
    with raises_with(XmlcError, "datasets=large", "a", "yeast"):
        targets(project)["a"]()


def test_models_without_any_table_of_a_suite_are_refused(tmp_path):
    known = {"a": suite({"plt": {}}, tables=["table1"]), "b": suite({"br": {}}, tables=["table1"])}
    project = project_of(tmp_path, {"papers": ["a", "b"], "models": ["br"]}, **known)
    assert targets(project)["b"]() == targets(project)["all"]()
    with raises_with(XmlcError, "models", "a"):
        targets(project)["a"]()


PARAMETERS = """
from pathlib import Path
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import read_config
from xmlc.suite.papers import plan
project = Project.read(read_config(Path("config/config.yaml")))
print(project.settings)
print(project.suites)
for paper in project.settings.papers:
    for table in project.suites[paper].tables:
        records = plan.outputs_for(project, "table", table, paper)
        print(paper, table, plan.sources_of_table(project, paper, table))
        print(plan.order_of("table", paper, records))
    print(plan.code_of("table", paper), plan.code_of("figure", paper))
"""


def test_parameters_of_tables_do_not_depend_on_the_hash_seed():
    """Otherwise a table would be rebuilt in some later runs although nothing changed."""
    outputs = set()
    for seed in ("0", "1"):
        command = [sys.executable, "-c", PARAMETERS]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
