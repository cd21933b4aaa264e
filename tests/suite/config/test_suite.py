"""Test how the YAML of a suite is read: values, defaults, models of other suites, and mistakes."""

from pathlib import Path

import pytest
import yaml
from facts import raises_with
from repository import ROOT
from suite_cases import suite, write_config, write_suite

from xmlc.core.errors import XmlcError
from xmlc.suite.config.suite import (
    HyperparameterOrigin,
    Inference,
    ModelSpec,
    find_suite,
    read_suite,
    read_suites,
)


def test_all_keys_of_a_suite_file_are_read(tmp_path):
    file = write_suite(
        tmp_path / "papers/mine.yaml",
        {"plt": {"hyperparameters": {"arity": 2}, "datasets": {"bibtex": {"lam": 0.1}},
                 "selected": {"yeast": {"by": "hand", "p@1": 0.5}, "bibtex": {"by": "SMAC"}}}},
        baselines={"vw": {"estimator": "vw-cmt", "skip_thresholds": "why"}},
        datasets=["yeast", "bibtex"], few_shot=["bibtex"], measures=["macro-f", "micro-f"],
        inference={"split": "80", "methods": {"plt": ["gfm", "h"]}, "samples": 7},
    )  # fmt: skip
    found = read_suite(file)
    assert (found.name, found.file, found.own) == ("mine", str(file), False)
    assert found.inference == Inference("80", {"plt": ["gfm", "h"]}, 7, None)
    assert (found.inferred("plt"), found.inferred("vw")) == (["gfm", "h"], [])
    assert list(found.all_models) == ["plt", "vw"]
    assert found.measure_methods == ["for-macro-f", "for-micro-f"]
    assert [found.task_of(name) for name in found.datasets] == ["multi-label", "few-shot"]
    plt = found.models["plt"]
    assert plt.selected == {
        "yeast": HyperparameterOrigin("hand", 0.5),
        "bibtex": HyperparameterOrigin("SMAC", None),
    }
    assert plt.values_on("bibtex") == {"arity": 2, "lam": 0.1}
    assert plt.values_on("yeast") == {"arity": 2}
    assert found.baselines["vw"].skip_thresholds == "why"


def test_every_shipped_suite_is_read_completely():
    for name, found in read_suites(ROOT / "config").items():
        content = yaml.safe_load(Path(found.file).read_text())
        assert (found.name, list(found.models)) == (name, list(content["models"]))
        assert (found.datasets, found.tables) == (content["datasets"], content["tables"])
        for model, spec in content["models"].items():
            if "from_suite" not in spec:
                common = spec.get("hyperparameters", {})
                own = spec.get("datasets", {})
                assert found.models[model].hyperparameters == common
                assert found.models[model].datasets == {
                    dataset: common | values for dataset, values in own.items()
                }


def test_tree_of_a_paper_names_its_weight_threshold():
    for paper in ("plt2016", "gfm2011", "swnn2018", "ldsm2020", "oplt2021"):
        for name, model in find_suite(paper, ROOT / "config").all_models.items():
            if model.estimator in ("plt", "oplt", "parabel"):
                assert "weight_threshold" in model.hyperparameters, f"{paper}: {name}"


def test_papers_are_sorted_by_name_before_other_suites(tmp_path):
    config = write_config(tmp_path, zeta=suite(), alpha=suite())
    assert list(read_suites(config)) == ["alpha", "zeta", "demo", "scale"]
    assert [found.own for found in read_suites(config).values()] == [False, False, True, True]
    assert find_suite("beta", config) is None
    assert find_suite("demo", config).own


def test_model_of_another_suite_is_copied_except_excluded_datasets(tmp_path):
    there = {"estimator": "br", "hyperparameters": {"C": 3}, "without": {"yeast": "too small"}}
    config = write_config(
        tmp_path,
        mine=suite(
            {
                "br": {"from_suite": "other", "without": {"bibtex": "too large"}},
                "vw": {"from_suite": "other"},
            }
        ),
        other=suite(
            {"br": there},
            baselines={"vw": {"estimator": "vw-cmt", "selected": {"yeast": {"by": "x", "p@1": 1}}}},
        ),
    )
    found = read_suite(config / "papers/mine.yaml").models
    assert found["br"] == ModelSpec("br", hyperparameters={"C": 3}, without={"bibtex": "too large"})
    assert found["vw"] == ModelSpec("vw-cmt", selected={"yeast": HyperparameterOrigin("x", 1)})


@pytest.mark.parametrize(
    ("target", "known"), [("othr", "other"), ("other", "plt"), ("mine", "mine")]
)
def test_model_of_another_suite_that_does_not_define_it_is_refused(tmp_path, target, known):
    config = write_config(
        tmp_path, mine=suite({"br": {"from_suite": target}}), other=suite({"plt": {}})
    )
    with raises_with(XmlcError, "mine.yaml", "br", target, known):
        read_suite(config / "papers/mine.yaml")


@pytest.mark.parametrize(
    "further",
    [
        {"hyperparameters": {"arity": 64}},
        {"threads": 2},
        {"search": {}},
        {"task": "few-shot"},
        {"untuned": "all"},
    ],
)
@pytest.mark.parametrize("section", ["models", "baselines"])
def test_further_keys_of_a_copied_model_are_refused(tmp_path, section, further):
    content = {
        "models": {"br": {"estimator": "br"}},
        section: {"plt": {"from_suite": "other"} | further},
    }
    config = write_config(tmp_path, mine=suite() | content, other=suite())
    with raises_with(
        XmlcError,
        "mine.yaml",
        f"{section}.plt.{next(iter(further))}",
        "from_suite",
        "title",
        "without",
    ):
        read_suite(config / "papers/mine.yaml")


@pytest.mark.parametrize("cycle", [["mine"], ["mine", "b"], ["mine", "b", "c"]])
def test_cycles_of_copied_models_are_refused(tmp_path, cycle):
    following = dict(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    suites = {name: suite({"plt": {"from_suite": other}}) for name, other in following.items()}
    config = write_config(tmp_path, **suites)
    with raises_with(XmlcError, "mine.yaml", "models.plt.from_suite", following["mine"]):
        read_suite(config / "papers/mine.yaml")


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"tabels": []}, ["mine.yaml:12", "'tabels'", "tables"]),
        ({"datasets": ["../x"]}, ["mine.yaml:3", "datasets[0]", "'../x'"]),
        ({"datasets": []}, ["mine.yaml:2", "datasets", "[]"]),
        ({"inference": {"split": "80", "methods": {}}}, ["inference.methods", "{}"]),
        (
            {"models": {"plt": {"estimator": "plt", "from_suite": "other"}}},
            ["models.plt", "estimator", "from_suite"],
        ),
        (
            {"models": {"plt": {"estimator": "plt", "search": {"stages": [[{}]]}}}},
            ["search.stages[0][0]", "{}"],
        ),
    ],
)
def test_mistake_is_refused_with_file_and_place(tmp_path, change, facts):
    with raises_with(XmlcError, *facts):
        read_suite(write_suite(tmp_path / "mine.yaml", **change))


def test_integers_are_passed_to_steps_as_integers(tmp_path):
    sweep = {"model": "plt", "hyperparameter": "epochs", "values": [16, 0.5]}
    inference = {"split": "full", "methods": {"plt": ["h"]}, "time_limit": 7200}
    found = read_suite(
        write_suite(tmp_path / "x.yaml", {"plt": {}}, sweeps={"passes": sweep}, inference=inference)
    )
    assert list(map(str, found.sweeps["passes"].values)) == ["16", "0.5"]
    assert str(found.inference.time_limit) == "7200"
