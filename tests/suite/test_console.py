"""Test that the console shows the plan, finished jobs and failures of a run, but no messages of the
scheduler.
"""

import logging
from types import SimpleNamespace

import pytest
from facts import absent

from xmlc.suite.console import LOG_LINES, MOST_LISTED, Console, _last_lines

pytest.importorskip("snakemake")


@pytest.fixture
def run(capsys):
    """Return a function that sends events to a new console and returns the lines that it prints."""

    def run(*events, dryrun=False, then=lambda console: None, **settings):
        console = Console(SimpleNamespace(dryrun=dryrun, printshellcmds=False, **settings))
        for event, fields in events:
            level = logging.ERROR if event in ("job_error", "error") else logging.INFO
            text = fields.pop("text", event)
            console.handle(
                logging.makeLogRecord({"levelno": level, "msg": text, "event": event, **fields})
            )
        then(console)
        return capsys.readouterr().err.splitlines()

    return run


def started(jobid, title=None, output=("a file",)):
    return "job_info", {"jobid": jobid, "rule_msg": title, "rule_name": "train", "output": output}


def finished(jobid):
    return "job_finished", {"job_id": jobid}


def failed(jobid, *logs, command=None):
    return "job_error", {"jobid": jobid, "log": [str(log) for log in logs], "shellcmd": command}


def test_each_finished_job_but_a_target_has_a_line(run):
    total = "run_info", {"stats": {"train": 2, "all": 1, "total": 3}}
    jobs = [started(1, "Train plt"), started(2), finished(2), finished(1)]
    target = [started(0, "all", []), finished(0)]
    other = None, {"text": "Select jobs to execute..."}
    lines = run(total, *jobs, *target, other, then=lambda console: console.end("tables"))
    assert [line.split(" (")[0] for line in lines[:2]] == ["[1/3] train", "[2/3] Train plt"]
    assert lines[2].startswith("3 of 3 jobs ")
    assert lines[3:] == ["tables"]


def test_failed_job_shows_the_end_of_its_log_once(run, tmp_path):
    log = tmp_path / "train.log"
    written = [f"line {i}" for i in range(40)]
    log.write_text("\n".join(written))
    raised = "error", {"text": "CalledProcessError in file data.smk"}
    failures = [failed(1, log, tmp_path / "none.log"), failed(1, log)]
    lines = run(started(1, "Train plt"), raised, *failures)
    shown = [f"{log}:", *written[-LOG_LINES:], f"{tmp_path / 'none.log'}:", "no such file"]
    assert [line.strip() for line in lines] == ["failed: Train plt", *shown]


# The job of a target makes nothing, and its message is true only after a run.
TARGET = started(99, "Check that target all is complete", [])


@pytest.mark.parametrize("n_jobs", [1, MOST_LISTED, MOST_LISTED + 1])
def test_dry_run_counts_jobs_and_lists_a_few(run, n_jobs):
    names = [f"Train {i}" for i in range(n_jobs)]
    jobs = [started(i, name) for i, name in enumerate(names)]
    first, *listed = run(*jobs, TARGET, dryrun=True, then=Console.list_jobs)
    assert absent(first, "would", f"{n_jobs} train") == []
    if n_jobs > MOST_LISTED:
        names = []
    assert listed == names


def test_dry_run_without_jobs_says_so_only_for_a_target(run):
    (line,) = run(TARGET, dryrun=True, then=Console.list_jobs)
    assert absent(line, "no job") == []
    # Snakemake says that nothing is to be done.
    assert run(dryrun=True, then=Console.list_jobs) == []


SNAKEMAKE = "DefaultStreamHandler"


@pytest.mark.parametrize(
    ("quiet", "verbose", "name", "replaced"),
    [
        ("HOST REASON", False, SNAKEMAKE, True),
        ("HOST", False, SNAKEMAKE, False),
        ("", False, SNAKEMAKE, False),
        ("REASON", True, SNAKEMAKE, False),
        ("REASON", False, "another logger", False),
    ],
)
def test_requested_displays_of_snakemake_stay(quiet, verbose, name, replaced):
    logger = logging.Logger("test")
    handler = logging.StreamHandler()
    handler.name = name
    logger.addHandler(handler)
    topics = [SimpleNamespace(name=topic) for topic in quiet.split()] or None
    Console(SimpleNamespace(quiet=topics, verbose=verbose)).attach(logger)
    (attached,) = logger.handlers
    assert (attached is not handler) == replaced


def test_names_of_events_and_topics_are_those_of_snakemake():
    from snakemake.logging import LogEvent
    from snakemake.settings.enums import Quietness

    assert {"run_info", "job_info", "job_finished", "job_error", "shellcmd", "error"} <= {
        *map(str, LogEvent)
    }
    assert "REASON" in Quietness.__members__


def test_failed_job_without_log_shows_its_command(run):
    raised = "error", {"text": "CalledProcessError in file 'Snakefile', line 3"}
    assert run(started(1, "Train plt"), raised, failed(1, command="false --x")) == [
        "failed: Train plt",
        "  false --x",
    ]
    assert len(run(started(1, "Train plt"), failed(1))) == 2


# Maps the content of a log to the line that is shown.
LOGS = {
    b"\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[m\n": "red green",
    b"\x1b]0;a title\x07text\n": "text",
    b"\x1b]8;;http://e.org\x1b\\a link\x1b]8;;\x1b\\\n": "a link",
    b"10 %\r50 %\r100 %\r\n": "100 %",
    b"a\x00b\x08\x7f\x9bc\td\n": "ab\ufffdc\td",
    b"one\r\n": "one",
    b"\xff\xfe\n": "\ufffd\ufffd",
    b"last\n\n \n": "last",
}


@pytest.mark.parametrize("content", LOGS, ids=range(len(LOGS)))
def test_excerpt_of_a_log_is_readable(content, tmp_path):
    (tmp_path / "log").write_bytes(content)
    assert _last_lines([str(tmp_path / "log")]) == [f"  {tmp_path}/log:", f"    {LOGS[content]}"]


def test_excerpt_of_a_long_log_is_short(tmp_path):
    log = tmp_path / "log"
    lengths = []
    for text in ("x" * 200_000, "y\n" * 10**6, ""):
        log.write_text(text)
        lines = _last_lines([str(log)])
        lengths.append(len(lines))
        assert len(lines[-1]) < 320
    assert lengths == [2, 16, 1]
