"""What a run says that it costs."""

import pytest
from suite_cases import project_of, suite

from xmlc.papers import price
from xmlc.papers.price import Job, jobs_of, price_of, told

SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 135909, "n_labels": 670091, "nonzeros": 77}
MODELS = {"plt": {"hyperparameters": {"tree": "random"}}, "swnn": {"estimator": "swnn"}}
SETS = {"large": {"synthetic": SHAPE}, "small": {"synthetic": SHAPE | {"n_train": 500, "n_test": 100, "n_labels": 20}}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = suite(MODELS, datasets=["large", "small"], seeds=[0, 1], tables=["table1"])
    return project_of(tmp_path / "config", catalogue=SETS, plt2016=known)


def test_jobs_are_those_that_lead_to_the_tables(project):
    jobs = jobs_of(project, ["plt2016"])
    assert {job.step for job in jobs} == {"train", "rank"}
    assert len(jobs) == 16
    assert jobs[Job("train", "large", "plt", "0", "full")] == jobs[Job("train", "large", "plt", "1", "full")]


def test_dropped_models_are_on_disk_one_at_a_time_and_kept_ones_together(project):
    jobs = jobs_of(project, ["plt2016"])
    plt, swnn = (jobs[Job("train", "large", name, "0", "full")].disk for name in ("plt", "swnn"))
    assert plt > swnn
    none, usual = (price_of(project, [], jobs, drop_all).disk for drop_all in (True, False))
    assert none == plt
    small = sum(each.disk for job, each in jobs.items() if job.dataset == "small")
    assert usual == pytest.approx(plt + small)


def test_what_does_not_fit_is_named_with_settings_that_fit(project, monkeypatch):
    monkeypatch.setattr(price, "machine_memory", lambda: 2.2e9)
    monkeypatch.setattr(price, "free_disk", lambda: 1e12)
    said = told(project, ["plt2016"])
    assert "memory here 2 GB, free disk 1,000 GB: too large on 1 pairs" in said
    assert "\n  large: " in said
    assert said.endswith("what fits better: --config models='{large: [plt]}'")
    monkeypatch.setattr(price, "machine_memory", lambda: 64e9)
    assert told(project, ["plt2016"]).endswith("it fits")
    monkeypatch.setattr(price, "free_disk", lambda: 1e6)
    assert told(project, ["plt2016"]).endswith("what fits better: --config keep_models=false")
