"""Test what jobs request, and the estimate of a run's costs, with a small table of costs."""

from pathlib import Path

import pytest
import yaml
from facts import absent, raises_with
from repository import ROOT
from suite_cases import project_of, suite

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.costs import (
    LONGEST,
    MEMORY_MARGIN,
    PROCESS,
    SHORTEST,
    TIME_MARGIN,
    UNKNOWN,
    Cost,
    Costs,
    Job,
    job_of,
)
from xmlc.suite.config.project import Project
from xmlc.suite.papers.plan import outputs_of_dataset, records_of, steps_of

SHAPE = {"n_train": 490449, "n_test": 153025, "n_features": 100, "n_labels": 670091, "nonzeros": 77}
LITTLE = SHAPE | {"n_train": 500, "n_test": 100, "n_labels": 20}
CATALOGUE = {
    "big": {"synthetic": SHAPE},
    "little": {"synthetic": LITTLE},
    "double": {"synthetic": SHAPE | {"n_train": 2 * 490449, "n_test": 2 * 153025}},
    "limited": {"synthetic": SHAPE, "memory": 7000, "runtime": 90},
    "mine": {"source": "mirror"},
}
TABLE = """dataset,model,step,seconds,memory_mb,disk_mb
big,,download,0,800,400
big,,prepare,20,2800,1000
big,plt,train,7200,5800,30000
big,plt,rank,600,9800,0
big,plt,estimate,60,9800,2000
big,swnn,train,60,4800,100
big,swnn,rank,3600,4800,0
big,swnn,tune,60,900,50
little,,prepare,3,900,1
little,plt,train,3,900,5
little,plt,rank,3,900,0
little,swnn,train,3,900,2
little,swnn,rank,3,900,0
"""
MODELS = {"plt": {}, "swnn": {"estimator": "swnn"}}
OTHERS = {"other": {"estimator": "plt"}, "own": {"estimator": "mine.py:Mine"}}
ENOUGH = (64e3, 1e6)


def costs_in(folder, datasets=("big", "little"), models=MODELS, settings=None):
    known = suite(models, datasets=[*datasets], seeds=[0, 1], tables=["table1"])
    project = project_of(folder / "config", settings, catalogue=CATALOGUE, plt2016=known)
    (folder / "config/costs.csv").write_text(TABLE)
    return Costs.read(project)


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("class Mine:\n    fit = predict_proba = print\n")


@pytest.fixture
def costs(tmp_path):
    return costs_in(tmp_path, models=MODELS | OTHERS)


def all_outputs(project):
    """Return the paths that all jobs of the tables write in an empty folder."""
    made = []
    for dataset in project.datasets_of("plt2016"):
        rankings = outputs_of_dataset(project, dataset)
        made += [f"results/{dataset}/data", f"resources/{dataset}", *rankings]
        made += [ranking.replace("ranking.json", "model") for ranking in rankings]
    return made


# Maps a path to the arguments of its job.
JOBS = {
    "results/big/plt/seed1/full/model": "train big plt 1 full",
    "results/big/plt/seed1/full/train.json": "train big plt 1 full",
    "results/big/plt/seed1/full/temporary": "train big plt 1 full",
    "results/big/plt/seed1/80/spe": "estimate big plt 1 80",
    "results/big/plt/seed1/80/temporary": "estimate big plt 1 80",
    "results/big/plt/seed1/80/evaluation/sto.json": "thresholds big plt 1 80",
    "results/big/plt/seed1/80/calibration.json": "thresholds big plt 1 80",
    "results/big/plt/seed1/80/inference": "infer big plt 1 80",
    "results/big/plt/seed1/full/sweeps/a/b.json": "sweep big plt 1 full sweeps/a/b.json",
    "results/big/tuning/plt.json": "tune big plt",
    "results/big/data": "prepare big",
    "resources/big": "download big",
}


def test_job_is_identified_by_its_outputs():
    for path, job in JOBS.items():
        assert job_of(path) == Job(*job.split()), path
    assert job_of("results/big/plt/seed1/full/mine.json") is None
    assert job_of("results/tables/plt2016/table1.csv") is None


def request(costs, steps, dataset="big", **wildcards):
    return costs.request(steps.split(), {"dataset": dataset, "model": "plt"} | wildcards)


def test_requests_are_costs_of_the_row_with_a_margin(costs):
    train = MEMORY_MARGIN * 5800
    rank = MEMORY_MARGIN * 9800
    assert request(costs, "train") == (train, SHORTEST + TIME_MARGIN * 120)
    assert request(costs, "train rank") == (rank, SHORTEST + TIME_MARGIN * 130)
    assert request(costs, "train " * 100) == (train, LONGEST)
    assert costs.request(["prepare"], {"dataset": "big"}) == (MEMORY_MARGIN * 2800, SHORTEST + 1)
    # The dataset's own values take precedence.
    assert request(costs, "train rank", "limited") == (7000, 90)


# A model without rows has those of its estimator, and a dataset without rows those of the nearest
# one times its size. A model of 80 % costs less.
SCALED = {
    "double plt": (2 * 7200, PROCESS + 2 * 5000, 2 * 30000),
    "double other": (2 * 7200, PROCESS + 2 * 5000, 2 * 30000),
    "big plt 0 80": (0.8 * 7200, PROCESS + 0.8 * 5000, 0.8 * 30000),
}


@pytest.mark.parametrize("job", SCALED)
def test_costs_are_scaled_by_bytes_and_share_of_the_training_set(costs, job):
    assert costs.of(Job("train", *job.split())) == pytest.approx(SCALED[job])
    assert request(costs, "train", split="80")[0] == MEMORY_MARGIN * (PROCESS + 0.8 * 5000)


def test_a_search_that_the_settings_request_costs_its_trainings(tmp_path):
    settings = {"tuning": {"method": "random", "budget": 7}}
    costs = costs_in(tmp_path, settings=settings)
    assert costs.of(Job("tune", "big", "swnn")) == Cost(7 * 60, 4800, 100)
    assert costs_in(tmp_path).of(Job("tune", "big", "swnn")) == Cost(60, 900, 50)


@pytest.mark.parametrize(("dataset", "model"), [("big", "own"), ("mine", "plt")])
def test_a_job_without_a_row_or_a_size_has_a_default_request_and_is_named(costs, dataset, model):
    assert costs.of(Job("train", dataset, model)) is None
    found = request(costs, "train", dataset, model=model)
    assert found == (MEMORY_MARGIN * UNKNOWN.memory, 210)
    made = [f"results/{dataset}/{model}/seed{seed}/full/model" for seed in (0, 1)]
    *_, last = costs.report([*made, "results/big/plt/seed0/full/model"], *ENOUGH)
    assert absent(last, "2", f"{model} on {dataset}") == []


def test_jobs_are_planned_despite_a_damaged_record(costs):
    before = request(costs, "train", "double")
    path = Path(paths.STATISTICS.of(dataset="double"))
    path.parent.mkdir(parents=True)
    path.write_text('{"d": 1836, "m":')
    assert request(costs, "train", "double") == before


@pytest.mark.parametrize(
    "row", ["big,plt,train,1,2", "big,plt,train,1,2,3,4", "big,plt,rank,a,1,1"]
)
def test_a_malformed_row_is_refused_with_its_line(costs, row):
    Path("config/costs.csv").write_text(f"{TABLE}{row}\n")
    with raises_with(XmlcError, "config/costs.csv", "line 15", row):
        Costs.read(costs.project)


def test_rows_of_a_study_extend_and_override_those_of_the_package(costs, tmp_path, monkeypatch):
    study = tmp_path / "study"
    study.mkdir()
    monkeypatch.chdir(study)
    Path("suite.yaml").touch()
    header, *_ = TABLE.splitlines()
    Path("costs.csv").write_text(f"{header}\nbibtex,plt,train,1,2,3\nmine,own,train,4,5,6\n")
    rows = Costs.read(costs.project).rows
    assert rows["plt", "train"]["bibtex"] == (1, 2, 3)
    assert rows["own", "train"] == {"mine": (4, 5, 6)}
    assert rows["plt", "train"]["delicious"].seconds > 1


def disk_of(costs, *made):
    jobs = {job: costs.of(job) for job in map(job_of, made)}
    return costs.disk({job: cost for job, cost in jobs.items() if cost})


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        (None, 1001 + 30000 + 2 * (5 + 2)),
        (True, 1001 + 2 * (30000 + 100 + 5 + 2)),
        (False, 1001 + 30000),
    ],
)
def test_disk_estimate_counts_largest_dropped_model_or_all_kept_models(tmp_path, keep, expected):
    costs = costs_in(tmp_path, settings={"keep_models": keep})
    assert disk_of(costs, *all_outputs(costs.project)) == pytest.approx(expected)


def test_disk_estimate_adds_estimates_to_a_dropped_model_and_counts_one_trial(costs):
    run = "results/big/plt/seed0/80"
    assert disk_of(costs, f"{run}/temporary", f"{run}/train.json") == 0.8 * 30000 + 2000
    assert disk_of(costs, "results/big/tuning/swnn.json", "results/big/data") == 50 + 1000


def test_report_has_sums_and_names_missing_memory_and_disk(tmp_path):
    costs = costs_in(tmp_path)
    made = all_outputs(costs.project)
    before = sorted(tmp_path.rglob("*"))
    (line,) = costs.report([path for path in made if "little" not in path], *ENOUGH)
    # 2 seeds of 7200 + 600 + 60 + 3600 s
    assert absent(line, "6 CPU hours", "31 GB of disk", "0.4 GB to download") == []
    assert absent(line, "10 GB of memory", "rank plt on big") == []
    assert costs.report(["results/big/data", "resources/big"], *ENOUGH) == []
    memory, disk = costs.report(made, 9000, 20000)[-2:]
    assert absent(memory, "memory", "9.8 GB", "9.0 GB", "datasets", "models") == []
    assert absent(disk, "disk", "31.0 GB", "20.0 GB", "keep_models") == []
    assert sorted(tmp_path.rglob("*")) == before


def test_plan_of_all_papers_fits_the_default_profile_and_200_gb(monkeypatch):
    """A job that requests more than the profile's limit would run alone, or on no machine."""
    monkeypatch.chdir(ROOT)
    settings = yaml.safe_load(Path("config/config.yaml").read_text())
    project = Project.read(settings)
    costs = Costs.read(project)
    limit = yaml.safe_load(Path("profiles/default/profile.yaml").read_text())["resources"]["mem_mb"]
    made = set()
    for paper in project.settings.papers:
        made |= {*steps_of(project, paper), *records_of(project, paper)}
    jobs = {job for job in map(job_of, made) if job}
    known = {job: costs.of(job) for job in jobs}
    assert len(known) > 400
    assert [job for job, cost in known.items() if cost is None] == []
    assert [job for job, cost in known.items() if MEMORY_MARGIN * cost.memory > limit] == []
    assert 100e3 < costs.disk(known) < 200e3
