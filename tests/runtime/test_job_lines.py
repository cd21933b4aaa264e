"""One line for each job, from the events that Snakemake logs."""

import logging
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from repository import ROOT
from snakemake_interface_logger_plugins.common import LogEvent

from xmlc.runtime.job_lines import LogHandler, about


def record(event=None, level=logging.INFO, message="", **content):
    made = logging.LogRecord("snakemake", level, __file__, 1, message, None, None)
    made.__dict__ |= {"event": event} | content
    return made


def job(rule, shellcmd="xmlc ...", **wildcards):
    return record(LogEvent.JOB_INFO, rule_name=rule, wildcards=wildcards, shellcmd=shellcmd)


@pytest.fixture
def handler():
    return LogHandler(SimpleNamespace(), None)


@pytest.mark.parametrize(
    ("rule", "wildcards", "text"),
    [
        ("train", {"dataset": "demo", "model": "plt", "seed": "0", "portion": "80"}, "train plt on demo, 80 %"),
        ("train", {"dataset": "s", "model": "br", "seed": "3", "portion": "full"}, "train br on s, 100 %, seed 3"),
        ("thresholds_demo", {"dataset": "demo", "model": "oracle", "seed": "0"}, "thresholds oracle on demo"),
        ("train_and_rank_of_5_seeds", {"dataset": "s", "model": "plt"}, "train and rank plt on s, 5 seeds"),
        ("train_and_rank_of_1_seed_a", {"dataset": "s", "model": "plt"}, "train and rank plt on s, 1 seed"),
        ("prepare", {"dataset": "yeast"}, "prepare on yeast"),
        ("table", {"paper": "plt2016", "table": "table2"}, "table table2 of plt2016"),
        ("facts", {}, "facts"),
    ],
)
def test_a_job_is_told_by_what_it_does_and_on_what(rule, wildcards, text):
    assert about(job(rule, **wildcards)) == text


def test_a_line_tells_how_many_jobs_are_done_when_this_one_starts(handler, capsys):
    handler.emit(record(LogEvent.RUN_INFO, stats={"prepare": 1, "table": 1, "demo": 1, "total": 3}))
    handler.emit(job("prepare", dataset="demo"))
    handler.emit(record(LogEvent.SHELLCMD, shellcmd="xmlc ..."))
    handler.emit(record(LogEvent.PROGRESS, done=1, total=3))
    handler.began -= 83
    handler.emit(job("table", paper="demo", table="table1"))
    handler.emit(record(LogEvent.PROGRESS, done=2, total=3))
    handler.emit(job("demo", shellcmd=None))
    handler.emit(record(LogEvent.PROGRESS, done=3, total=3))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "[0 of 3] 0:00 prepare on demo",
        "[1 of 3] 1:23 table table1 of demo",
        "[3 of 3] 1:23 all is made",
    ]


def test_what_goes_wrong_is_told_and_what_is_usual_is_not(handler, capsys):
    for level in (logging.INFO, logging.WARNING, logging.ERROR):
        handler.emit(record(level=level, message=f"level {level}"))
    handler.emit(record(message="Nothing to be done (all requested files are present and up to date)."))
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["level", "level", "Nothing"]


def test_snakemake_takes_it_and_shows_the_log_of_a_job_that_failed(tmp_path, monkeypatch):
    (tmp_path / "Snakefile").write_text(
        'rule all:\n    input: "b"\nrule first:\n    output: "a"\n    shell: "touch {output}"\n'
        'rule second:\n    input: "a"\n    output: "b"\n    log: "log"\n    shell: "echo no room left > {log}; false"\n'
    )
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'workflow/loggers'}:{ROOT}")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--show-failed-logs", "--logger", "lines"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert [re.sub(r"\d+:\d\d", "0:00", line) for line in lines if line.startswith("[")][:2] == [
        "[0 of 3] 0:00 first",
        "[1 of 3] 0:00 second",
    ]
    assert "no room left" in done.stderr
    assert "rule first" not in done.stderr
