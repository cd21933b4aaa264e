"""The progress of a Snakemake run: a bar on a terminal, and otherwise a line for each job."""

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

# A dry run with more jobs prints only their number for each rule.
MOST_LISTED = 20
LOG_LINES = 15  # printed from the end of a log file if a job fails
LOG_BYTES = 2**16  # read from the end of a log file
MOST_CHARACTERS = 300  # printed from a line of a log file
# Escape sequences of terminals: with parameters, with a text such as a title or a link, and with
# one character
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
BAR = "{n_fmt}/{total_fmt} jobs |{bar:20}| {elapsed}  {desc}"


class Console(logging.Handler):
    """A log handler that prints only what users need, while Snakemake's log file has all events.

    It uses only attributes that Snakemake documents for plugins.
    """

    def __init__(self, settings: Any):
        super().__init__()
        self._settings = settings
        # Running jobs by id. In a dry run these are all jobs.
        self._jobs: dict[int, dict[str, Any]] = {}
        self._begun = time.monotonic()
        self._total = 0
        self._done = 0
        self._bar: tqdm | None = None

    def attach(self, logger: logging.Logger) -> None:
        """Replace Snakemake's handler, unless the user chose another logger, verbose output or
        reasons.
        """
        own = next(
            (handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"), None
        )
        quiet_about = {topic.name for topic in self._settings.quiet or ()}
        if own is not None and "REASON" in quiet_about and not self._settings.verbose:
            logger.removeHandler(own)
            logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the event, or show it in the progress bar."""
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
                # A job without output belongs to a target, such as `all`.
                if self._bar is None and job["output"]:
                    seconds = record.created - job["created"]
                    self.say(
                        f"[{self._done:>{len(str(self._total))}}/{self._total}] {_title(job)} "
                        f"({seconds:.0f} s)"
                    )
            # Snakemake repeats errors at the end, but then their jobs are no longer in `_jobs`.
            case "job_error" if job := self._jobs.pop(fields["jobid"], {}):
                lines = _last_lines(fields["log"]) or [
                    f"  {fields.get('shellcmd') or 'without a log'}"
                ]
                self.say("\n".join([f"failed: {_title(job)}", *lines]))
            case "shellcmd" if self._settings.printshellcmds:
                self.say(fields["shellcmd"] or "")
            # The failed job follows and shows its command.
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
        """Print a text above the progress bar."""
        if text:
            tqdm.write(text, file=sys.stderr)
            sys.stderr.flush()

    def end(self, advice: str) -> None:
        """Remove the bar, and print finished jobs, run time and ``advice``."""
        self.close()
        seconds = tqdm.format_interval(time.monotonic() - self._begun)
        # Snakemake's handler counts the jobs if this one was not attached.
        jobs = "run ended"
        if self._total:
            jobs = f"{self._done} of {self._total} jobs finished"
        self.say(f"{jobs} in {seconds}")
        self.say(advice)

    def list_jobs(self) -> None:
        """Print the jobs of a dry run, or only their numbers if there are many."""
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
        if self._bar is None and sys.stderr.isatty() and not self._settings.dryrun:
            # Without a size, tqdm shows nothing on terminals that report none.
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
    """Return a line without escape sequences and control characters, cut to `MOST_CHARACTERS`."""
    line = ESCAPES.sub("", line).rstrip("\r").rpartition("\r")[2]
    line = "".join(character for character in line if character == "\t" or character.isprintable())
    if len(line) <= MOST_CHARACTERS:
        return line
    return f"{line[:MOST_CHARACTERS]}..."
