"""Test cost estimates of runs, and what is said about a run that does not fit a machine."""

import pytest
from facts import absent
from suite_cases import project_of, suite

from xmlc.suite.config.run_costs import Job, Machine, cost_report, disk_of, estimate, job_of, with_threads
from xmlc.suite.papers.plan import outputs_of_dataset

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
        for written in ("model", "ranking"):
            made += [ranking.replace("ranking.json", written) for ranking in rankings]
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
        ("big/plt/seed1/80/temporary", ("estimate", "big", "plt", "1", "80")),
        ("big/plt/seed1/full/temporary", ("train", "big", "plt", "1", "full")),
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
    scored = [path for path in all_outputs(project) if path.endswith("ranking.json")]
    assert scored != []
    assert estimate(project, scored) == {}
    assert jobs[Job("train", "big", "plt", "0", "full")] == jobs[Job("train", "big", "plt", "1", "full")]
    assert estimate(project, ["results/tables/plt2016/table1.csv", "results/nobody-knows/plt/seed0/full/model"]) == {}


def test_disk_estimate_counts_largest_dropped_model_or_all_kept_models(project):
    jobs = estimate(project, all_outputs(project))
    plt, swnn = (jobs[Job("train", "big", name, "0", "full")].disk for name in ("plt", "swnn"))
    assert plt > swnn
    assert disk_of(project, [], jobs, drop_all=True) == plt
    small = sum(each.disk for job, each in jobs.items() if job.dataset == "little")
    assert disk_of(project, [], jobs) == pytest.approx(plt + small)


def test_disk_estimate_counts_one_model_of_a_search(project):
    jobs = estimate(project, ["results/big/tuning/plt.json", "results/big/tuning/swnn.json"])
    assert disk_of(project, [], jobs) == max(each.disk for each in jobs.values()) > 0


def faults(project, machine):
    """Return the lines of the report after the table of datasets and the line about the machine."""
    lines = cost_report(project, all_outputs(project), machine).splitlines()
    place = next(place for place, line in enumerate(lines) if "threads=" in line)
    return lines[place + 1 :]


def test_too_little_memory_names_the_largest_job_and_a_setting(project):
    jobs = estimate(project, all_outputs(project))
    largest = max(jobs, key=lambda job: jobs[job].memory)
    (line,) = faults(project, ENOUGH._replace(memory=1.8e9))
    needed = f"{jobs[largest].memory / 1e9:.1f} GB"
    name = f"{largest.step} {largest.model} on {largest.dataset}"
    assert absent(line, "memory", name, needed, "1.8 GB", "datasets", "models") == []
    assert absent(line, "disk", "keep_models", "threads") == ["disk", "keep_models", "threads"]


def test_fewer_threads_are_advised_if_forests_then_fit(tmp_path):
    project = project_in(tmp_path, {"fastxml": {"estimator": "fastxml"}}, ["big"], {"tuning": None})
    made, peak = all_outputs(project), {}
    for threads in (1, 8):
        jobs = estimate(with_threads(project, threads), made)
        peak[threads] = max(each.memory for each in jobs.values())
    assert peak[8] > 1.2 * peak[1]
    (line,) = faults(project, Machine(8, 1.1 * peak[1], 1e12))
    assert absent(line, "memory", "fastxml on big", "threads") == []
    (line,) = faults(project, Machine(8, 0.9 * peak[1], 1e12))
    assert absent(line, "threads") == ["threads"]


def test_too_little_disk_has_one_figure_and_a_setting(project):
    """The figure does not depend on the number of jobs at once, because only one large model is on the disk."""
    made, jobs = all_outputs(project), estimate(project, all_outputs(project))
    kept, dropped = (disk_of(project, ["big", "little"], jobs, drop_all) for drop_all in (False, True))
    (line,) = faults(project, ENOUGH._replace(disk=(kept + dropped) / 2))
    assert absent(line, "disk", f"{kept / 1e9:.1f} GB", "keep_models") == []
    (line,) = faults(project, ENOUGH._replace(disk=1e6))
    assert absent(line, f"{kept / 1e9:.1f} GB", "datasets", "models", "keep_models") == ["keep_models"]
    for machine in (ENOUGH, ENOUGH._replace(processors=64)):
        every = next(line for line in cost_report(project, made, machine).splitlines() if line.startswith("all "))
        assert float(every.split()[2]) == pytest.approx(kept / 1e9, rel=0.5)  # The table rounds to one digit.


def test_memory_and_disk_have_a_line_each_and_no_file_is_written(project, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    assert [line.split(":")[0] for line in faults(project, Machine(2, 1.8e9, 1e6))] == [
        "too little memory",
        "too little disk",
    ]
    assert sorted(tmp_path.rglob("*")) == before


def test_report_has_a_line_per_dataset(project):
    made = all_outputs(project)
    *lines, machine, last = cost_report(project, made, ENOUGH).splitlines()
    assert [line.split()[0] for line in lines] == ["dataset", "big", "little", "all"]
    assert "threads=2" in machine
    assert "fits" in last
    assert len(cost_report(project, ["results/big/plt/seed0/full/model"], ENOUGH).splitlines()) == 3
    assert cost_report(project, ["results/big/data"], ENOUGH, ["a remark"]) == "a remark"


@pytest.mark.parametrize(("datasets", "rest"), [(["mine"], []), (["mine", "little"], ["little:"])])
def test_dataset_of_unknown_size_is_named_and_not_counted(tmp_path, datasets, rest):
    project = project_in(tmp_path, datasets=datasets)
    first, *others = cost_report(project, all_outputs(project), ENOUGH).splitlines()
    assert first.endswith(": mine")
    assert [line.split()[0] for line in others[:-2]] == rest
    assert "mine" not in "".join(others)
