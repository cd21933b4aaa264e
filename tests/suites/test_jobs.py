"""What is one job: each record of a method is made by one, whatever suites ask for it."""

import re
from functools import cache

import pytest
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.suites import paths
from xmlc.suites.jobs import InferenceJob, SeedJob, each, inference_jobs, one_seed, quick_jobs, threshold_jobs
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
    """Name the job that makes a file, in a list: the last of the jobs that could."""
    return [job.name for job in jobs if any(expression(*output).match(path) for output in outputs(job))][-1:]


def outputs(job):
    """List the patterns of what a job makes, each with what its wildcards may be."""
    models = "|".join(map(re.escape, job.models))
    patterns = [*job.records, *(paths.THRESHOLDS.of(method=method) for method in job.methods)]
    return [(pattern, job.datasets, models) for pattern in patterns]


def both(run, method):
    return run.file(paths.EVALUATION, method=method), run.file(paths.THRESHOLDS, method=method)


@pytest.mark.parametrize("settings", [{}, {"datasets": ["far-set", "yeast"]}], ids=["as configured", "other datasets"])
def test_every_record_that_a_suite_asks_for_is_made_by_one_job_of_its_place(settings):
    project = Project.read({"papers": []} | settings, CONFIG)
    jobs = threshold_jobs(project)
    asked = 0
    for name, one in project.suites.items():
        for run in project.runs(name):
            for method in (*one.methods, *one.measure_methods):
                for path in both(run, method):
                    (maker,) = makers(jobs, path)
                    assert maker == f"thresholds_{name if one.own else 'papers'}_{run.model}"
                    asked += 1
    assert asked > 100


def test_what_no_suite_asks_for_is_a_job_of_its_own(project, jobs):
    methods = {method for one in project.suites.values() for method in (*one.methods, *one.measure_methods)}
    for dataset in ("demo", "amazon-3m-shape", "demo-set", "yeast"):
        for model in ("plt", "oracle", "ldsm-mean", "napkinxc-plt-sgd"):
            for method in (*methods, UNASKED):
                path = f"results/{dataset}/{model}/seed3/80/evaluation/{method}.json"
                assert len(makers(jobs, path)) == 1, path
            path = f"results/{dataset}/{model}/seed3/80/thresholds/{UNASKED}"
            assert makers(jobs, path) == ["thresholds_anywhere"]
    assert makers(jobs, "results/demo/nobody/seed0/80/evaluation/fta.json") == []


def test_of_a_model_that_two_papers_have_the_methods_of_both_are_one_job(tmp_path):
    shared = {"shared": {}}
    project = project_of(
        tmp_path,
        a=suite(shared | {"own": {}}, methods=["fta", "sto"]),
        b=suite(shared, methods=["sto", "ofo"], measures=["macro-f"], peers={"peer": {}}),
        demo=suite(shared, datasets=["made"], methods=["ofo-ab"]),
    )
    anywhere, *configured = threshold_jobs(project)
    found = {job.name: (job.methods, job.models) for job in configured}
    assert found == {
        "thresholds_papers_shared": (["fta", "sto", "ofo", "for-macro-f"], ["shared"]),
        "thresholds_papers_own": (["fta", "sto"], ["own"]),
        "thresholds_papers_peer": (["sto", "ofo"], ["peer"]),  # what the table of peers shows, of what b has
        "thresholds_demo_shared": (["ofo-ab"], ["shared"]),
    }
    assert anywhere.models == list(project.models)
    for dataset, method, maker in (
        ("made", "ofo-ab", "demo_shared"),
        ("made", "fta", "anywhere"),
        ("yeast", "ofo-ab", "anywhere"),
    ):
        path = f"results/{dataset}/shared/seed0/80/evaluation/{method}.json"
        assert makers([anywhere, *configured], path) == [f"thresholds_{maker}"]


def test_label_sets_are_inferred_by_one_job_beside_thresholds_where_they_can(tmp_path):
    infer = {"portion": "80", "methods": {"plt": ["gfm"], "bare": ["h"]}}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}, "other": {}}, methods=["fta"]),
        b=suite({"plt": {}, "bare": {}}, inference=infer),
        demo=suite({"plt": {}}, datasets=["made"], methods=["fta"]),
    )
    # Thresholds of `plt` are another suite's than its inference; of `bare` there are none; the demo infers nothing.
    jobs = threshold_jobs(project)
    assert {job.name: job.inference and job.inference.methods for job in jobs[1:]} == {
        "thresholds_papers_plt": ["gfm"],
        "thresholds_papers_other": None,
        "thresholds_papers_bare": ["h"],
        "thresholds_demo_plt": None,
    }
    records = {"yeast/plt": "gfm", "made/plt": "gfm", "yeast/bare": "h", "yeast/other": "gfm"}
    found = [makers(jobs, f"results/{run}/seed0/80/inference/{method}.json") for run, method in records.items()]
    assert found == [["thresholds_papers_plt"], [], ["thresholds_papers_bare"], []]


def test_quick_models_are_one_job_for_all_seeds_that_suites_have(tmp_path):
    quick = {"quick": True}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}, "fast": quick, "both": quick}, seeds=[0, 1]),
        b=suite({"both": quick}, seeds=[3], peers={"peer": quick}),
    )
    jobs = quick_jobs(project)
    expected = (["fast"], [0, 1], "_of_2_seeds"), (["both"], [0, 1, 3], "_of_3_seeds"), (["peer"], [3], "_of_1_seed")
    assert jobs == [SeedJob(*job) for job in expected]
    assert jobs[0].of(paths.RANKING) == [paths.RANKING.of(seed=0), paths.RANKING.of(seed=1)]
    assert (jobs[0].seeds_of({"dataset": "yeast"}), jobs[0].seed) == (["0", "1"], "s")
    single = one_seed(project)
    assert single.of(paths.RANKING) == [paths.RANKING]
    assert (single.seeds_of({"seed": "7"}), single.seed, single.suffix) == (["7"], "{seed}", "")


def test_inference_from_a_model_is_one_job_for_each_portion(tmp_path):
    infer = {"portion": "80", "methods": {"plt": ["gfm", "h"]}}
    full = {"portion": "full", "methods": {"plt": ["h"]}, "time_limit": 60, "samples": 9}
    project = project_of(
        tmp_path,
        a=suite({"plt": {}}, inference=infer),
        b=suite({"plt": {}}, inference=infer | {"methods": {"plt": ["meuf", "h"]}}),
        c=suite({"plt": {}}, inference=full),
    )
    assert inference_jobs(project, "80") == {"plt": InferenceJob("plt", "80", 200, None, ["gfm", "h", "meuf"])}
    (model,) = inference_jobs(project, "full").values()
    assert model == InferenceJob("plt", "full", 9, 60, ["h"])
    assert model.options("--method") == ["--method", "h", "--time-limit", "60"]
    assert InferenceJob("plt", "full", 9, 0, []).options("--method") == ["--time-limit", "0"]
    assert model.records == ["results/{dataset}/{model}/seed{seed}/full/inference/h.json"]


def test_every_inference_that_a_suite_asks_for_is_in_one_job(project):
    for one in project.suites.values():
        for model, methods in one.inference.methods.items() if one.inference else ():
            job = inference_jobs(project, one.inference.portion)[model]
            assert set(methods) <= set(job.methods)
            assert len(set(job.methods)) == len(job.methods)


def test_inference_that_contradicts_is_refused(tmp_path):
    infer = {"portion": "full", "methods": {"plt": ["h"]}}
    with pytest.raises(XmlcError, match="config: a infers from plt, which is none of its models"):
        inference_jobs(project_of(tmp_path, a=suite({"br": {}}, inference=infer)), "full")
    for other in ({"samples": 50}, {"time_limit": 5}):
        project = project_of(
            tmp_path, a=suite({"plt": {}}, inference=infer), b=suite({"plt": {}}, inference=infer | other)
        )
        with pytest.raises(XmlcError, match="b infers from plt with other samples or time limit than another"):
            inference_jobs(project, "full")


def test_options_of_several_runs_stand_in_turn():
    assert each(seed=[0, 2], out=["a", "b"]) == ["--seed", "0", "--out", "a", "--seed", "2", "--out", "b"]
    with pytest.raises(ValueError, match="shorter"):
        each(seed=[0, 2], out=["a"])
