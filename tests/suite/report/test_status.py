"""Test which results of a run are reported as done, missing and failed."""

import base64
import json
import os
import re
import socket
import subprocess
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner
from facts import absent, raises_with
from suite_cases import write_suite

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.suite.config.runs import LastRun
from xmlc.suite.report.commands import status_command
from xmlc.suite.report.status import (
    AT_WORK,
    LONGEST,
    error_message,
    failures,
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
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("papers: [plt2016]\n")
    (tmp_path / "config/datasets.yaml").write_text("")
    write_suite(
        tmp_path / "config/papers/plt2016.yaml",
        {"plt": {}},
        datasets=["scene", "yeast"],
        tables=["table1"],
    )
    for name in ("demo", "scale"):
        write_suite(tmp_path / f"config/{name}.yaml", {})
    names = ("statistics.json", "plt/seed0/full/train.json", "plt/seed0/full/ranking.json")
    for dataset, name in product(("scene", "yeast"), names):
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
    assert rows(status().output) == {"scene": (2, 1), "yeast": (3, 0), "tables, figures": (0, 1)}


def test_exit_status_is_0_only_for_complete_runs(configured):
    done = status()
    assert done.exit_code == 0, done.output
    assert absent(done.output, "plt2016", "7 of 7") == []
    assert status("seeds=[0, 1]").exit_code == 1
    assert status("datasets=[scene]").exit_code == 0
    (configured / FULL.format("scene", "plt", 0)).unlink()
    assert status("datasets=[scene]").exit_code == 1


def test_failed_steps_are_listed_with_their_logs(configured):
    log = Path("logs/yeast/plt/seed0/full/train.log")
    log.parent.mkdir(parents=True)
    log.write_text("PLT: 10 % after 12 s\nxmlc: error: no room left on\n  the device\n")
    Path("logs/fine.log").write_text("100 %\n")
    output = status().output
    assert f"failed: {log}\n  no room left on the device\n" in output
    assert absent(output, "1 step failed", "7 of 7 results") == []


def test_failed_steps_that_are_no_longer_planned_are_not_listed(configured):
    names = (
        "yeast/prepare",
        "yeast/tuning/plt",
        "yeast/plt/seeds/full/train_and_rank",
        "tables/plt2016/table1",
    )
    dropped = (
        "gone/prepare",
        "yeast/gone/seed0/full/train",
        "yeast/plt/seed1/full/train",
        "tables/gone/table1",
    )
    for name in (*names, *dropped):
        log = Path(f"logs/{name}.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("xmlc: error: x\n")
    output = status().output
    assert re.findall(r"failed: logs/(.*)\.log", output) == sorted(names)
    assert "seed1" in status("seeds=[0, 1]").output


def test_failed_step_of_a_baseline_of_the_last_run_is_listed(configured):
    log = Path("logs/yeast/a-baseline/seed0/full/train.log")
    log.parent.mkdir(parents=True)
    log.write_text("xmlc: error: x\n")
    LastRun(
        targets=["baselines"], files=["results/yeast/a-baseline/seed0/full/model", "a.md"]
    ).write()
    assert absent(status().output, log, "1 step failed") == []


def test_status_without_planned_results_is_complete(configured):
    done = status("datasets=large")
    assert done.exit_code == 0
    assert re.search(r"^0 of 0 results", done.output, re.MULTILINE)


def test_status_uses_settings_of_last_run_by_default(configured):
    LastRun().write()
    assert status().exit_code == 0
    LastRun({"datasets": ["scene", "none"], "seeds": [0], "mirror": "a b"}, ["tables"]).write()
    done = status()
    assert done.exit_code == 1
    heading = done.output.partition("\n\n")[0]
    assert absent(heading, "tables", "datasets=[scene, none]", "seeds=[0]", "mirror=a b") == []
    assert status("datasets=[scene]").exit_code == 0, (
        "given settings replace all settings of the last run"
    )


def test_run_of_one_table_counts_only_its_inputs(configured):
    ranking = FULL.format("yeast", "plt", 0)
    statistics = "results/yeast/statistics.json"
    LastRun(targets=[TABLE], files=[TABLE, ranking, FULL.format("scene", "plt", 0)]).write()
    output = status().output
    assert absent(output, "3 of 3 results are done", f": {TABLE}") == []
    LastRun(targets=["yeast"], files=[ranking, statistics]).write()
    assert "2 of 2 results are done" in status().output
    assert "7 of 7 results are done" in status("papers=[plt2016]").output


def test_record_of_two_papers_counts_once_for_the_paper_whose_tables_are_made(configured):
    write_suite(
        configured / "config/papers/ldsm2020.yaml",
        {"plt": {}},
        datasets=["yeast"],
        tables=["table7"],
    )
    ranking = FULL.format("yeast", "plt", 0)
    LastRun(targets=[TABLE], files=[TABLE, ranking]).write()
    output = status().output
    assert rows(output) == {"yeast": (1, 0), "tables, figures": (1, 0)}
    assert "ldsm2020" not in output.partition("\n\n")[2]


def test_unfinished_and_outdated_results_are_not_done(configured, monkeypatch):
    ranking = FULL.format("scene", "plt", 0)
    mark = configured / AT_WORK / base64.urlsafe_b64encode(ranking.encode()).decode()
    mark.parent.mkdir(parents=True)
    mark.touch()
    assert "6 of 7 results" in status().output
    mark.unlink()
    assert status().exit_code == 0
    lines = ["a line before the table", "output_file\tdate\trule\tlog-file(s)\tstatus\tplan"]
    lines.append(f"{ranking}\t-\trank\t\tparams changed\tupdate pending")
    lines.append("results/scene/plt/seed0/full/model\t-\ttrain\t\tok\tno update")
    calls = []

    def run(command, **options):
        calls.append(command)
        return subprocess.CompletedProcess(command, 0, "\n".join(lines), "")

    monkeypatch.setattr(subprocess, "run", run)
    assert status().exit_code == 0, "this folder has no Snakefile"
    (configured / "Snakefile").touch()
    assert "6 of 7 results" in status().output
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
    name = base64.urlsafe_b64encode(b"results/yeast/plt/seed0/full/model").decode()
    for part in (Path(name), Path(f"@{name[:8]}", name[8:])):
        (AT_WORK / part).parent.mkdir(parents=True, exist_ok=True)
        (AT_WORK / part).touch()
        made = "results/yeast/plt/seed0/full/model"
        here = LastRun(host=socket.gethostname(), process=os.getpid(), ended=False)
        assert absent(run_outcome(here), "active", made) == []
        (AT_WORK / part).unlink()
    child = subprocess.Popen(["true"])
    child.wait()
    killed = LastRun(host=socket.gethostname(), process=child.pid, ended=False)
    assert absent(run_outcome(killed), "killed", "snakemake --unlock") == []
    assert absent(run_outcome(LastRun(host="far", ended=False)), "far") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ""),
        ("error 12 % after 3 s\n", ""),
        ("xmlc: error: first\nxmlc: error: last\n", "last"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad\n", "ValueError: bad"),
    ],
)
def test_last_error_of_a_log_is_the_reason(text, reason):
    assert error_message(text) == reason


def test_reason_is_one_line_of_limited_length():
    assert error_message("xmlc: error: one\n  two\nxmlc: error: last\n  line\n") == "last line"
    assert len(error_message(f"xmlc: error: {'long ' * 1000}\n")) == LONGEST


def test_only_logs_with_errors_are_failures(tmp_path):
    for name, text in (("yeast/prepare", "xmlc: error: x\n"), ("yeast/tuning/plt", "100 %\n")):
        log = tmp_path / f"{name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(text)
    assert failures(tmp_path) == [(tmp_path / "yeast/prepare.log", "x")]
