"""Test cost estimates of runs, and how runs are reduced to fit a machine."""

import pytest
from suite_cases import project_of, suite

from xmlc.suite.config.run_costs import (
    BETTER_SETTINGS,
    Job,
    Machine,
    choose,
    cost_report,
    disk_of,
    estimate,
    job_of,
    save_settings,
    with_threads,
)
from xmlc.suite.papers.plan import outputs_of_dataset
from xmlc.suite.schemas import read_yaml

SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {"plt": {"hyperparameters": {"tree": "random", "weight_threshold": None}}, "swnn": {"estimator": "swnn"}}
SETS = {"big": {"synthetic": SHAPE}, "little": {"synthetic": SHAPE | {"n_train": 500, "n_test": 100, "n_labels": 20}}}
SETS |= {"mine": {"source": "mirror"}}
ENOUGH = Machine(2, 64e9, 1e12)


def project_in(folder, models=MODELS, datasets=("big", "little"), settings=None):
    known = suite(models, datasets=list(datasets), seeds=[0, 1], tables=["table1"])
    return project_of(folder / "config", settings, catalogue=SETS, plt2016=known)


def all_outputs(project):
    """Return the paths that all jobs of the tables write in an empty folder."""
    made = []
    for dataset in project.datasets_of("plt2016"):
        rankings = outputs_of_dataset(project, dataset)
        made += [f"results/{dataset}/data", f"resources/{dataset}", *rankings]
        made += [ranking.replace("ranking.json", "model") for ranking in rankings]
    return made


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def project(tmp_path):
    return project_in(tmp_path)


@pytest.mark.parametrize(
    ("path", "job"),
    [
        ("big/plt/seed1/full/model", ("train", "big", "plt", "1", "full")),
        ("big/plt/seed1/full/train.json", ("train", "big", "plt", "1", "full")),
        ("big/plt/seed1/80/spe", ("estimate", "big", "plt", "1", "80")),
        ("big/plt/seed1/80/evaluation/sto.json", ("thresholds", "big", "plt", "1", "80")),
        ("big/plt/seed1/80/calibration.json", ("thresholds", "big", "plt", "1", "80")),
        ("big/plt/seed1/80/inference", ("infer", "big", "plt", "1", "80")),
        ("big/plt/seed1/full/sweeps/a/b.json", ("sweep", "big", "plt", "1", "full", "a", "b")),
        ("big/tuning/plt.json", ("tune", "big", "plt")),
        ("big/plt/seed1/full/mine.json", None),
        ("big/data", None),
    ],
)
def test_job_is_identified_by_its_outputs(path, job):
    assert job_of(f"results/{path}") == (job and Job(*job))


def test_each_job_of_a_model_is_estimated_once(project):
    jobs = estimate(project, all_outputs(project))
    assert {job.step for job in jobs} == {"train", "rank"}
    assert len(jobs) == 16
    assert jobs[Job("train", "big", "plt", "0", "full")] == jobs[Job("train", "big", "plt", "1", "full")]
    assert estimate(project, ["results/tables/plt2016/table1.csv", "results/nobody-knows/plt/seed0/full/model"]) == {}


def test_disk_estimate_counts_largest_dropped_model_or_all_kept_models(project):
    jobs = estimate(project, all_outputs(project))
    plt, swnn = (jobs[Job("train", "big", name, "0", "full")].disk for name in ("plt", "swnn"))
    assert plt > swnn
    assert disk_of(project, [], jobs, 1, drop_all=True) == plt
    assert disk_of(project, [], jobs, 2, drop_all=True) == 2 * plt  # The models of two seeds are on disk.
    small = sum(each.disk for job, each in jobs.items() if job.dataset == "little")
    assert disk_of(project, [], jobs, 1) == pytest.approx(plt + small)


def test_disk_estimate_counts_one_model_of_a_search(project):
    jobs = estimate(project, ["results/big/tuning/plt.json", "results/big/tuning/swnn.json"])
    first, last = sorted(each.disk for each in jobs.values())
    assert disk_of(project, [], jobs, 1) == last > 0
    assert disk_of(project, [], jobs, 8) == first + last


def test_jobs_that_exceed_memory_are_left_out(project):
    small = choose(project, made := all_outputs(project), ENOUGH._replace(memory=1.8e9))
    assert list(small.too_large) == [("big", "swnn")]
    assert small.settings == {"models": {"big": ["plt"]}}
    enough = choose(project, made, ENOUGH)
    assert (enough.too_large, enough.left_out, enough.settings) == ({}, [], {})


def test_small_disk_drops_models_first_and_datasets_second(project):
    made, jobs = all_outputs(project), estimate(project, all_outputs(project))
    kept, dropped = (disk_of(project, ["big", "little"], jobs, 1, drop_all) for drop_all in (False, True))
    found = choose(project, made, ENOUGH._replace(disk=(kept + dropped) / 2))
    assert (found.disk, found.least_disk, found.settings) == (kept, dropped, {"keep_models": False})
    little = {job: each for job, each in jobs.items() if job.dataset == "little"}
    found = choose(project, made, ENOUGH._replace(disk=1.1 * disk_of(project, ["little"], little, 1)))
    assert (found.left_out, found.fits_nothing, found.settings) == (["big"], False, {"models": {"big": []}})
    assert choose(project, made, ENOUGH._replace(disk=1e3)).fits_nothing


def test_fewer_threads_are_proposed_if_forests_then_fit(tmp_path):
    project = project_in(tmp_path, {"plt": {}, "fastxml": {"estimator": "fastxml"}}, ["big"], {"tuning": None})
    made, peak = all_outputs(project), {}
    for threads in (1, 8):
        jobs = estimate(with_threads(project, threads), made)
        peak[threads] = max(each.memory for job, each in jobs.items() if job.model == "fastxml")
    assert peak[8] > 1.5 * peak[1]
    found = choose(project, made, Machine(8, 1.1 * peak[1], 1e12))
    assert found.settings == {"threads": 1, "models": {"big": ["fastxml"]}}
    assert list(choose(with_threads(project, 1), made, Machine(1, 1.1 * peak[1], 1e12)).settings) == ["models"]


def test_models_left_out_by_settings_stay_out(tmp_path):
    models = MODELS | {"fastxml": {"estimator": "fastxml"}}
    project = project_in(tmp_path, models, settings={"models": ["plt", "swnn"]})
    found = choose(project, all_outputs(project), ENOUGH._replace(memory=1.8e9))
    assert found.settings == {"models": {"big": ["plt"], "little": ["plt", "swnn"]}}


def test_report_has_a_line_per_dataset_and_the_settings(project):
    report, settings = cost_report(project, made := all_outputs(project), ENOUGH)
    *lines, last = report.splitlines()
    assert [line.split()[0] for line in lines] == ["dataset", "big", "little", "all"]
    assert "threads=2" in last
    assert settings == {}
    small = ENOUGH._replace(memory=1.8e9)
    report, settings = cost_report(project, made, small)
    assert report.endswith(f"--configfile {BETTER_SETTINGS}")
    assert settings == choose(project, made, small).settings
    assert cost_report(project, made, ENOUGH._replace(disk=1e3))[1] == {}
    assert len(cost_report(project, ["results/big/plt/seed0/full/model"], ENOUGH)[0].splitlines()) == 2
    assert cost_report(project, ["results/big/data"], ENOUGH, ["a remark"]) == ("a remark", {})


def test_better_settings_are_a_file_of_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_settings({})
    assert not list(tmp_path.iterdir())
    save_settings(settings := {"datasets": ["little"], "models": {"big": ["plt"]}, "keep_models": False})
    assert read_yaml(tmp_path / BETTER_SETTINGS) == settings


@pytest.mark.parametrize(("datasets", "rest"), [(["mine"], []), (["mine", "little"], ["little:"])])
def test_dataset_of_unknown_size_is_named_and_not_counted(tmp_path, datasets, rest):
    project = project_in(tmp_path, datasets=datasets)
    first, *others = cost_report(project, all_outputs(project), ENOUGH)[0].splitlines()
    assert first.endswith(": mine")
    assert [line.split()[0] for line in others[:-1]] == rest
    assert "mine" not in "".join(others)
