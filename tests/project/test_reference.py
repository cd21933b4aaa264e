"""Every suite and each of its models has reference results without costs.

One command builds all reference results.
"""

import re

import pandas as pd
import pytest
import yaml
from repository import ROOT

from xmlc.suite.results.columns import column

REFERENCE = ROOT / "results/reference"
PAPERS = yaml.safe_load((ROOT / "config/config.yaml").read_text())["papers"]
SUITES = {
    name: yaml.safe_load((ROOT / f"config/papers/{name}.yaml").read_text()) for name in PAPERS
}
SUITES["demo"] = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
FILES = sorted(REFERENCE.glob("*/*.csv"))


@pytest.mark.parametrize("suite", SUITES)
def test_every_model_of_suite_has_reference_results(suite):
    """Models for datasets with one label per instance need no reference results, and neither do
    external programs.
    """
    found = set()
    for file in (REFERENCE / suite).glob("*.csv"):
        found.update(pd.read_csv(file).get("model", ()))
    for name, model in SUITES[suite]["models"].items():
        is_left_out = model.get("task") == "few-shot" or model.get("optional")
        assert is_left_out or name in found, name


def test_make_reference_builds_exactly_all_suites():
    made = re.findall(r"papers='\[(.*?)\]'", (ROOT / "Makefile").read_text())
    assert sorted(", ".join(made).split(", ")) == sorted([*SUITES, "neural"])
    folders = [path.name for path in REFERENCE.iterdir() if path.is_dir()]
    assert sorted(folders) == sorted([*SUITES, "five-seeds"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_reference_results_contain_no_costs(file):
    assert not [name for name in pd.read_csv(file, nrows=0) if column(name).cost]
