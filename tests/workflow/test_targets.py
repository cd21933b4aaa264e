"""Test that all targets of a study lead to the same jobs."""

import pytest
import yaml
from command_line import run
from project_copy import snakemake

SUITE = {
    "title": "Targets",
    "datasets": ["tiny", "little"],
    "seeds": [0],
    "tables": ["table1", "table2"],
    "figures": ["figure1"],
    "methods": ["fta", "half"],
    "extensions": ["my_method.py"],
    "models": {
        "plt": {"estimator": "plt"},
        "theirs": {
            "estimator": "estimates",
            "hyperparameters": {"test": "scores/{dataset}/test.npz"},
        },
    },
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return a function that gives the files that the jobs of some targets write."""
    folder = tmp_path_factory.mktemp("study") / "mine"
    assert run("new", folder) == 0
    (folder / "suite.yaml").write_text(yaml.safe_dump(SUITE))
    for name in SUITE["datasets"]:
        for file in (f"data/{name}/train.txt", f"data/{name}/test.txt", f"scores/{name}/test.npz"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text("1 2 2\n0 1:1\n")

    def of(*targets):
        text = snakemake(folder, "--summary", *targets, "--config", "mirror=data")
        return {line.split("\t")[0] for line in text.splitlines() if "\t" in line} - {"output_file"}

    return of


def test_every_target_of_a_study_has_the_same_jobs(outputs):
    every = outputs()
    assert every == outputs("suite")
    figures = {name for name in every if name.startswith("results/figures/")}
    assert outputs("tables") == every - figures
    tables = {name for name in every if name.startswith("results/tables/")}
    own = {name for name in every - figures - tables if "/tiny" in name}
    assert len(own) > 15
    assert outputs("tiny") == own
    assert outputs("tiny", "little") == every - figures - tables
