"""Test how records are grouped into jobs: one rule writes each record, and one job runs all methods
of a model.
"""

import re
from pathlib import Path

import pytest
from facts import raises_with
from repository import ROOT
from suite_cases import project_of, suite, suite_of

from xmlc.core.errors import XmlcError
from xmlc.suite.config import jobs, paths
from xmlc.suite.config.jobs import (
    batched_models,
    inference_options,
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
    for name, one in project.suites.items():
        runs = project.runs(name)
        assert runs or name == "neural"  # without its files of estimates
        for run in runs:
            methods = threshold_methods(project, run.model, run.dataset)
            assert {*one.methods, *one.measure_methods} <= {*methods}
            for split in ("80", "full"):
                given = inference_options(project, run.model, split)
                assert {*one.inferred(run.model, split)} <= {*given}


def test_methods_of_a_model_shared_by_two_papers_are_one_job(tmp_path):
    project = project_of(
        tmp_path,
        a=suite_of("{models: {shared: {}, own: {}}, methods: [fta, sto, expected-f]}"),
        b=suite_of("""
        models: {shared: {}}
        methods: [sto, ofo]
        measures: [macro-f]
        baselines: {baseline: {}}
        """),
        demo=suite_of("{models: {shared: {}}, datasets: [made], methods: [ofo-ab]}"),
    )
    methods = threshold_methods(project, "shared", "yeast")
    assert methods == ["expected-f", "for-macro-f", "fta", "ofo", "sto"]
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
    project = project_of(
        tmp_path,
        a=suite_of("inference: {split: '80', methods: {plt: [gfm, h]}}"),
        b=suite_of("inference: {split: '80', methods: {plt: [meuf, h]}}"),
        c=suite_of("inference: {split: full, methods: {plt: [h]}, time_limit: 60, samples: 9}"),
    )
    methods = ["--method", "gfm", "--method", "h", "--method", "meuf"]
    assert inference_options(project, "plt", "80") == [*methods, "--samples", "200"]
    options = inference_options(project, "plt", "full")
    assert options == ["--method", "h", "--samples", "9", "--time-limit", "60"]


ORDERED = """
models: {plt: {hyperparameters: {lam: 0.1, arity: 4}}, other: {}}
methods: [fta, sto, ofo, expected-f]
measures: [micro-f, instance-f]
seeds: [0, 1]
datasets: [yeast, scene]
inference: {split: '80', methods: {plt: [gfm, h]}}
sweeps:
  epochs:
    model: plt
    hyperparameter: epochs
    values: [1, 2]
    hyperparameters: {lam: 0.1, arity: 4}
"""


def turned(content):
    """Return a copy of some content with the opposite order of keys and of lists of names."""
    if isinstance(content, dict):
        return {key: turned(content[key]) for key in reversed(content)}
    if isinstance(content, list) and content != [1, 2]:  # a sweep keeps the order of its values
        return content[::-1]
    return content


def test_order_in_a_suite_changes_no_job(tmp_path):
    content = suite_of(ORDERED)
    project = project_of(tmp_path / "first", a=content)
    other = project_of(tmp_path / "second", a=turned(content))
    assert list(project.suites["a"].models) != list(other.suites["a"].models)
    for job, *given in (
        (threshold_methods, "plt", "yeast"),
        (unlabelled_methods, "plt", "yeast"),
        (inference_options, "plt", "80"),
        (sweep_options, "a", "epochs", "yeast"),
        (Project.hyperparameters, "plt", "yeast"),
        (batched_models,),
    ):
        assert job(project, *given) == job(other, *given)


@pytest.mark.parametrize(("key", "value"), [("samples", 50), ("time_limit", 5)])
def test_contradictory_inference_settings_are_refused(tmp_path, key, value):
    infer = {"split": "full", "methods": {"plt": ["h"]}}
    suites = {"a": suite(inference=infer), "b": suite(inference=infer | {key: value})}
    with raises_with(XmlcError, "a.yaml", "b.yaml", f"inference.{key}", "plt"):
        project_of(tmp_path, **suites)


def test_names_are_matched_literally():
    assert re.fullmatch(jobs.one_of(["a.b", "c"]), "axb") is None
    assert re.fullmatch(jobs.one_of([]), "") is None


def test_outputs_of_rules_agree_with_path_patterns():
    """The paths written in the rules have to agree with `xmlc.suite.config.paths`."""
    patterns = {str(one) for one in vars(paths).values() if isinstance(one, paths.Pattern)}
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
