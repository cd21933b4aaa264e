"""Find failed steps in the logs, and count finished, missing and blocked results for each paper and dataset."""

from __future__ import annotations

import base64
import csv
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from socket import gethostname
from typing import NamedTuple

import pandas as pd
from tabulate import tabulate

from xmlc.core.checksums import NAME, Damaged, check_listed, listed_in
from xmlc.core.errors import XmlcError, nearest
from xmlc.suite.config import paths
from xmlc.suite.config.runs import LastRun
from xmlc.suite.papers.plan import SuitePlan
from xmlc.suite.report.words import count_of, some
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.records.base import parsed

STATES = ("Done", "Missing", "Blocked")
LINE = 90  # The maximum width of lines in characters.
INDENT = "  "  # The indentation of continued lines.
AT_WORK = Path(".snakemake/incomplete")  # The folder in which Snakemake lists the outputs of unfinished jobs.
SIMULATIONS = Path(paths.SIMULATION).parts[1]
MADE = "tables, figures"
MESSAGE = re.compile(r"^(?:xmlc: error|Error): (.+(?:\n(?!xmlc: error: |Traceback ).+)*)", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):"
LONGEST = 400
FAILED = "failed"
DAMAGED = "damaged"


@dataclass(frozen=True)
class Failure:
    """Describe a step whose last attempt failed. The field ``reason`` contains the error message.

    The name of the step is the name of its log, such as ``train`` or ``table2``. The fields ``dataset``, ``model`` and
    ``split`` may be empty.
    """

    log: Path
    step: str
    dataset: str
    model: str
    seed: int | None
    split: str
    reason: str

    @property
    def kind(self) -> str:
        """Return the kind of the failure: "failed" for a step, or "damaged" for a record.

        For a damaged record, ``log`` is the path of the record.
        """
        if self.log.suffix == ".json":
            return DAMAGED
        return FAILED


def failures(logs: Path) -> list[Failure]:
    """Return a failure for each log with an error message in a folder of logs.

    The module `xmlc.suite.config.paths` defines the paths of logs. If a job was killed, the job's parent process
    writes an error message to the log (`xmlc.cli._killed`).
    """
    found = []
    for log in sorted(logs.rglob("*.log")):
        reason = error_message(log.read_text(encoding="utf-8", errors="replace"))
        if reason:
            found.append(_failure(log, log.relative_to(logs).with_suffix(""), reason))
    return found


def error_message(text: str) -> str | None:
    """Return the last error message in a log, or None if there is none.

    Indented lines of a message are joined with the line before.
    """
    messages = MESSAGE.findall(text)
    if messages:
        reason = messages[-1]
    elif TRACEBACK in text:
        reason = [line for line in text.splitlines() if line.strip()][-1]
    else:
        return None
    lines = re.split(r"\n(?=\S)", reason.strip())  # Continuation lines of a message are indented.
    reason = "\n".join(" ".join(line.split()) for line in lines)
    if len(reason) <= LONGEST:
        return reason
    return reason[: LONGEST - 1] + "…"


def _failure(log: Path, place: Path, reason: str) -> Failure:
    """Return the failure that a log describes.

    ``place`` is the path of the log within the folder of logs, without suffix.
    """
    path = f"logs/{place.as_posix()}.log"
    of_seed = path.replace("/seeds/", "/seed0/")  # If a job for all seeds failed, the results of each seed are missing.
    found = paths.LOG_OF_TUNING.read(path) or paths.LOG_OF_RUN.read(of_seed) or paths.LOG_OF_DATASET.read(path) or {}
    step = found.get("step") or ("tune" if "model" in found else place.as_posix())
    seed = None
    if "seed" in found and path == of_seed:
        seed = int(found["seed"])
    return Failure(log, step, found.get("dataset", ""), found.get("model", ""), seed, found.get("split", ""), reason)


class Result(NamedTuple):
    """Describe a planned file: whether the file exists, and the failures that may be the reason if the file is missing.

    For tables and figures, the field ``dataset`` is `MADE`.
    """

    paper: str
    dataset: str
    done: bool
    causes: tuple[Failure, ...] = ()

    @property
    def state(self) -> str:
        """Return the column of the status table in which the file is counted: "Done", "Blocked" or "Missing"."""
        if self.done:
            return "Done"
        if self.causes:
            return "Blocked"
        return "Missing"


def status_of(
    plan: Mapping[str, SuitePlan],
    root: Path,
    failed: Sequence[Failure],
    papers: Sequence[str] = (),
    outdated: Collection[str] = (),
) -> list[Result]:
    """Return the status of each planned file.

    Parameters
    ----------
    plan : mapping of str to SuitePlan
    root : Path
        Folder to which the plan's paths are relative.
    failed : sequence of Failure
    papers : sequence of str
        Papers whose files are included. If ``papers`` is empty, the papers that the run requests are included.
    outdated : collection of str
        Outputs that Snakemake would make again (`outdated_outputs`). They are not done.

    Raises
    ------
    XmlcError
        The plan does not contain one of the papers.
    """
    for paper in papers:
        if paper not in plan:
            raise XmlcError(f"--paper: found {paper!r}, expected {nearest(paper, plan)}")
    chosen = dict.fromkeys(papers) or [paper for paper in plan if plan[paper].requested]
    return [result for paper in chosen for result in _results_of(paper, plan[paper], root, failed, outdated)]


def of_files(plan: Mapping[str, SuitePlan], made: Collection[str]) -> dict[str, SuitePlan]:
    """Return the part of a plan that a run computes. ``made`` contains the paths of all files that the run writes.

    Papers with tables or figures in the run come first, and keep all their files. The remaining papers follow by
    descending number of files, each without the files of the papers before it.
    """
    found = {}
    seen: set[str] = set()
    made = {*made}
    for paper, suite in plan.items():
        tables = {name: records for name, records in suite.tables.items() if _table(paper, name) in made}
        figures = {name: records for name, records in suite.figures.items() if _figure(paper, name) in made}
        steps = [file for file in _files(suite) if paths.output_of(file) in made]
        found[paper] = replace(suite, requested=bool(tables or figures), tables=tables, figures=figures, steps=steps)
    for paper, suite in sorted(found.items(), key=lambda item: (not item[1].requested, -len(item[1].steps))):
        steps = [file for file in suite.steps if suite.requested or file not in seen]
        seen |= {*steps}
        found[paper] = replace(suite, requested=bool(steps), steps=steps)
    return found


def _files(suite: SuitePlan) -> list[str]:
    """Return the paths of a suite's records and of other files that its steps write, without duplicates."""
    return list(dict.fromkeys(chain(suite.steps, *suite.tables.values(), *suite.figures.values())))


def _table(paper: str, name: str) -> str:
    return f"{paths.TABLE.of(paper=paper, table=name)}.md"


def _figure(paper: str, name: str) -> str:
    return f"{paths.FIGURE.of(paper=paper, figure=name)}.svg"


def _results_of(
    paper: str, suite: SuitePlan, root: Path, failed: Sequence[Failure], outdated: Collection[str]
) -> Iterator[Result]:
    made = {_table(paper, name): records for name, records in suite.tables.items()}
    made |= {_figure(paper, name): records for name, records in suite.figures.items()}
    not_done = {*unfinished_files(root), *outdated}
    for file in (*_files(suite), *made):
        damage = _damage(root, file)
        if file in made:
            there = _is_current(root, file, made[file])
        else:
            there = (root / file).exists()
        done = there and not damage and not not_done & {file, paths.output_of(file)}
        if damage:
            causes = [damage]
        else:
            causes = [one for one in failed if not done and _causes(one, Path(file))]
        yield Result(paper, MADE if file in made else _dataset(file), done, tuple(causes))


def _damage(root: Path, file: str) -> Failure | None:
    """Return a failure if a record is unreadable or edited, or was deleted from the folder of its step.

    The result is None for an undamaged record, and for a file that is not a record.
    """
    path = root / file
    if path.suffix != ".json":
        return None
    try:
        if path.exists():
            parsed(path, "record")
        elif (path.parent / NAME).is_file() and path.name in listed_in(path.parent):
            check_listed(path.parent, path.name)
    except Damaged as damage:
        target = damage.target.relative_to(root).as_posix()
        reason = f"{damage.fault}. Delete {target} and run: snakemake {target}"
        model = (paths.IN_RUN.read(file) or {}).get("model", "")
        return Failure(Path(file), Path(file).name, _dataset(file), model, None, "", reason)
    return None


def _is_current(root: Path, file: str, records: Sequence[str]) -> bool:
    """Return whether a table or figure exists and is newer than all its records.

    The manifest of a table must also list exactly the table's planned records. Figures have no manifest.
    """
    path = root / file
    made = Manifest.beside(path)
    of_all = made is None or {*made.records} == {*map(Path, records)}
    return path.exists() and of_all and Manifest.is_current(path, [root / record for record in records])


def _dataset(file: str) -> str:
    """Return the dataset to which a file belongs: the name of the file's top folder within results/ or resources/."""
    return Path(file).parts[1]


def _causes(failure: Failure, file: Path) -> bool:
    """Return whether a failure may be the reason for a missing file.

    The failed step and the file must have the same dataset. If the step has a model, seed or split, the file must have
    the same model, seed or split. If the step has no dataset, the name of the step must be the path of the file in
    results/, without suffix.
    """
    if not failure.dataset:
        return failure.step == "/".join(file.with_suffix("").parts[1:])
    if _dataset(str(file)) != failure.dataset:
        return False
    if not failure.model:
        return True
    run = paths.IN_RUN.read(file)
    if run is None or run["model"] != failure.model:
        return False
    return failure.seed in (None, int(run["seed"])) and failure.split in ("", run["split"])


def outdated_outputs(settings: Mapping[str, object], targets: Sequence[str]) -> set[str]:
    """Return the outputs that Snakemake would make again, because an input, the code or a setting has changed.

    Parameters
    ----------
    settings : mapping
        Settings of the command line of Snakemake.
    targets : sequence of str
        Targets of Snakemake. If there are none, the default target counts.

    Raises
    ------
    XmlcError
        Snakemake cannot plan the targets.
    """
    given = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--summary", *targets]
    command += ["--config", *given] if given else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise XmlcError(f"found no summary of Snakemake ({lines[-1]}). Run `snakemake --dry-run` to see the error.")
    header = next((place for place, line in enumerate(done.stdout.splitlines()) if line.startswith("output_file\t")), 0)
    rows = csv.DictReader(done.stdout.splitlines()[header:], delimiter="\t")
    return {row["output_file"] for row in rows if row["plan"] == "update pending"}


def unfinished_files(root: Path) -> list[str]:
    """Return the outputs of jobs that are running or were killed, as Snakemake lists them."""
    folder = root / AT_WORK
    files = [file.relative_to(folder).parts for file in folder.rglob("*") if file.is_file()]
    return sorted(base64.urlsafe_b64decode("".join(parts).replace("@", "")).decode() for parts in files)


def run_outcome(run: LastRun) -> str:
    """Return a sentence about a run that is active or was killed, and about the run's unfinished files.

    The text is empty if the run has ended.
    """
    if run.ended:
        return ""
    names = unfinished_files(Path())
    made = "no unfinished files"
    if names:
        made = f"unfinished files: {some(names, ', ')}"
    if run.host != gethostname():
        return f"The run on {run.host} has not ended, {made}."
    try:
        os.kill(run.process, 0)
    except ProcessLookupError:
        return f"The run was killed, {made}. Run `snakemake --unlock`, then the same command again."
    except PermissionError:  # The process exists but belongs to another user.
        pass
    return f"The run is active, {made}."


def to_text(status: Sequence[Result], about: str = "", outcome: str = "", scope: str = "") -> str:
    """Return the status as text for a terminal.

    The text begins with the names of papers and datasets, and a line about the run. Then come the failures, each with
    its message and log, and a table of the datasets with missing or blocked results. The text ends with the papers
    whose results are complete, the totals, and the outcome of the run. ``scope`` says which results are counted, if
    not all.
    """
    rows = pd.DataFrame([(one.paper, one.dataset, one.state) for one in status], columns=["Paper", "Dataset", "state"])
    counts = pd.crosstab([rows["Paper"], rows["Dataset"]], rows["state"])
    counts = counts.reindex(pd.MultiIndex.from_frame(rows[["Paper", "Dataset"]].drop_duplicates()))
    counts = counts.reindex(columns=list(STATES), fill_value=0)
    failures = list(dict.fromkeys(failure for one in status for failure in one.causes))
    named = [name for name in rows["Dataset"].unique() if name not in (SIMULATIONS, MADE)]
    heading = " on ".join(filter(None, [", ".join(rows["Paper"].unique()), ", ".join(named)]))
    blocks = ["\n".join(_wrapped(line) for line in (heading or "nothing is planned", about) if line)]
    for failure in failures:
        step = " ".join(filter(None, (failure.dataset, failure.model, failure.step)))
        reason = [_wrapped(line, INDENT) for line in failure.reason.splitlines()]
        blocks.append("\n".join([f"{failure.kind}: {step}", *reason, f"{INDENT}{failure.log}"]))
    is_complete = counts["Done"] == counts.sum(axis=1)
    lacking = counts[~is_complete].sort_values("Blocked", key=lambda blocked: blocked == 0, kind="stable")
    if len(lacking):
        blocks.append(_table_of(lacking))
    lines = []
    for paper in rows["Paper"].unique():
        number = counts.loc[paper, "Done"][is_complete.loc[paper]]
        if len(number) == len(counts.loc[paper]):
            lines.append(_wrapped(f"done: {paper}, all {count_of(int(number.sum()), 'result')}{scope}"))
        elif len(number):
            lines.append(
                _wrapped(f"done: {paper}, {count_of(int(number.sum()), 'result')} of {'; '.join(number.index)}")
            )
    lines.append(_total(counts, failures))
    if outcome:
        lines.append(outcome)
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _table_of(lacking: pd.DataFrame) -> str:
    """Return the table of datasets with missing or blocked results. A repeated paper and a count of 0 are blank."""
    table = lacking.reset_index()
    table["Paper"] = table["Paper"].where(table["Paper"] != table["Paper"].shift(), "")
    table = table.astype(object).replace(0, "")
    align = ("left", "left", "right", "right", "right")
    return tabulate(table, headers="keys", showindex=False, colalign=align, disable_numparse=True)


def _total(counts: pd.DataFrame, failures: Sequence[Failure]) -> str:
    kinds = [failure.kind for failure in failures]
    total = counts.to_numpy().sum()
    text = f"{counts['Done'].sum()} of {total} results are done; {count_of(kinds.count(FAILED), 'step')} failed"
    if DAMAGED in kinds:
        text += f", {count_of(kinds.count(DAMAGED), 'record')} damaged"
    if counts["Blocked"].any():
        text += f", which blocks {count_of(int(counts['Blocked'].sum()), 'result')}"
    return f"{text}."


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, LINE, initial_indent=indent, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False
    )
