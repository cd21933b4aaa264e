"""Test how the YAML of a suite is read: values, defaults, models of other suites, and mistakes."""

from pathlib import Path

import pytest
import yaml
from facts import raises_with
from repository import ROOT
from suite_cases import suite, suite_of, write_config

from xmlc.core.errors import XmlcError
from xmlc.suite.config.suite import (
    HyperparameterOrigin,
    Inference,
    ModelSpec,
    find_suite,
    read_suite,
    read_suites,
)

KEYS = """
datasets: [yeast, bibtex]
few_shot: [bibtex]
models:
  plt:
    selected: {yeast: {by: hand, p@1: 0.5}, bibtex: {by: SMAC}}
baselines:
  vw: {estimator: vw-cmt, skip_thresholds: why}
inference: {split: "80", methods: {plt: [gfm, h]}, samples: 7, time_limit: 7200}
sweeps:
  passes: {model: plt, hyperparameter: epochs, values: [16, 0.5]}
"""


def test_all_keys_of_a_suite_file_are_read(tmp_path):
    file = write_config(tmp_path, mine=suite_of(KEYS)) / "papers/mine.yaml"
    found = read_suite(file)
    assert (found.name, found.file, found.own) == ("mine", str(file), False)
    assert found.inference == Inference("80", {"plt": ["gfm", "h"]}, 7, 7200)
    assert found.inferred("vw") == []
    assert list(found.all_models) == ["plt", "vw"]
    assert [found.task_of(name) for name in found.datasets] == ["multi-label", "few-shot"]
    selected = {"yeast": HyperparameterOrigin("hand", 0.5), "bibtex": HyperparameterOrigin("SMAC")}
    assert found.models["plt"].selected == selected
    assert found.baselines["vw"].skip_thresholds == "why"
    # Steps get integers as integers.
    assert list(map(str, found.sweeps["passes"].values)) == ["16", "0.5"]
    assert str(found.inference.time_limit) == "7200"


def test_every_shipped_suite_is_read_completely():
    for name, found in read_suites(ROOT / "config").items():
        content = yaml.safe_load(Path(found.file).read_text())
        assert (found.name, list(found.models)) == (name, list(content["models"]))


def test_tree_of_a_paper_names_its_weight_threshold():
    for paper in ("plt2016", "gfm2011", "swnn2018", "ldsm2020", "oplt2021"):
        for name, model in find_suite(paper, ROOT / "config").all_models.items():
            if model.estimator in ("plt", "oplt", "parabel"):
                assert "weight_threshold" in model.hyperparameters, f"{paper}: {name}"


def test_papers_are_sorted_by_name_before_other_suites(tmp_path):
    config = write_config(tmp_path, zeta=suite(), alpha=suite())
    own = [(name, found.own) for name, found in read_suites(config).items()]
    assert own == [("alpha", False), ("zeta", False), ("demo", True), ("scale", True)]
    assert find_suite("beta", config) is None
    assert find_suite("demo", config).own


def test_model_of_another_suite_is_copied_except_excluded_datasets(tmp_path):
    mine = suite_of("""
    models:
      br: {from_suite: other, without: {bibtex: too large}}
      vw: {from_suite: other}
    """)
    other = suite_of("""
    models: {br: {estimator: br, hyperparameters: {C: 3}, without: {yeast: too small}}}
    baselines: {vw: {estimator: vw-cmt, selected: {yeast: {by: x, p@1: 1}}}}
    """)
    config = write_config(tmp_path, mine=mine, other=other)
    found = read_suite(config / "papers/mine.yaml").models
    assert found["br"] == ModelSpec("br", hyperparameters={"C": 3}, without={"bibtex": "too large"})
    assert found["vw"] == ModelSpec("vw-cmt", selected={"yeast": HyperparameterOrigin("x", 1)})


# Maps the YAML of a suite to facts of the message.
MISTAKES = {
    "tabels: []": "mine.yaml:12 'tabels' tables",
    "datasets: [../x]": "mine.yaml:3 datasets[0] '../x'",
    "datasets: []": "mine.yaml:2 datasets []",
    "seeds: '0'": "seeds '0' list",
    "inference: {split: '80', methods: {}}": "inference.methods {}",
    "models: {plt: {estimator: plt, from_suite: other}}": "models.plt estimator from_suite",
    "models: {plt: {search: {stages: [[{}]]}}}": "search.stages[0][0] {}",
    "models: {plt: {from_suite: othr}}": "models.plt.from_suite othr other",
    "models: {plt: {from_suite: 3}}": "models.plt.from_suite 3",
    "models: {vw: {from_suite: other}}": "models.vw.from_suite vw plt",
    "models: {plt: {from_suite: other, threads: 2}}": "models.plt.threads from_suite title without",
    "baselines: {plt: {from_suite: other, untuned: all}}": "baselines.plt.untuned from_suite",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake_is_refused_with_file_and_place(tmp_path, text):
    config = write_config(tmp_path, mine=suite_of(text), other=suite())
    with raises_with(XmlcError, "mine.yaml", *MISTAKES[text].split()):
        read_suite(config / "papers/mine.yaml")


def test_suite_without_models_is_refused(tmp_path):
    config = write_config(tmp_path, mine=suite() | {"models": {}})
    with raises_with(XmlcError, "mine.yaml", "models", "{}"):
        read_suite(config / "papers/mine.yaml")


@pytest.mark.parametrize("cycle", [["mine"], ["mine", "b"], ["mine", "b", "c"]])
def test_cycles_of_copied_models_are_refused(tmp_path, cycle):
    following = dict(zip(cycle, [*cycle[1:], "mine"], strict=True))
    suites = {name: suite({"plt": {"from_suite": other}}) for name, other in following.items()}
    config = write_config(tmp_path, **suites)
    with raises_with(XmlcError, "mine.yaml", "models.plt.from_suite", following["mine"]):
        read_suite(config / "papers/mine.yaml")
