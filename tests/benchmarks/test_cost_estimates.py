"""Test that measured costs of jobs are compared with the estimates of their plan."""

import json

from benchmarks.cost_estimates import Job, jobs_of, lines_of, ratios
from xmlc.suite.config.job_costs import cost_of
from xmlc.suite.config.project import Project


def record(folder, name, step):
    folder.mkdir(parents=True, exist_ok=True)
    given = {"dataset": "bibtex", "model": "plt", "split": "80", "written_bytes": None, "cpu_seconds": 2.0}
    (folder / f"{name}.json").write_text(json.dumps({"step": given | {"peak_bytes": 3e8} | step}))


def test_records_of_methods_form_one_job(tmp_path):
    run = tmp_path / "bibtex/plt/seed0/80"
    record(run, "train", {"name": "train", "written_bytes": 500})
    record(run / "evaluation", "fta", {"name": "evaluate"})
    record(run, "calibration", {"name": "calibrate", "cpu_seconds": 1.0})
    record(run / "evaluation", "sto", {"name": "evaluate", "cpu_seconds": 3.0, "peak_bytes": 4e8})
    record(tmp_path / "bibtex", "statistics", {"name": "prepare", "model": None})
    project = Project.read({"papers": ["plt2016"]})
    train, thresholds = sorted(jobs_of(project, tmp_path), key=lambda job: job.step, reverse=True)
    assert (thresholds.seconds, thresholds.peak, thresholds.disk) == (6.0, 4e8, 0)
    assert (train.seconds, train.peak, train.disk) == (2.0, 3e8, 500)
    estimated = cost_of(project, "thresholds", {"dataset": "bibtex", "model": "plt", "split": "80"})
    assert (thresholds.seconds_estimated, thresholds.peak_estimated) == estimated[:2]


def test_ratios_omit_small_and_unmeasured_jobs():
    assert ratios([(10.0, 20.0), (10.0, 5.0), (1.0, 9.0), (0.0, 30.0), (20.0, 20.0)], 10.0) == "0.50 1.00 2.00"
    assert ratios([(1.0, 2.0)], 10.0) == "-"


def test_table_has_line_per_step_and_total():
    train, total = lines_of([Job("train", "bibtex", "plt", 7200.0, 2e9, 4e9, 3600.0, 3e9, 2e9)])[-2:]
    assert train.split() == ["train", "1", "2.00", "1.00", "2.0", "3.0", *["0.50"] * 3, *["1.50"] * 3, *["0.50"] * 3]
    assert total.split()[1:] == train.split()[1:]
