"""Test how records are grouped into jobs: one rule writes each record, and one job runs all methods
of a model.
"""

import re
from pathlib import Path

import pytest
from facts import raises_with
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.suite.config import jobs, paths
from xmlc.suite.config.jobs import (
    batched_models,
    inference_options,
    options,
    sweep_options,
    threshold_methods,
    unlabelled_methods,
)
from xmlc.suite.config.project import Project


@pytest.mark.parametrize(
    "settings", [{}, {"datasets": ["far-set", "yeast"]}], ids=["as configured", "other datasets"]
)
def test_each_requested_record_is_written_by_the_job_of_its_folder(settings):
    project = Project.read({"papers": []} | settings, (ROOT / "config"))
    asked = 0
    for name, one in project.suites.items():
        for run in project.runs(name):
            wanted = {*one.methods, *one.measure_methods}
            assert wanted <= {*threshold_methods(project, run.model, run.dataset)}
            for split in ("80", "full"):
                given = inference_options(project, run.model, split)
                assert {*one.inferred(run.model, split)} <= {*given}
            asked += len(wanted)
    assert asked > 100


def test_methods_of_a_model_shared_by_two_papers_are_one_job(tmp_path):
    shared = {"shared": {}}
    project = project_of(
        tmp_path,
        a=suite(shared | {"own": {}}, methods=["fta", "sto", "expected-f"]),
        b=suite(shared, methods=["sto", "ofo"], measures=["macro-f"], baselines={"baseline": {}}),
        demo=suite(shared, datasets=["made"], methods=["ofo-ab"]),
    )
    assert threshold_methods(project, "shared", "yeast") == [
        "expected-f",
        "for-macro-f",
        "fta",
        "ofo",
        "sto",
    ]
    assert threshold_methods(project, "own", "yeast") == ["expected-f", "fta", "sto"]
    # shown in the table of baselines
    assert threshold_methods(project, "baseline", "yeast") == ["ofo", "sto"]
    # from the suite that defines the dataset
    assert threshold_methods(project, "shared", "made") == ["ofo-ab"]
    assert unlabelled_methods(project, "shared", "yeast") == ["expected-f"]


def test_models_with_batched_seeds_are_one_job_for_all_seeds(tmp_path):
    quick = {"batch_seeds": True}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}, "fast": quick, "both": quick}, seeds=[0, 1]),
        b=suite({"both": quick}, seeds=[3], baselines={"baseline": quick}),
    )
    assert batched_models(project) == {(0, 1): ["fast"], (0, 1, 3): ["both"], (3,): ["baseline"]}


def test_inference_from_a_model_is_one_job_per_training_split(tmp_path):
    infer = {"split": "80", "methods": {"plt": ["gfm", "h"]}}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}}, inference=infer),
        b=suite({"plt": {}}, inference=infer | {"methods": {"plt": ["meuf", "h"]}}),
        c=suite(
            {"plt": {}},
            inference={"split": "full", "methods": {"plt": ["h"]}, "time_limit": 60, "samples": 9},
        ),
    )
    methods = ["--method", "gfm", "--method", "h", "--method", "meuf"]
    assert inference_options(project, "plt", "80") == [*methods, "--samples", "200"]
    assert inference_options(project, "plt", "full") == [
        "--method",
        "h",
        "--samples",
        "9",
        "--time-limit",
        "60",
    ]


def test_order_in_a_suite_changes_no_job(tmp_path):
    methods = ["fta", "sto", "ofo"]
    measures = ["micro-f", "instance-f"]
    values = {"lam": 0.1, "arity": 4}
    sweep = {
        "model": "plt",
        "hyperparameter": "epochs",
        "values": [1, 2],
        "hyperparameters": values,
    }
    texts = set()
    for turn in (list, lambda given: list(reversed(given))):
        content = suite(
            {
                name: {"hyperparameters": dict(turn(values.items()))}
                for name in turn(["plt", "other"])
            },
            methods=turn(methods),
            measures=turn(measures),
            seeds=turn([0, 1]),
            datasets=turn(["yeast", "scene"]),
            inference={"split": "80", "methods": {"plt": turn(["gfm", "h"])}},
            sweeps={"epochs": sweep | {"hyperparameters": dict(turn(values.items()))}},
        )
        project = project_of(tmp_path / str(len(texts)), a=content)
        texts.add(
            str(
                [
                    threshold_methods(project, "plt", "yeast"),
                    unlabelled_methods(project, "plt", "yeast"),
                    inference_options(project, "plt", "80"),
                    sweep_options(project, "a", "epochs", "yeast"),
                    project.hyperparameters("plt", "yeast"),
                    batched_models(project),
                ]
            )
        )
    assert len(texts) == 1


def test_contradictory_inference_settings_are_refused(tmp_path):
    infer = {"split": "full", "methods": {"plt": ["h"]}}
    for other in ({"samples": 50}, {"time_limit": 5}):
        suites = {"a": suite(inference=infer), "b": suite(inference=infer | other)}
        with raises_with(XmlcError, "a.yaml", "b.yaml", f"inference.{next(iter(other))}", "plt"):
            project_of(tmp_path, **suites)


def test_option_is_repeated_for_each_value():
    assert options("--seed", [0, 2]) == ["--seed", "0", "--seed", "2"]
    assert re.fullmatch(jobs.one_of(["a.b", "c"]), "axb") is None
    assert re.fullmatch(jobs.one_of([]), "") is None


def test_outputs_of_rules_agree_with_path_patterns():
    """The paths written in the rules have to agree with `xmlc.suite.config.paths`."""
    patterns = {
        str(pattern) for pattern in vars(paths).values() if isinstance(pattern, paths.Pattern)
    }
    patterns |= {str(Path(paths.output_of(pattern))) for pattern in patterns}
    patterns |= {pattern.replace("/{split}", "/full") for pattern in patterns}
    patterns |= {pattern.replace("/{split}", "/80") for pattern in patterns}
    # In the rules of models that are not kept, the split is a wildcard with one value.
    patterns |= {re.sub("/(full|80)/", "/{split}/", pattern) for pattern in patterns}
    written = "".join(file.read_text() for file in (ROOT / "workflow/rules").glob("*.smk"))
    found = re.findall(
        r"directory\(\"([^\"]+)\"\)|^ +\w*=?\"(results/[^\"]+)\"", written, re.MULTILINE
    )
    outputs = {re.sub(r"\.(csv|svg|pdf)$", "", one or other) for one, other in found}
    assert len(outputs) > 15
    assert outputs <= patterns
