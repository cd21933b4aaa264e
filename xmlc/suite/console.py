"""Show the progress of a Snakemake run.

A terminal shows a progress bar, and other outputs get a line for each finished job.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tqdm import tqdm

from xmlc.suite.words import count_of

# If a dry run has more jobs than this number, it prints only the number of jobs of each rule.
MOST_LISTED = 20
LOG_LINES = 15  # Number of lines from the end of a log file that are printed if a job fails.
LOG_BYTES = 2**16  # Only this many bytes of a log file are read, from its end.
MOST_CHARACTERS = 300  # Number of characters of a log file's line that are printed.
# Escape sequences of terminals: with parameters, with a text such as a title or a link, and with
# one character
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
BAR = "{n_fmt}/{total_fmt} jobs |{bar:20}| {elapsed}  {desc}"


class Console(logging.Handler):
    """Print those events of a run that users need to see.

    All events of the run are in Snakemake's log file.

    Parameters
    ----------
    settings : object
        The output settings of Snakemake. Only attributes that Snakemake documents for logger
        plugins are used, both of the settings and of log records.
    """

    def __init__(self, settings: Any):
        super().__init__()
        self._settings = settings
        # Maps the id of each running job to its attributes. In a dry run, all jobs are included.
        self._jobs: dict[int, dict[str, Any]] = {}
        self._begun = time.monotonic()
        self._total = 0
        self._done = 0
        self._bar: tqdm | None = None

    def attach(self, logger: logging.Logger) -> None:
        """Replace the log handler of Snakemake by this handler.

        The handler is not replaced if the user chose another logger, verbose output, or output with
        the reasons why jobs run.
        """
        own = next(
            (handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"), None
        )
        quiet_about = {topic.name for topic in self._settings.quiet or ()}
        if own is not None and "REASON" in quiet_about and not self._settings.verbose:
            logger.removeHandler(own)
            logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the event in a log record, or show it in the progress bar."""
        fields = record.__dict__
        text = record.getMessage()
        match fields.get("event"):
            case "run_info":
                self._total = fields["stats"]["total"]
            case "job_info":
                self._jobs[fields["jobid"]] = fields
                self._show_progress()
            case "job_finished":
                self._done += 1
                job = self._jobs.pop(fields["job_id"])
                self._show_progress()
                # A job without output belongs to a target, such as `all`, and is not printed.
                if self._bar is None and job["output"]:
                    seconds = record.created - job["created"]
                    self.say(
                        f"[{self._done:>{len(str(self._total))}}/{self._total}] {_title(job)} "
                        f"({seconds:.0f} s)"
                    )
            # At the end of a run, Snakemake repeats all errors. A repeated error is ignored,
            # because its job is not in `_jobs`.
            case "job_error" if job := self._jobs.pop(fields["jobid"], {}):
                lines = _last_lines(fields["log"]) or [
                    f"  {fields.get('shellcmd') or 'without a log'}"
                ]
                self.say("\n".join([f"failed: {_title(job)}", *lines]))
            case "shellcmd" if self._settings.printshellcmds:
                self.say(fields["shellcmd"] or "")
            # A failed command is shown with its job, which follows.
            case None | "error" if (
                record.levelno >= logging.WARNING and "CalledProcessError" not in text
            ):
                self.say(text)
            case None if text.startswith("Nothing to be done"):
                self.say(text)

    def close(self) -> None:
        """Remove the progress bar."""
        if self._bar is not None:
            self._bar.close()
        super().close()

    def say(self, text: str) -> None:
        """Print a text above the progress bar. An empty text is not printed."""
        if text:
            tqdm.write(text, file=sys.stderr)
            sys.stderr.flush()

    def end(self, advice: str) -> None:
        """Remove the progress bar.

        Print the number of finished jobs, the run time and ``advice``.
        """
        self.close()
        seconds = tqdm.format_interval(time.monotonic() - self._begun)
        # If this handler was not attached, Snakemake's handler counts the jobs, and the total is 0.
        jobs = "run ended"
        if self._total:
            jobs = f"{self._done} of {self._total} jobs finished"
        self.say(f"{jobs} in {seconds}")
        self.say(advice)

    def list_jobs(self) -> None:
        """Print the number of jobs of each rule in a dry run.

        If the dry run has few jobs, also print a line for each job. A job without output belongs to
        a target, such as `all`. It makes nothing, so it is not listed.
        """
        jobs = [job for job in self._jobs.values() if job["output"]]
        rules = Counter(job["rule_name"] for job in jobs)
        if jobs:
            counts = ", ".join(f"{count} {rule}" for rule, count in rules.most_common())
            self.say(f"{count_of(len(jobs), 'job')} would run: {counts}")
        elif self._jobs:
            self.say("no job would run, because the target has no files")
        if len(jobs) <= MOST_LISTED:
            self.say("\n".join(map(_title, jobs)))

    def _show_progress(self) -> None:
        """Show the number of finished jobs and the titles of running jobs in a progress bar.

        If the output is not a terminal, and in a dry run, no progress bar is shown.
        """
        if self._bar is None and sys.stderr.isatty() and not self._settings.dryrun:
            # On a terminal that does not report its size, tqdm shows nothing without ``ncols`` and
            # ``nrows``.
            columns, rows = shutil.get_terminal_size()
            self._bar = tqdm(
                total=self._total, bar_format=BAR, leave=False, ncols=columns, nrows=rows
            )
        if self._bar is not None:
            self._bar.n = self._done
            self._bar.set_description_str(", ".join(map(_title, self._jobs.values())))


def _title(job: dict[str, Any]) -> str:
    return job["rule_msg"] or job["rule_name"]


def _last_lines(logs: list[str]) -> list[str]:
    """Return lines with the path of each log file of a failed job, and with the last lines of the
    log file.
    """
    lines = []
    for log in logs:
        lines.append(f"  {log}:")
        if not Path(log).is_file():
            lines.append("    no such file")
            continue
        with open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - LOG_BYTES))
            text = file.read().decode(errors="replace")
        lines += [f"    {readable(line)}" for line in text.split("\n") if line.strip()][-LOG_LINES:]
    return lines


def readable(line: str) -> str:
    """Return a line without escape sequences and control characters, cut off after
    `MOST_CHARACTERS` characters.

    A progress bar writes over its line after a carriage return, so only the last part of the line
    is returned.
    """
    line = ESCAPES.sub("", line).rstrip("\r").rpartition("\r")[2]
    line = "".join(character for character in line if character == "\t" or character.isprintable())
    if len(line) <= MOST_CHARACTERS:
        return line
    return f"{line[:MOST_CHARACTERS]}..."
