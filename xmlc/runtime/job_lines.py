"""One line for each job that Snakemake starts: how much is done, since when, and what is running now.

Snakemake's own messages are either several lines for each job or none. This is a plugin of its logger interface
(``snakemake --logger lines`` with ``workflow/loggers`` on the PYTHONPATH, as in the Makefile). Lines are plain, so that
they are as good in a log file as on a screen.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

NOTHING_TO_DO = "Nothing to be done"
PORTIONS = {"full": "100 %", "80": "80 %"}


class LogHandler(LogHandlerBase):
    """Writes a line for each job, and all warnings and errors as Snakemake words them."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin to count."""
        self.done, self.total, self.began = 0, 0, time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Count, and write what is worth a line."""
        line = None
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self.total = record.__dict__["stats"].get("total", 0)
        elif event == LogEvent.PROGRESS:
            self.done, self.total = record.__dict__["done"], record.__dict__["total"]
            line = self.line("all is made") if self.done == self.total else None
        elif event == LogEvent.JOB_INFO:
            # Targets such as `demo` run nothing.
            line = self.line(about(record)) if record.__dict__["shellcmd"] else None
        elif record.levelno >= logging.WARNING or str(record.msg).startswith(NOTHING_TO_DO):
            line = self.format(record)
        if line:
            print(line, file=sys.stderr, flush=True)

    def line(self, text: str) -> str:
        """Put before a text how many jobs are done and how long ago the first message was."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        return f"[{self.done} of {self.total}] {minutes}:{seconds:02} {text}"


def about(record: logging.LogRecord) -> str:
    """Say what a job does and on what, such as ``train plt on demo, 80 %``."""
    rule: str = record.__dict__["rule_name"]
    wildcards: Mapping[str, str] = record.__dict__["wildcards"]
    step, _, seeds = rule.partition("_of_")  # train_and_rank_of_5_seeds
    # thresholds_demo, infer_80_plt: the rest is made of wildcards
    words = [step.replace("_", " ") if seeds else rule.split("_")[0]]
    words += [wildcards[name] for name in ("model", "table", "figure") if name in wildcards]
    if place := wildcards.get("dataset") or wildcards.get("paper"):
        words += ["of" if "paper" in wildcards else "on", place]
    more = [PORTIONS[wildcards["portion"]]] if wildcards.get("portion") in PORTIONS else []
    more += [f"seed {wildcards['seed']}"] if wildcards.get("seed", "0") != "0" else []
    more += [" ".join(seeds.split("_")[:2])] if seeds else []
    return ", ".join([" ".join(words), *more])
