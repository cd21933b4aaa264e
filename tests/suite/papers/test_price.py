"""What a run says that it costs."""

import pytest
from suite_cases import project_of, suite

from xmlc.suite.papers import price
from xmlc.suite.papers.plan import outputs_of_dataset
from xmlc.suite.papers.price import Job, disk_of, jobs_of, told

SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {"plt": {"hyperparameters": {"tree": "random", "weight_cut": None}}, "swnn": {"estimator": "swnn"}}
SETS = {"big": {"synthetic": SHAPE}, "little": {"synthetic": SHAPE | {"n_train": 500, "n_test": 100, "n_labels": 20}}}


def everything(project):
    """Return the paths that all jobs of the tables write, where nothing is there yet."""
    made = set()
    for dataset in {name for paper in project.suites for name in project.datasets_of(paper)}:
        rankings = outputs_of_dataset(project, dataset)
        made |= {f"results/{dataset}/data", f"resources/{dataset}", *rankings}
        made |= {ranking.replace("ranking.json", "model") for ranking in rankings}
    return made


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = suite(MODELS, datasets=["big", "little"], seeds=[0, 1], tables=["table1"])
    return project_of(tmp_path / "config", catalogue=SETS, plt2016=known)


def test_jobs_are_those_that_lead_to_the_tables(project):
    jobs = jobs_of(project, everything(project))
    assert {job.step for job in jobs} == {"train", "rank"}
    assert len(jobs) == 16
    assert jobs[Job("train", "big", "plt", "0", "full")] == jobs[Job("train", "big", "plt", "1", "full")]


def test_dropped_models_are_on_disk_one_at_a_time_and_kept_ones_together(project):
    jobs = jobs_of(project, everything(project))
    plt, swnn = (jobs[Job("train", "big", name, "0", "full")].disk for name in ("plt", "swnn"))
    assert plt > swnn
    none, usual = (disk_of(project, [], jobs, 1, drop_all) for drop_all in (True, False))
    assert none == plt
    assert disk_of(project, [], jobs, 2, drop_all=True) == 2 * plt  # of two seeds
    small = sum(each.disk for job, each in jobs.items() if job.dataset == "little")
    assert usual == pytest.approx(plt + small)


def test_what_does_not_fit_is_named_with_settings_that_fit(project, monkeypatch):
    monkeypatch.setattr(price, "machine_memory", lambda: 1.8e9)
    monkeypatch.setattr(price, "free_disk", lambda: 1e12)
    said = told(project, everything(project), 2)
    assert "memory here 2 GB, free disk 1,000 GB: too large on 1 pairs" in said
    assert "\n  big: " in said
    assert said.endswith("add to --config: models='{big: [plt]}'")
    monkeypatch.setattr(price, "machine_memory", lambda: 64e9)
    assert told(project, everything(project), 2).endswith("it fits")
    jobs = jobs_of(project, everything(project))
    kept, dropped = (disk_of(project, ["big", "little"], jobs, 1, drop_all) for drop_all in (False, True))
    monkeypatch.setattr(price, "free_disk", lambda: (kept + dropped) / 2)
    assert told(project, everything(project), 2).endswith("add to --config: keep_models=false")


def test_where_nothing_fits_the_largest_datasets_are_named(project, monkeypatch):
    monkeypatch.setattr(price, "machine_memory", lambda: 64e9)
    jobs = {job: each for job, each in jobs_of(project, everything(project)).items() if job.dataset == "little"}
    monkeypatch.setattr(price, "free_disk", lambda: 1.1 * disk_of(project, ["little"], jobs, 1))
    said = told(project, everything(project), 2)
    assert said.endswith("\nnothing fits: leave out big; add to --config: datasets='[little]'")
    monkeypatch.setattr(price, "free_disk", lambda: 1e3)
    assert "\nnothing fits: free " in told(project, everything(project), 2)


def test_models_that_searches_and_sweeps_try_are_on_disk_for_a_while(project):
    made = ["results/big/tuning/plt.json", *(f"results/big/plt/seed{i}/full/sweeps/a/b.json" for i in (0, 1))]
    jobs = jobs_of(project, made)
    largest = sorted(each.disk for each in jobs.values())[-2:]
    assert disk_of(project, [], jobs, 1) == largest[-1] > 0
    assert disk_of(project, [], jobs, 8) == sum(largest)


def test_only_the_jobs_that_would_run_cost_something(project):
    folder = "results/big/plt/seed1"
    assert told(project, {"results/tables/plt2016/table1.csv", "results/big/data"}, 2) == ""
    made = {f"{folder}/full/model", f"{folder}/full/train.json", f"{folder}/full/ranking.json"}
    both = {Job("train", "big", "plt", "1", "full"), Job("rank", "big", "plt", "1", "full")}
    assert jobs_of(project, made).keys() == both
    lines = told(project, made, 2).splitlines()
    assert [line.split()[0] for line in lines] == ["price", "big", "foretold"]
    held_out = {f"{folder}/80/{name}" for name in ("spe", "evaluation", "thresholds", "calibration.json", "inference")}
    others = {"results/big/tuning/plt.json", f"{folder}/full/sweeps/a/b.json", f"{folder}/full/forest.json"}
    steps = {job.step for job in jobs_of(project, held_out | others)}
    assert steps == {"estimate", "thresholds", "infer", "tune", "sweep", "forest"}


def test_each_dataset_has_a_line_and_all_together_one(project):
    lines = told(project, everything(project), 2).splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["price", "big", "little", "all"]


def test_fewer_threads_are_proposed_where_forests_fit_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = {"plt": {}, "fastxml": {"estimator": "fastxml"}}
    known = suite(models, datasets=["big"], tables=["table1"])
    project = project_of(tmp_path / "config", {"tuning": None}, catalogue=SETS, plt2016=known)
    one, eight = (told(project, everything(project), processors) for processors in (1, 8))
    assert "with threads=1" in one
    assert "with threads=8" in eight
    peak = {}
    for threads in (1, 8):
        jobs = jobs_of(price._on(project, threads), everything(project))
        peak[threads] = max(each.memory for job, each in jobs.items() if job.model == "fastxml")
    assert peak[8] > 1.5 * peak[1]
    monkeypatch.setattr(price, "machine_memory", lambda: 1.1 * peak[1])
    said = told(project, everything(project), 8)
    assert said.endswith("add to --config: threads=1 models='{big: [fastxml]}'")
    assert "--config: models=" in told(project, everything(project), 1)


def test_what_the_models_of_the_settings_leave_out_stays_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(price, "machine_memory", lambda: 1.8e9)
    known = suite(MODELS | {"fastxml": {"estimator": "fastxml"}}, datasets=["big", "little"], tables=["table1"])
    project = project_of(tmp_path / "config", {"models": ["plt", "swnn"]}, catalogue=SETS, plt2016=known)
    assert told(project, everything(project), 2).endswith("models='{big: [plt], little: [plt, swnn]}'")


def test_a_set_of_unknown_size_is_named_and_not_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = SETS | {"mine": {"source": "mirror"}}
    for datasets in (["mine"], ["mine", "little"]):
        known = suite(MODELS, datasets=datasets, tables=["table1"])
        project = project_of(tmp_path / "config", catalogue=catalogue, plt2016=known)
        lines = told(project, everything(project), 2).splitlines()
        assert lines[0] == "price not known before preparation, and not counted: mine"
        assert len(lines) == (1 if datasets == ["mine"] else 4)
        assert "mine" not in "".join(lines[1:])
