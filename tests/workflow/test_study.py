"""Test plans of Snakemake for a study outside the clone."""

import pytest
from command_line import run
from project_copy import counts_of, snakemake

JOBS = {"synthesise": 1, "prepare": 1, "tune": 1, "train": 6, "rank": 3, "score": 3}
JOBS |= {"estimate": 3, "thresholds": 3, "table": 2}


@pytest.fixture
def plan(tmp_path):
    """Return a function that plans a new study and gives the jobs of each rule."""
    assert run("new", tmp_path / "mine") == 0

    def planned(*arguments):
        said = snakemake(tmp_path / "mine", "--cores", "2", "--dry-run", *arguments)
        assert "CPU hours" in said or "not counted" in said
        return counts_of(said)

    planned.folder = tmp_path / "mine"
    return planned


def test_new_study_plans_its_tables_and_writes_no_file(plan):
    before = {*plan.folder.iterdir()}
    assert plan() == JOBS
    assert {*plan.folder.iterdir()} - before == {plan.folder / ".snakemake"}
    assert plan("suite", "--config", "models=[centroids]")["train"] == 2


@pytest.mark.slow
def test_custom_dataset_with_several_seeds_has_table(plan):
    (plan.folder / "data/my-set").mkdir(parents=True)
    for part in ("train", "test"):
        (plan.folder / f"data/my-set/{part}.txt").write_text("1 2 2\n0 1:1\n")
    settings = ("--config", "datasets=[my-set]", "mirror=data", "seeds=[0, 1]")
    jobs = {"download": 1, "prepare": 1, "tune": 1, "train": 6, "rank": 6, "score": 6, "table": 1}
    assert plan("results/tables/suite/table1.md", *settings) == jobs


@pytest.mark.slow
def test_larger_workflow_imports_study_rules_as_module(plan):
    (plan.folder / "Snakefile").write_text(
        """
from xmlc.suite.config.folders import SHIPPED
config["mine"] = 1
module xmlc:
    snakefile: SHIPPED / "Snakefile"
    config: {"threads": 2}
use rule * from xmlc as xmlc_*
"""
    )
    assert plan("xmlc_suite")["xmlc_train"] == 6
