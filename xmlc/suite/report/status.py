"""Count finished and missing results of a run, and find failed steps in the logs."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from socket import gethostname
from typing import NamedTuple

import pandas as pd
from tabulate import tabulate

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.project import Project
from xmlc.suite.config.runs import LastRun
from xmlc.suite.papers.plan import results_of, steps_of
from xmlc.suite.words import count_of, some

# Snakemake lists the outputs of unfinished jobs here
AT_WORK = Path(".snakemake/incomplete")
SHOWN_FILES = {
    "table": paths.Pattern(f"{paths.TABLE}.md"),
    "figure": paths.Pattern(f"{paths.FIGURE}.svg"),
}
MADE = "tables, figures"  # Their dataset in the counts
MESSAGE = re.compile(
    r"^(?:xmlc: error|Error): (.+(?:\n(?!xmlc: error: |Traceback ).+)*)", re.MULTILINE
)
TRACEBACK = "Traceback (most recent call last):"
LONGEST = 400


class Failure(NamedTuple):
    """The log of a step whose last attempt failed, or a table that cannot be shown, with the
    reason.
    """

    log: Path
    reason: str


def failures(logs: Path) -> list[Failure]:
    """Return a failure for each log with an error message.

    For a killed job, its parent process writes the message (`xmlc.cli._killed`).
    """
    failed = []
    for log in sorted(logs.rglob("*.log")):
        reason = error_message(log.read_text(encoding="utf-8", errors="replace"))
        if reason:
            failed.append(Failure(log, reason))
    return failed


def is_planned(log: Path, files: Iterable[str]) -> bool:
    """Return whether planned files have results of the dataset, model and seed of a log."""
    # Logs of all seeds of a model and logs of tuning have separate folders
    parts = {*log.parts[1:-1]} - {"seeds", "tuning"}
    return any(parts <= {*file.split("/")} for file in files)


def error_message(text: str) -> str:
    """Return the last error message in a log on one line, or ""."""
    reason = ""
    messages = MESSAGE.findall(text)
    if messages:
        reason = messages[-1]
    elif TRACEBACK in text:
        reason = text.strip().splitlines()[-1]
    reason = " ".join(reason.split())
    if len(reason) > LONGEST:
        return reason[: LONGEST - 1] + "…"
    return reason


def planned_files(project: Project, made: Collection[str] = ()) -> pd.DataFrame:
    """Return the paths of planned records, tables and figures, each with a paper and a dataset.

    The files ``made`` by the last run restrict the plan, or the settings if there are none.
    """
    rows = []
    for paper in project.suites:
        results = results_of(project, paper)
        for file in chain(steps_of(project, paper), *results.values()):
            rows.append((paper, Path(file).parts[1], file))
        for noun, name in results:
            rows.append((paper, MADE, SHOWN_FILES[noun].of(**{"paper": paper, noun: name})))
    planned = pd.DataFrame(rows, columns=["paper", "dataset", "file"])
    if made:
        planned = planned[planned["file"].map(paths.output_of).isin(made)]
        # A record of several papers belongs to the one whose tables the run makes.
        with_tables = planned.loc[planned["dataset"] == MADE, "paper"]
        planned = planned.sort_values(
            "paper", key=lambda paper: ~paper.isin(with_tables), kind="stable"
        )
    else:
        planned = planned[planned["paper"].isin(project.settings.papers)]
    return planned.drop_duplicates("file")


def unfinished_files() -> list[str]:
    """Return outputs of jobs that are running or were killed."""
    files = [file.relative_to(AT_WORK).parts for file in AT_WORK.rglob("*") if file.is_file()]
    return sorted(
        base64.urlsafe_b64decode("".join(parts).replace("@", "")).decode() for parts in files
    )


def outdated_files(settings: Sequence[str], targets: Sequence[str]) -> set[str]:
    """Return outputs that Snakemake would make again because an input, code or a setting changed.

    The settings come from the command line. Nothing is known about copied results, which lack notes
    of Snakemake.
    """
    if not Path("Snakefile").is_file() or not Path(".snakemake").is_dir():
        return set()
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--summary", *targets]
    if settings:
        command += ["--config", *settings]
    summary = subprocess.run(command, capture_output=True, text=True)
    if summary.returncode != 0:
        raise XmlcError(
            "found no summary of Snakemake. `snakemake --dry-run` shows the "
            f"error:\n{summary.stderr}"
        )
    rows = [line.split("\t") for line in summary.stdout.splitlines()]
    return {row[0] for row in rows if row[-1] == "update pending"}


def run_outcome(run: LastRun) -> str:
    """Return a sentence about an active or killed run, or "" if it ended."""
    if run.ended:
        return ""
    unfinished = f"unfinished files: {some(unfinished_files(), ', ') or 'none'}"
    if run.host != gethostname():
        return f"The run on {run.host} has not ended, {unfinished}."
    try:
        os.kill(run.process, 0)
    except ProcessLookupError:
        return (
            f"The run was killed, {unfinished}. Run `snakemake --unlock`, then the same command "
            "again."
        )
    except PermissionError:  # The process exists but belongs to another user.
        pass
    return f"The run is active, {unfinished}."


def to_text(planned: pd.DataFrame, failed: Sequence[Failure], run: LastRun) -> str:
    """Return the run, failures with logs, and counts for each dataset."""
    blocks = [run.about]
    for failure in failed:
        blocks.append(f"failed: {failure.log}\n  {failure.reason}")
    counts = (
        planned.assign(missing=~planned["done"])
        .groupby(["paper", "dataset"], sort=False)[["done", "missing"]]
        .sum()
    )
    table = counts.reset_index().to_numpy().tolist()
    blocks.append(tabulate(table, ["Paper", "Dataset", "Done", "Missing"], disable_numparse=True))
    total = f"{planned['done'].sum()} of {count_of(len(planned), 'result')} are done"
    blocks.append(f"{total}; {count_of(len(failed), 'step')} failed.")
    blocks.append(run_outcome(run))
    return "\n\n".join(filter(None, blocks)) + "\n"
