"""Test that the console shows the plan, finished jobs and failures of a run, but no messages of the scheduler."""

import logging
from types import SimpleNamespace

import pytest
from facts import absent

from xmlc.suite.console import LOG_LINES, MOST_LISTED, Console

pytest.importorskip("snakemake")


@pytest.fixture
def run(capsys):
    """Return a function that sends events to a new console and returns the lines that it prints."""

    def run(*events, dryrun=False, then=lambda console: None, **settings):
        console = Console(SimpleNamespace(dryrun=dryrun, printshellcmds=False, **settings))
        for event, fields in events:
            level = logging.ERROR if event in ("job_error", "error") else logging.INFO
            text = fields.pop("text", event)
            console.handle(logging.makeLogRecord({"levelno": level, "msg": text, "event": event, **fields}))
        then(console)
        return capsys.readouterr().err.splitlines()

    return run


def started(jobid, title=None, output=("a file",)):
    return "job_info", {"jobid": jobid, "rule_msg": title, "rule_name": "train", "output": output}


def finished(jobid):
    return "job_finished", {"job_id": jobid}


def failed(jobid, *logs):
    return "job_error", {"jobid": jobid, "log": [str(log) for log in logs]}


def test_each_finished_job_but_a_target_has_a_line(run):
    total = "run_info", {"stats": {"train": 2, "all": 1, "total": 3}}
    jobs = [started(1, "Train plt"), started(2), finished(2), finished(1), started(0, "all", []), finished(0)]
    lines = run(
        total, *jobs, (None, {"text": "Select jobs to execute..."}), then=lambda console: console.end("1 GB", "tables")
    )
    assert [line.split(" (")[0] for line in lines[:2]] == ["[1/3] train", "[2/3] Train plt"]
    assert lines[2].startswith("3 of 3 jobs ")
    assert lines[2].endswith(", 1 GB")
    assert lines[3:] == ["tables"]


def test_failed_job_shows_the_end_of_its_log_once(run, tmp_path):
    log = tmp_path / "train.log"
    log.write_text("".join(f"line {i}\n" for i in range(40)))
    raised = "error", {"text": "CalledProcessError in file data.smk"}
    lines = run(started(1, "Train plt"), raised, failed(1, log, tmp_path / "none.log"), failed(1, log))
    assert [line.strip() for line in lines] == [
        "failed: Train plt",
        f"{log}:",
        *(f"line {i}" for i in range(40 - LOG_LINES, 40)),
        f"{tmp_path / 'none.log'}:",
        "no such file",
    ]


@pytest.mark.parametrize("n_jobs", [0, 1, MOST_LISTED, MOST_LISTED + 1])
def test_dry_run_counts_jobs_and_lists_a_few(run, n_jobs):
    jobs = [started(i, f"Train {i}") for i in range(n_jobs)]
    first, *listed = run(*jobs, dryrun=True, then=Console.list_jobs) or [""]
    assert listed == ([f"Train {i}" for i in range(n_jobs)] if n_jobs <= MOST_LISTED else [])
    assert absent(first, "would", f"{n_jobs} train") == ([] if n_jobs else ["would", f"{n_jobs} train"])


def test_dry_run_says_nothing_of_the_job_of_a_target(run):
    """The job of a target makes nothing, and its message is true only after a run."""
    target = started(9, "Check that target all is complete", [])
    lines = run(started(1, "Train plt"), target, dryrun=True, then=Console.list_jobs)
    assert absent(lines[0], "1 job ", "1 train") == []
    assert lines[1:] == ["Train plt"]
    (line,) = run(target, dryrun=True, then=Console.list_jobs)
    assert absent(line, "no job") == []
    assert run(dryrun=True, then=Console.list_jobs) == [], "Snakemake says that nothing is to be done"


@pytest.mark.parametrize(
    ("quiet", "verbose", "name", "replaced"),
    [
        (["HOST", "REASON"], False, "DefaultStreamHandler", True),
        (["HOST"], False, "DefaultStreamHandler", False),
        (None, False, "DefaultStreamHandler", False),
        (["REASON"], True, "DefaultStreamHandler", False),
        (["REASON"], False, "another logger", False),
    ],
)
def test_requested_displays_of_snakemake_stay(quiet, verbose, name, replaced):
    logger, handler = logging.Logger("test"), logging.StreamHandler()
    handler.name = name
    logger.addHandler(handler)
    topics = quiet and [SimpleNamespace(name=topic) for topic in quiet]
    Console(SimpleNamespace(quiet=topics, verbose=verbose)).attach(logger)
    assert (logger.handlers[0] is not handler) == replaced
    assert len(logger.handlers) == 1


def test_names_of_events_and_topics_are_those_of_snakemake():
    from snakemake.logging import LogEvent
    from snakemake.settings.enums import Quietness

    assert {"run_info", "job_info", "job_finished", "job_error", "shellcmd", "error"} <= {*map(str, LogEvent)}
    assert "REASON" in Quietness.__members__
