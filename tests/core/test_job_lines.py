"""One line for each job, from the events that Snakemake logs."""

import logging
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from repository import ROOT
from snakemake_interface_logger_plugins.common import LogEvent

from xmlc.core.job_lines import JobLines


def record(event=None, level=logging.INFO, message="", **content):
    made = logging.LogRecord("snakemake", level, __file__, 1, message, None, None)
    made.__dict__ |= {"event": event} | content
    return made


def job(rule, shellcmd="xmlc ...", jobid=0, **wildcards):
    return record(LogEvent.JOB_INFO, jobid=jobid, rule_name=rule, wildcards=wildcards, shellcmd=shellcmd)


@pytest.fixture
def handler():
    usual = SimpleNamespace(filters=[], emit=lambda record: print(record.getMessage(), file=sys.stderr))
    return JobLines(usual)


def test_a_job_that_failed_is_told_with_the_ends_of_its_logs(handler, capsys, tmp_path):
    (tmp_path / "long.log").write_text("".join(f"line {i}\n" for i in range(30)))
    handler.emit(job("train", jobid=3, dataset="yeast", model="plt"))
    logs = [str(tmp_path / name) for name in ("long.log", "none.log")]
    handler.emit(
        record(level=logging.ERROR, message="RuleException:\nCalledProcessError in file ...:\nCommand 'x' died.")
    )
    failed = {"rule_name": "train", "jobid": 3, "log": logs, "rule_msg": "SLURM-job '7' failed"}
    handler.emit(record(LogEvent.JOB_ERROR, logging.ERROR, **failed))
    _, status, first, said, *lines = capsys.readouterr().err.splitlines()
    assert (first.split(maxsplit=4)[4], said) == ("failed: train plt on yeast", "SLURM-job '7' failed")
    assert status == "a command died."
    assert lines == [f"{logs[0]}:", *(f"    line {i}" for i in range(20, 30)), f"{logs[1]} is empty"]


SNAKEFILE = """
from xmlc.suites.controller import guard

guard(workflow)

rule all:
    input: "b", "results/tables/p/t.md", "results/figures/p/f.svg"

rule first:
    output: "a"
    shell: "touch {output}"

rule second:
    input: "a"
    output: "b"
    log: "log"
    shell: "test -e room || ( echo no room left > {log}; false )\\ntouch {output}"

rule shown:
    output: "results/tables/p/t.md", "results/figures/p/f.svg"
    shell: "touch {output}"
"""


@pytest.fixture
def snakemake(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)

    def run(*options):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--show-failed-logs", *options]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        return done.returncode, [re.sub(r"\d+:\d\d", "0:00", line) for line in (done.stdout + done.stderr).splitlines()]

    return run


@pytest.mark.slow
def test_a_run_writes_a_line_for_each_job_and_at_its_end_where_tables_are(snakemake, tmp_path):
    code, lines = snakemake("b")
    assert code == 1
    told = lines.index("[0 of 2] 0:00 first")
    expected = [
        "[0 of 2] 0:00 first",
        "[1 of 2] 0:00 second",
        "a command returned non-zero exit status 1.",
        "[1 of 2] 0:00 failed: second",
        "log:",
        "    no room left",
    ]
    assert lines[told : told + 6] == expected
    assert not [line for line in lines if "rule first" in line or "touch" in line]
    (tmp_path / "room").touch()
    code, lines = snakemake()
    assert code == 0
    assert [line for line in lines if line.startswith("[")][-1] == "[3 of 3] 0:00 all is made"
    assert lines[-3:-1] == ["tables:  xmlc show results/tables/p/*.md", "figures: results/figures/p/"]
    assert "make report" in lines[-1]
    code, again = snakemake()
    assert again[-3:] == lines[-3:]
    assert again[-4].startswith("Nothing to be done")
    assert [line for line in snakemake("--forceall", "--quiet", "all")[1] if "of" in line] == []


@pytest.mark.slow
def test_a_dry_run_counts_jobs_and_says_why(snakemake, tmp_path):
    code, lines = snakemake("--dry-run")
    assert code == 0
    rows = [tuple(re.split("  +", line)) for line in lines]
    assert {("first", "1", "output files have to be generated"), ("all", "1", "input files updated by another job")} < {
        *rows
    }
    assert ("total", "4") in {row[:2] for row in rows}
    assert not [line for line in lines if line.startswith(("[", "rule "))]
    assert not list(tmp_path.glob(".snakemake/settings.json")), "it is not the last run"
    code, lines = snakemake("--dry-run", "--printshellcmds")
    assert "rule first:" in lines
    assert [line for line in lines if line.endswith("touch a")]
