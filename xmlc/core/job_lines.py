"""One line for each job that Snakemake starts: progress, time since the start, and the running jobs.

Snakemake's own messages are a dozen lines for each job, or none. These are plain, as good in a file as on a screen.
They take the place of what Snakemake writes to the screen, and of nothing in its log file. No plugin of its
loggers: it finds none in a package that is installed as editable, and a profile that names one fails without it.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent
from tabulate import tabulate

from xmlc.core.errors import INTERRUPTED

NOTHING_TO_DO = "Nothing to be done"
OF_A_SHELL = "RuleException:\nCalledProcessError"  # with the whole command
DERIVED = "input files updated by another job"
PLANNED = "Nothing was run. With --printshellcmds this lists each job, its files and its command."
INTERRUPTS: list[int] = []  # the signals that were to end this process
LAST_LINES = 10  # of the log of a job that failed
PORTIONS = {"full": "100 %", "80": "80 %"}


class JobLines(logging.Handler):
    """Writes a line for each job, a few for one that failed, and other warnings and errors as Snakemake words them.

    Parameters
    ----------
    usual : logging.Handler
        Snakemake's own, which this one replaces.
    is_dry : bool
        Whether jobs are listed that nobody starts, of which `planned_jobs` tells.
    """

    def __init__(self, usual: logging.Handler, is_dry: bool = False):
        super().__init__()
        self.usual, self.filters, self.is_dry = usual, usual.filters, is_dry
        self.done, self.total, self.began = 0, 0, time.monotonic()
        self.jobs: dict[int, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message, and write a line if it is worth one."""
        if INTERRUPTS:
            return  # jobs end with errors then, which are none
        line, about = None, record.__dict__
        event = about.get("event")
        if event == LogEvent.RUN_INFO:
            self.total = about["stats"].get("total", 0)
        elif event == LogEvent.PROGRESS:
            self.done, self.total = about["done"], about["total"]
            line = self.line("all is made") if self.done == self.total else None
        elif event == LogEvent.JOB_INFO:
            self.jobs[about["jobid"]] = described(about["rule_name"], about["wildcards"])
            # Targets such as `demo` run nothing.
            line = self.line(self.jobs[about["jobid"]]) if about["shellcmd"] and not self.is_dry else None
        elif event == LogEvent.JOB_ERROR:
            failed = self.line(f"failed: {self.jobs.get(about['jobid'], about['rule_name'])}")
            said = [about["rule_msg"]] if about["rule_msg"] else []
            line = "\n".join([failed, *said, *(end_of(Path(log)) for log in about["log"])])
        elif str(record.msg).startswith(OF_A_SHELL):
            line = "a command " + str(record.msg).rpartition("' ")[2]  # ... returned non-zero exit status 137
        elif record.levelno >= logging.WARNING or str(record.msg).startswith(NOTHING_TO_DO):
            self.usual.emit(record)
        if line:
            print(line, file=sys.stderr, flush=True)

    def line(self, text: str) -> str:
        """Put before a text how many jobs are done and how long ago the first message was."""
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        return f"[{self.done} of {self.total}] {minutes}:{seconds:02} {text}"


def end_in_a_sentence() -> None:
    """Have Ctrl-C, where nobody else takes it, end this process with one sentence in place of a traceback."""
    usual = sys.excepthook

    def tell(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print(INTERRUPTED, file=sys.stderr)
        else:
            usual(kind, error, traceback)

    sys.excepthook = tell


def note_interrupts() -> None:
    """Note Ctrl-C and what `kill` sends by default, and leave to others what follows."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if callable(usual := signal.getsignal(number)):  # not ignored, as in the background

            def note(number: int, frame: Any, usual: Any = usual) -> None:
                INTERRUPTS.append(number)
                usual(number, frame)

            signal.signal(number, note)


def show_lines(settings: Any) -> bool:
    """Have a run tell its jobs by lines, unless Snakemake is asked for their commands or for more.

    Parameters
    ----------
    settings : snakemake.settings.types.OutputSettings

    Returns
    -------
    bool
        Whether it does.
    """
    if settings.printshellcmds or settings.verbose or settings.debug_dag:
        return False
    logger = logging.getLogger("snakemake.logging")
    usual = [handler for handler in logger.handlers if handler.name == "DefaultStreamHandler"]
    for handler in usual:  # none where a plugin writes to the screen
        logger.removeHandler(handler)
        logger.addHandler(JobLines(handler, settings.dryrun))
    return bool(usual)


def described(rule: str, wildcards: Mapping[str, str]) -> str:
    """Describe a job by its step and subject, such as ``train plt on demo, 80 %``."""
    step, _, seeds = rule.partition("_of_")  # train_and_rank_of_5_seeds
    # thresholds_demo_plt, infer_pcc: the rest is made of wildcards
    words = [step.replace("_", " ") if seeds else rule.split("_")[0]]
    words += [wildcards[name] for name in ("model", "table", "figure") if name in wildcards]
    if place := wildcards.get("dataset") or wildcards.get("paper"):
        words += ["of" if "paper" in wildcards else "on", place]
    more = [PORTIONS[wildcards["portion"]]] if wildcards.get("portion") in PORTIONS else []
    more += [f"seed {wildcards['seed']}"] if wildcards.get("seed", "0") != "0" else []
    more += [" ".join(seeds.split("_")[:2])] if seeds else []
    return ", ".join([" ".join(words), *more])


def end_of(log: Path) -> str:
    """Give the path and the last lines of a log."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
    return "\n    ".join([f"{log}:" if lines else f"{log} is empty", *lines[-LAST_LINES:]])


def planned_jobs(dag: Any) -> str:
    """Count the jobs of each rule that would run, by reason.

    Parameters
    ----------
    dag : snakemake.dag.DAG
        After a dry run.
    """
    why: defaultdict[str, set[str]] = defaultdict(set)
    for job in dag.needrun_jobs(exclude_finished=False):
        why[job.rule.name] |= {*dag.reason(job).get_names()}
    counts: dict[str, int] = dag.stats()[1]  # with a total
    rows = [(name, counts[name], ", ".join(sorted(why[name] - {DERIVED}) or why[name])) for name in counts]
    table = tabulate(rows, headers=("job", "count", "why"))
    return f"{table}\n{PLANNED}" if why.keys() - {"total"} else ""
