"""Results of steps done, missing and failed of a run, paper by paper and dataset by dataset."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabulate import tabulate

from xmlc.core.errors import XmlcError
from xmlc.numbers.made_of import MadeOf
from xmlc.papers.plan import SuitePlan
from xmlc.report.failures import Failure
from xmlc.suites import paths

HEADINGS = ("Paper", "Dataset", "Done", "Missing", "Failed")
ALIGN = ("left", "left", "right", "right", "right")
LINE, INDENT = 90, "  "  # width of lines, in characters
SIMULATIONS, MADE = Path(paths.SIMULATION).parts[1], "tables, figures"


@dataclass
class FileCounts:
    """How many files of one kind are there.

    Attributes
    ----------
    done, missing, failed : int
        Files that are there, that are not, and of the latter those that a step which failed is behind.
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
        raise XmlcError(f"paper {unknown[0]!r} is not configured; expected one of {', '.join(plan)}")
    found: Status = {}
    for paper in papers or plan:
        if papers or plan[paper].requested:
            found |= _paper_status(paper, plan[paper], root, failed)
    return found


def _paper_status(paper: str, suite: SuitePlan, root: Path, failed: Sequence[Failure]) -> Status:
    found: Status = {}
    lists = [suite.steps, *suite.tables.values(), *suite.figures.values()]
    for file in dict.fromkeys(file for files in lists for file in files):
        counts = found.setdefault((paper, _dataset(file)), FileCounts())
        _count(counts, (root / file).exists(), file, failed)
    made = {paths.TABLE.of(paper=paper, table=name) + ".md": records for name, records in suite.tables.items()}
    made |= {paths.FIGURE.of(paper=paper, figure=name) + ".svg": records for name, records in suite.figures.items()}
    for file, records in made.items():
        counts = found.setdefault((paper, MADE), FileCounts())
        _count(counts, _is_current(root, file, records), file, failed)
    return found


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


def to_text(status: Status, about: str = "") -> str:
    """Return the status for a terminal, the most urgent first.

    Papers and datasets, words about the run; each failure with its message and log; what is failed or missing as a
    table; a line for each paper about what is complete; how much is done in all.
    """
    papers, datasets = (list(dict.fromkeys(names)) for names in zip(*status)) if status else ([], [])
    named = ", ".join(dataset for dataset in datasets if dataset not in (SIMULATIONS, MADE))
    heading = f"{', '.join(papers)} on {named}" if named else ", ".join(papers) or "nothing is planned"
    blocks = ["\n".join(filter(None, (_wrapped(heading), _wrapped(about))))]
    failures = list(dict.fromkeys(failure for counts in status.values() for failure in counts.failures))
    for failure in failures:
        step = " ".join(part for part in (failure.dataset, failure.model, failure.step) if part)
        blocks.append(f"failed: {step}\n{_wrapped(failure.reason, INDENT)}\n{INDENT}{failure.log}")
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
            done = _numbers(complete)[0]
            parts = "; ".join(dataset for _, dataset in complete)
            results = f"all {done} results" if complete == own else f"{done} of {_numbers(own)[1]} results: {parts}"
            lines.append(_wrapped(f"done: {paper}, {results}"))
    done, total = _numbers(status)
    lines.append(f"{done} of {total} results are there; {len(failures)} step{'s' * (len(failures) != 1)} failed.")
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def _numbers(status: Status) -> tuple[int, int]:
    """Return how many results are there, and how many are planned."""
    done = sum(counts.done for counts in status.values())
    return done, sum(counts.done + counts.missing + counts.failed for counts in status.values())


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, LINE, initial_indent=indent, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False
    )
