"""What is one job: each record of a method is made by one, whatever suites ask for it."""

import re
import subprocess
from functools import cache
from types import SimpleNamespace

import pytest
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.suites import paths
from xmlc.suites.jobs import (
    InferenceJob,
    QuickJob,
    ThresholdJob,
    datasets_inferred_alone,
    for_each,
    infer_beside,
    inference_jobs,
    models_outside,
    quick_jobs,
    threshold_jobs,
)
from xmlc.suites.project import Project

CONFIG = ROOT / "config"
UNASKED = "for-macro-jaccard-of-nobody"


@pytest.fixture(scope="module")
def project():
    """The project's own configuration."""
    return Project.read({"papers": []}, CONFIG)


@pytest.fixture(scope="module")
def jobs(project):
    return threshold_jobs(project)


@cache
def expression(pattern, datasets, models):
    """What paths of a pattern a rule makes whose wildcards are so constrained, as Snakemake matches them."""
    allowed = {"dataset": datasets, "model": models, "seed": paths.WILDCARDS["seed"]}
    allowed |= {"method": paths.WILDCARDS["method"]}
    parts = re.split(r"{(\w+)}", pattern)
    return re.compile("".join(f"(?:{allowed[p]})" if i % 2 else re.escape(p) for i, p in enumerate(parts)) + "$")


def makers(jobs, path):
    """Name the jobs that make a file."""
    return [job.name for job in jobs if any(expression(*output).match(path) for output in outputs(job))]


def outputs(job):
    """List the patterns of what a job makes, each with what its wildcards may be."""
    models = "|".join(map(re.escape, job.models))
    patterns = [pattern.of(method=method) for method in job.methods for pattern in (paths.EVALUATION, paths.THRESHOLDS)]
    return [(pattern, job.datasets, models) for pattern in patterns]


def both(run, method):
    return run.file(paths.EVALUATION, method=method), run.file(paths.THRESHOLDS, method=method)


@pytest.mark.parametrize("settings", [{}, {"datasets": ["far-set", "yeast"]}], ids=["as configured", "other datasets"])
def test_every_record_that_a_suite_asks_for_is_made_by_one_job_of_its_place(settings):
    project = Project.read({"papers": []} | settings, CONFIG)
    jobs = threshold_jobs(project)
    asked = 0
    for name, one in project.suites.items():
        place = f"thresholds_{name if one.own else 'papers'}"
        for run in project.runs(name):
            for method in (*one.methods, *one.measure_methods):
                for path in both(run, method):
                    (maker,) = makers(jobs, path)
                    assert maker == place or maker.startswith(f"{place}_")
                    asked += 1
    assert asked > 100


def test_records_of_baselines_are_made_by_one_job(project, jobs):
    for name in ("plt2016", "oplt2021"):
        for model in project.suites[name].peers:
            for method in ("fta", "sto", "ofo", "ofo-ab"):
                path = f"results/yeast/{model}/seed0/80/evaluation/{method}.json"
                asked = name == "plt2016" and method != "ofo-ab"
                (maker,) = makers(jobs, path)
                assert maker.startswith("thresholds_papers") if asked else maker == "thresholds_anywhere"


def test_what_no_suite_asks_for_is_a_job_of_its_own(project, jobs):
    methods = {method for one in project.suites.values() for method in (*one.methods, *one.measure_methods)}
    for dataset in ("demo", "amazon-670k-shape", "growth-n-x2", "far-set", "demo-set", "yeast"):
        for model in project.models:
            for method in (*methods, UNASKED):
                path = f"results/{dataset}/{model}/seed3/80/evaluation/{method}.json"
                assert len(makers(jobs, path)) == 1, path
            path = f"results/{dataset}/{model}/seed3/80/thresholds/{UNASKED}"
            assert makers(jobs, path) == ["thresholds_anywhere"]
    assert makers(jobs, "results/demo/nobody/seed0/80/evaluation/fta.json") == []


def test_names_of_jobs_are_their_own(project, jobs):
    names = [job.name for job in [*jobs, *inference_jobs(project)]]
    assert len(set(names)) == len(names)


def test_of_a_model_that_two_papers_have_the_methods_of_both_are_one_job(tmp_path):
    shared = {"shared": {}}
    project = project_of(
        tmp_path,
        a=suite(shared | {"own": {}}, methods=["fta", "sto"]),
        b=suite(shared, methods=["sto", "ofo"], measures=["macro-f"], peers={"peer": {}}),
        demo=suite(shared, datasets=["made"], methods=["ofo-ab"]),
    )
    *configured, anywhere = threshold_jobs(project)
    found = {job.name: (job.methods, job.models) for job in configured}
    assert found == {
        "thresholds_papers": (["fta", "sto", "ofo", "for-macro-f"], ["shared"]),
        "thresholds_papers_own": (["fta", "sto"], ["own"]),
        "thresholds_papers_peer": (["sto", "ofo"], ["peer"]),  # what the table of peers shows, of what b has
        "thresholds_demo": (["ofo-ab"], ["shared"]),
    }
    assert anywhere.models == list(project.models)
    assert makers([*configured, anywhere], "results/made/shared/seed0/80/evaluation/ofo-ab.json") == ["thresholds_demo"]
    for path in ("made/shared/seed0/80/evaluation/fta.json", "yeast/shared/seed0/80/evaluation/ofo-ab.json"):
        assert makers([*configured, anywhere], f"results/{path}") == ["thresholds_anywhere"]


def test_label_sets_are_inferred_by_one_job_beside_thresholds_where_they_can(tmp_path):
    infer = {"portion": "80", "methods": {"plt": ["gfm"], "bare": ["h"]}}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}, "other": {}}, methods=["fta"]),
        b=suite({"plt": {}, "bare": {}}, inference=infer),
        demo=suite({"plt": {}}, datasets=["made"], methods=["fta"]),
    )
    # Thresholds of `plt` are another suite's than its inference; of `bare` there are none; the demo infers nothing.
    *jobs, _ = threshold_jobs(project)
    assert {(job.name, *job.models): job.inference and job.inference.methods for job in jobs} == {
        ("thresholds_papers", "plt"): ["gfm"],
        ("thresholds_papers_other", "other"): None,
        ("thresholds_demo", "plt"): None,
    }
    alone = datasets_inferred_alone(jobs)
    for path, by_itself in (("yeast/plt", False), ("made/plt", True), ("yeast/bare", True), ("yeast/other", True)):
        record = f"results/{path}/seed0/80/inference/gfm.json"
        assert bool(expression(paths.INFERENCE.of(portion="80"), alone, ".+").match(record)) == by_itself


def test_quick_models_are_one_job_for_all_seeds_that_suites_have(tmp_path):
    quick = {"quick": True}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}, "fast": quick, "both": quick}, seeds=[0, 1]),
        b=suite({"both": quick}, seeds=[3], peers={"peer": quick | {"forest": True}}),
    )
    jobs = quick_jobs(project)
    assert jobs == [
        QuickJob(["fast"], [0, 1], "of_2_seeds"),
        QuickJob(["both"], [0, 1, 3], "of_3_seeds"),
        QuickJob(["peer"], [3], "of_1_seed"),
    ]
    assert jobs[0].paths_by_seed(paths.RANKING) == [paths.RANKING.of(seed=0), paths.RANKING.of(seed=1)]
    assert jobs[0].common_path(paths.RANKING, dataset="yeast") == "results/yeast/{model}/seeds/full/ranking.json"
    single = models_outside(jobs, project.models)
    for run, by_itself in (("plt/seed0", True), ("fast/seed0", False), ("fast/seed10", True), ("both/seed2", True)):
        path = f"results/yeast/{run}/full/train.json"
        assert bool(expression(paths.TRAINING.of(portion="full"), ".+", single).match(path)) == by_itself
    assert models_outside([], ["a", "b.c"]) == r"a|b\.c"
    # Trees that a cluster grows in several jobs are none of them.
    scattered = project_of(tmp_path / "scattered", {"scatter": 2}, b=suite(peers={"peer": quick | {"forest": True}}))
    assert quick_jobs(scattered) == []


def test_inference_from_a_model_is_one_job_for_each_portion(tmp_path):
    infer = {"portion": "80", "methods": {"plt": ["gfm", "h"]}}
    full = {"portion": "full", "methods": {"plt": ["h"]}, "time_limit": 60, "samples": 9}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}}, inference=infer),
        b=suite({"plt": {}}, inference=infer | {"methods": {"plt": ["meuf", "h"]}}),
        c=suite({"plt": {}}, inference=full),
    )
    assert inference_jobs(project) == [
        InferenceJob("plt", "80", ["gfm", "h", "meuf"], 200, None),
        InferenceJob("plt", "full", ["h"], 9, 60),
    ]
    estimates, model = inference_jobs(project)
    assert (estimates.name, estimates.option, estimates.predicts) == ("infer_80_plt", "--estimates", False)
    assert estimates.source == "results/{dataset}/{model}/seed{seed}/80/spe"
    assert (model.name, model.option, model.predicts) == ("infer_full_plt", "--model", True)
    assert model.source == "results/{dataset}/{model}/seed{seed}/full/model"


def test_every_inference_that_a_suite_asks_for_is_in_one_job(project):
    jobs = inference_jobs(project)
    for one in project.suites.values():
        for model, methods in one.inference.methods.items() if one.inference else ():
            (job,) = (job for job in jobs if (job.model, job.portion) == (model, one.inference.portion))
            assert set(methods) <= set(job.methods)
            assert len(set(job.methods)) == len(job.methods)


def test_inference_that_contradicts_is_refused(tmp_path):
    infer = {"portion": "full", "methods": {"plt": ["h"]}}
    with pytest.raises(XmlcError, match="config: a infers from plt, which is none of its models"):
        inference_jobs(project_of(tmp_path, a=suite({"br": {}}, inference=infer)))
    for other in ({"samples": 50}, {"time_limit": 5}):
        project = project_of(
            tmp_path, a=suite({"plt": {}}, inference=infer), b=suite({"plt": {}}, inference=infer | other)
        )
        with pytest.raises(XmlcError, match="b infers from plt with other samples or time limit than another"):
            inference_jobs(project)


def test_what_is_inferred_beside_thresholds_follows_their_command():
    snakemakes = {
        "wildcards": SimpleNamespace(),
        "input": SimpleNamespace(data="data", estimates="80/spe", training="80/train.json"),
        "output": ["80/thresholds/fta", "80/evaluation/fta.json", "80/inference/h.json"],
        "threads": 2,
        "resources": SimpleNamespace(mem_mb=300),
    }
    alone = ThresholdJob("thresholds_a", ["fta"], ["plt"], "yeast")
    assert infer_beside(alone, [])(**snakemakes) == ""
    beside = ThresholdJob(
        "thresholds_a", ["fta"], ["plt"], "yeast", inference=InferenceJob("plt", "80", ["h"], 9, None)
    )
    assert infer_beside(beside, ["my file.py"])(**snakemakes) == (
        "; xmlc infer --data data --estimates 80/spe --training 80/train.json --method h --samples 9"
        " --extension 'my file.py' --threads 2 --plan thresholds 300 --out 80/inference 2> ${log[1]}"
    )


def test_a_command_runs_for_the_first_words_of_each_list_then_for_the_second_until_one_fails():
    text = for_each({"seed": "{seeds}", "seed_log": "{logs}"}, 'echo "$seed of $seed_log"; [ $seed != 2 ]')
    words = "set -euo pipefail; " + text.format(seeds="0 2 5", logs="a b c")
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["0 of a", "2 of b"]
    assert done.returncode == 1
