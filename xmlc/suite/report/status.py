"""Results of steps done, missing and failed of a run, paper by paper and dataset by dataset."""

from __future__ import annotations

import base64
import os
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import gethostname

from tabulate import tabulate

from xmlc.core.checksums import NAME, Damaged, check_listed, listed_in
from xmlc.core.errors import XmlcError, nearest
from xmlc.suite.config import paths
from xmlc.suite.config.runs import LastRun
from xmlc.suite.papers.plan import SuitePlan
from xmlc.suite.report.changes import some
from xmlc.suite.report.failures import DAMAGED, FAILED, Failure
from xmlc.suite.results.made_of import MadeOf
from xmlc.suite.results.records.base import parsed

HEADINGS = ("Paper", "Dataset", "Done", "Missing", "Blocked")
ALIGN = ("left", "left", "right", "right", "right")
LINE, INDENT = 90, "  "  # width of lines, in characters
AT_WORK = Path(".snakemake/incomplete")  # where Snakemake notes the outputs of jobs that have begun
SIMULATIONS, MADE = Path(paths.SIMULATION).parts[1], "tables, figures"


@dataclass
class FileCounts:
    """How many files of one kind are there.

    Attributes
    ----------
    done, missing, failed : int
        The numbers of files that exist, that are missing, and that are damaged or missing because a step failed.
    failures : list of Failure
    """

    done: int = 0
    missing: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Say whether everything is there."""
        return not (self.missing or self.failed)


Status = dict[tuple[str, str], FileCounts]


def status_of(
    plan: Mapping[str, SuitePlan], root: Path, failed: Sequence[Failure], papers: Sequence[str] = ()
) -> Status:
    """Find out which of the planned files are there.

    Parameters
    ----------
    plan : mapping of str to SuitePlan
    root : Path
        Folder that its paths start from.
    failed : sequence of Failure
    papers : sequence of str
        Only these; if there are none, those that the settings name.

    Returns
    -------
    dict
        By (paper, dataset); what is made of the records stands under `MADE`.

    Raises
    ------
    XmlcError
        The plan has no such paper.
    """
    if unknown := [paper for paper in papers if paper not in plan]:
        raise XmlcError(f"paper {unknown[0]}: not configured, expected {nearest(unknown[0], plan)}")
    found: Status = {}
    for paper in papers or plan:
        if papers or plan[paper].requested:
            found |= _paper_status(paper, plan[paper], root, failed)
    return found


def of_files(plan: Mapping[str, SuitePlan], made: Collection[str]) -> dict[str, SuitePlan]:
    """Return the part of a plan that a run makes, given all its files; files that several papers need count once.

    Papers with tables or figures in the run come first, then papers with most records.
    """
    found, seen, made = {}, set[str](), {*made}
    for paper, suite in plan.items():
        tables = {name: records for name, records in suite.tables.items() if _table(paper, name) in made}
        figures = {name: records for name, records in suite.figures.items() if _figure(paper, name) in made}
        records = [file for files in (suite.tables | suite.figures).values() for file in files]
        steps = [file for file in dict.fromkeys([*suite.steps, *records]) if paths.output_of(file) in made]
        found[paper] = replace(suite, requested=bool(tables or figures), tables=tables, figures=figures, steps=steps)
    for paper, suite in sorted(found.items(), key=lambda item: (not item[1].requested, -len(item[1].steps))):
        steps = [file for file in suite.steps if suite.requested or file not in seen]
        seen |= {*steps}
        found[paper] = replace(suite, requested=bool(steps), steps=steps)
    return found


def _table(paper: str, name: str) -> str:
    return f"{paths.TABLE.of(paper=paper, table=name)}.md"


def _figure(paper: str, name: str) -> str:
    return f"{paths.FIGURE.of(paper=paper, figure=name)}.svg"


def _paper_status(paper: str, suite: SuitePlan, root: Path, failed: Sequence[Failure]) -> Status:
    found: Status = {}
    lists = [suite.steps, *suite.tables.values(), *suite.figures.values()]
    for file in dict.fromkeys(file for files in lists for file in files):
        counts = found.setdefault((paper, _dataset(file)), FileCounts())
        if damage := _damage(root, file):
            counts.failed += 1
            counts.failures.append(damage)
        else:
            _count(counts, (root / file).exists(), file, failed)
    made = {_table(paper, name): records for name, records in suite.tables.items()}
    made |= {_figure(paper, name): records for name, records in suite.figures.items()}
    for file, records in made.items():
        counts = found.setdefault((paper, MADE), FileCounts())
        _count(counts, _is_current(root, file, records), file, failed)
    return found


def _damage(root: Path, file: str) -> Failure | None:
    """Return the failure of a record that is unreadable, edited, or removed from the folder of a step."""
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
        reason = f"{damage.fault}; delete {target} and run: snakemake {target}"
        model = (paths.IN_RUN.read(file) or {}).get("model", "")
        return Failure(Path(file), Path(file).name, _dataset(file), model, None, "", reason)
    return None


def _is_current(root: Path, file: str, records: Sequence[str]) -> bool:
    """Say whether a table or figure is there and is made of all its records; a figure does not name them."""
    path, made = root / file, MadeOf.beside(root / file)
    of_all = made is None or {*made.records} == {*map(Path, records)}
    return path.exists() and of_all and MadeOf.is_current(path, [root / record for record in records])


def _dataset(file: str) -> str:
    """Return the dataset that a file is of: the folder within results/ or resources/."""
    return Path(file).parts[1]


def _count(counts: FileCounts, is_done: bool, file: str, failed: Sequence[Failure]) -> None:
    if is_done:
        counts.done += 1
        return
    causes = [failure for failure in failed if _causes(failure, Path(file))]
    counts.failures += [failure for failure in causes if failure not in counts.failures]
    if causes:
        counts.failed += 1
    else:
        counts.missing += 1


def _causes(failure: Failure, file: Path) -> bool:
    """Say whether a file may be missing because of this step: one of its dataset, or of its model, seed and portion."""
    if not failure.dataset:
        return failure.step == "/".join(file.with_suffix("").parts[1:])
    if _dataset(str(file)) != failure.dataset:
        return False
    if not failure.model:
        return True
    run = paths.IN_RUN.read(file)
    return run is not None and (
        run["model"] == failure.model
        and failure.seed in (None, int(run["seed"]))
        and failure.portion in ("", run["portion"])
    )


def outcome_of(run: LastRun) -> str:
    """Return a sentence on a run that is at work or was killed, and its unfinished files; empty if it has ended."""
    if run.ended:
        return ""
    files = [file.relative_to(AT_WORK).parts for file in AT_WORK.rglob("*") if file.is_file()]
    names = sorted(base64.urlsafe_b64decode("".join(parts).replace("@", "")).decode() for parts in files)
    made = f"unfinished files: {some(names, ', ')}" if names else "no step was at work"
    if run.host != gethostname():
        return f"The run began on {run.host} and has not ended; {made}."
    try:
        os.kill(run.process, 0)
    except ProcessLookupError:
        return f"The run was killed; {made}. Run `snakemake --unlock`, then the same command again."
    except PermissionError:  # the process runs, and belongs to another user
        pass
    return f"The run is at work; {made}."


def to_text(status: Status, about: str = "", outcome: str = "") -> str:
    """Return the status for a terminal, the most urgent first.

    It begins with papers, datasets and a line about the run. Then follow each failure with its message and log, a table
    of missing and blocked results, a line for each paper's complete results, the totals, and the outcome of the run.
    """
    papers, datasets = (list(dict.fromkeys(names)) for names in zip(*status)) if status else ([], [])
    named = ", ".join(dataset for dataset in datasets if dataset not in (SIMULATIONS, MADE))
    heading = f"{', '.join(papers)} on {named}" if named else ", ".join(papers) or "nothing is planned"
    blocks = ["\n".join(filter(None, (_wrapped(heading), _wrapped(about))))]
    failures = list(dict.fromkeys(failure for counts in status.values() for failure in counts.failures))
    for failure in failures:
        step = " ".join(part for part in (failure.dataset, failure.model, failure.step) if part)
        reason = "\n".join(_wrapped(line, INDENT) for line in failure.reason.splitlines())
        blocks.append(f"{failure.kind}: {step}\n{reason}\n{INDENT}{failure.log}")
    rows, last = [], None
    unfinished = [(key, counts) for key, counts in status.items() if not counts.complete]
    for (paper, dataset), counts in sorted(unfinished, key=lambda item: not item[1].failed):
        numbers = [number or "" for number in (counts.done, counts.missing, counts.failed)]
        rows.append([paper if paper != last else "", dataset, *numbers])
        last = paper
    if rows:
        blocks.append(tabulate(rows, headers=HEADINGS, colalign=ALIGN, disable_numparse=True))
    lines = []
    for paper in papers:
        own = {key: counts for key, counts in status.items() if key[0] == paper}
        complete = {key: counts for key, counts in own.items() if counts.complete}
        if complete:
            number = _numbers(complete)[0]
            of = "" if complete == own else f" of {'; '.join(dataset for _, dataset in complete)}"
            parts = f"{_count_of(number, 'result')}{of}"
            lines.append(_wrapped(f"done: {paper}, {'all ' if complete == own and number > 1 else ''}{parts}"))
    done, total = _numbers(status)
    blocked = sum(counts.failed for counts in status.values())
    kinds = Counter(failure.kind for failure in failures)
    said = f"{done} of {total} results exist; {_count_of(kinds[FAILED], 'step')} failed"
    said += f", {_count_of(kinds[DAMAGED], 'record')} damaged" if kinds[DAMAGED] else ""
    said += f", which blocks {_count_of(blocked, 'result')}" if blocked else ""
    lines += [f"{said}.", *filter(None, [outcome])]
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _count_of(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _numbers(status: Status) -> tuple[int, int]:
    """Return how many results are there, and how many are planned."""
    done = sum(counts.done for counts in status.values())
    return done, sum(counts.done + counts.missing + counts.failed for counts in status.values())


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, LINE, initial_indent=indent, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False
    )
