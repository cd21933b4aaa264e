"""Test which results of a run are reported as done, missing and failed."""

import base64
import json
import os
import re
import socket
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from facts import absent, raises_with
from suite_cases import suite, write_config, write_suite

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.suite.config.runs import LastRun
from xmlc.suite.report.commands import status_command
from xmlc.suite.report.status import (
    AT_WORK,
    LONGEST,
    error_message,
    outdated_files,
    run_outcome,
)

FULL = "results/{0}/{1}/seed{2}/full/ranking.json"
TABLE = "results/tables/plt2016/table1.md"


def put(file):
    """Write a file as a step does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(stamped({})))


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Create a finished project whose only paper requests a table of rankings of one PLT on two
    datasets.
    """
    monkeypatch.chdir(tmp_path)
    datasets = ["scene", "yeast"]
    write_config(tmp_path / "config", plt2016=suite(datasets=datasets, tables=["table1"]))
    (tmp_path / "config/config.yaml").write_text("papers: [plt2016]\n")
    names = ("statistics.json", "plt/seed0/full/train.json", "plt/seed0/full/ranking.json")
    for dataset, name in product(datasets, names):
        put(tmp_path / f"results/{dataset}/{name}")
    put(tmp_path / TABLE)
    return tmp_path


def status(*options):
    return CliRunner().invoke(status_command, options)


def rows(output):
    """Return the counts of done and missing results by paper and dataset."""
    lines = [line.rsplit(maxsplit=2) for line in output.splitlines() if line.startswith("plt2016 ")]
    return {
        name.partition(" ")[2].strip(): (int(done), int(missing)) for name, done, missing in lines
    }


def test_results_are_counted_by_dataset_and_tables_together(configured):
    (configured / FULL.format("scene", "plt", 0)).unlink()
    (configured / TABLE).unlink()
    missing = status()
    assert missing.exit_code == 1
    assert rows(missing.output) == {"scene": (2, 1), "yeast": (3, 0), "tables, figures": (0, 1)}


def test_exit_status_is_0_only_for_complete_runs(configured):
    done = status()
    assert done.exit_code == 0, done.output
    assert absent(done.output, "plt2016", "7 of 7") == []
    assert status("seeds=[0, 1]").exit_code == 1
    assert status("datasets=[scene]").exit_code == 0
    # No dataset is large, so that no result is planned.
    assert status("datasets=large").exit_code == 0


def write_log(name, text="xmlc: error: x\n"):
    log = Path(f"logs/{name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    return log


def test_failed_steps_are_listed_with_their_logs(configured):
    log = write_log(
        "yeast/plt/seed0/full/train",
        "PLT: 10 % after 12 s\nxmlc: error: no room left on\n  the device\n",
    )
    write_log("yeast/prepare", "100 %\n")
    output = status().output
    assert f"failed: {log}\n  no room left on the device\n" in output
    assert absent(output, "1 step failed", "7 of 7 results") == []


def test_failed_steps_that_are_no_longer_planned_are_not_listed(configured):
    planned = """tables/plt2016/table1 yeast/plt/seeds/full/train_and_rank yeast/prepare
    yeast/tuning/plt""".split()
    dropped = """gone/prepare yeast/gone/seed0/full/train yeast/plt/seed1/full/train
    tables/gone/table1""".split()
    for name in planned + dropped:
        write_log(name)
    assert re.findall(r"failed: logs/(.*)\.log", status().output) == planned
    assert "seed1" in status("seeds=[0, 1]").output


def test_status_uses_settings_of_last_run_by_default(configured):
    settings = {"datasets": ["scene", "none"], "seeds": [0], "mirror": "a b"}
    LastRun(settings, ["tables"]).write()
    done = status()
    assert done.exit_code == 1
    assert absent(done.output, "tables", "datasets=[scene, none]", "mirror=a b") == []
    # Given settings replace all settings of the last run.
    assert status("datasets=[scene]").exit_code == 0


def test_run_of_one_target_counts_only_its_files(configured):
    rankings = [FULL.format(dataset, "plt", 0) for dataset in ("yeast", "scene")]
    LastRun(targets=[TABLE], files=[TABLE, *rankings]).write()
    assert absent(status().output, "3 of 3 results", TABLE) == []
    LastRun(targets=["yeast"], files=[rankings[0], "results/yeast/statistics.json"]).write()
    assert absent(status().output, "2 of 2 results") == []
    assert absent(status("papers=[plt2016]").output, "7 of 7 results") == []
    # A failed step of a baseline is listed.
    log = write_log("yeast/a-baseline/seed0/full/train")
    LastRun(targets=["baselines"], files=["results/yeast/a-baseline/seed0/full/model"]).write()
    assert absent(status().output, log, "1 step failed") == []


def test_record_of_two_papers_counts_once_for_the_paper_whose_tables_are_made(configured):
    file = configured / "config/papers/ldsm2020.yaml"
    write_suite(file, datasets=["yeast"], tables=["table7"])
    LastRun(targets=[TABLE], files=[TABLE, FULL.format("yeast", "plt", 0)]).write()
    output = status().output
    assert rows(output) == {"yeast": (1, 0), "tables, figures": (1, 0)}
    assert "ldsm2020" not in output.partition("\n\n")[2]


def test_result_of_an_unfinished_job_is_not_done(configured):
    ranking = FULL.format("scene", "plt", 0)
    mark = configured / AT_WORK / base64.urlsafe_b64encode(ranking.encode()).decode()
    mark.parent.mkdir(parents=True)
    mark.touch()
    assert "6 of 7 results" in status().output
    mark.unlink()
    assert status().exit_code == 0


def test_result_that_snakemake_would_make_again_is_not_done(configured, monkeypatch):
    summary = f"""\
a line before the table
output_file\tdate\trule\tlog-file(s)\tstatus\tplan
{FULL.format("scene", "plt", 0)}\t-\trank\t\tparams changed\tupdate pending
results/scene/plt/seed0/full/model\t-\ttrain\t\tok\tno update
"""
    calls = []

    def run(command, **options):
        calls.append(command)
        return subprocess.CompletedProcess(command, 0, summary, "")

    monkeypatch.setattr(subprocess, "run", run)
    (configured / ".snakemake").mkdir()
    assert status().exit_code == 0, "this folder has no Snakefile"
    (configured / "Snakefile").touch()
    LastRun({"seeds": [0]}, ["tables"]).write()
    assert "6 of 7 results" in status().output
    assert calls[-1][-4:] == ["--summary", "tables", "--config", "seeds=[0]"]


def test_failing_summary_of_snakemake_is_reported(configured, monkeypatch):
    (configured / "Snakefile").touch()
    (configured / ".snakemake").mkdir()
    failed = subprocess.CompletedProcess([], 1, "", "xmlc: error: found no dataset\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **options: failed)
    with raises_with(XmlcError, "found no dataset"):
        outdated_files(["datasets=[yeast]"], [])


def test_killed_and_active_runs_are_reported_with_their_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_outcome(LastRun()) == ""
    made = "results/yeast/plt/seed0/full/model"
    name = base64.urlsafe_b64encode(made.encode()).decode()
    here = LastRun(host=socket.gethostname(), process=os.getpid(), ended=False)
    # Snakemake splits long names into folders.
    for mark in (AT_WORK / name, AT_WORK / f"@{name[:8]}" / name[8:]):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        assert absent(run_outcome(here), "active", made) == []
        mark.unlink()
    child = subprocess.Popen(["true"])
    child.wait()
    killed = replace(here, process=child.pid)
    assert absent(run_outcome(killed), "killed", "snakemake --unlock") == []
    assert absent(run_outcome(LastRun(host="far", ended=False)), "far") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("error 12 % after 3 s\n", ""),
        ("xmlc: error: one\n  two\nxmlc: error: last\n  line\n", "last line"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad\n", "ValueError: bad"),
        (f"xmlc: error: {'x' * 1000}\n", "x" * (LONGEST - 1) + "…"),
    ],
)
def test_last_error_of_a_log_is_the_reason_on_a_line_of_limited_length(text, reason):
    assert error_message(text) == reason
