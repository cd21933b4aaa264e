"""Which steps of a run failed, and with what message: read from the logs, which each attempt begins anew."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xmlc.tables.made_of import MadeOf

MESSAGE = re.compile(r"^xmlc: error: (.+(?:\n(?!xmlc: error: |Traceback ).+)*)", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):"
SEED = re.compile(r"seed(\d+)")
LONGEST = 400


@dataclass(frozen=True)
class Failure:
    """One step whose last attempt ended with an error.

    Attributes
    ----------
    log : Path
    step : str
        Name of the log, such as ``train`` or ``table2``.
    dataset, model : str
        Empty where the step has none.
    seed : int or None
    portion : str
        ``full``, ``80`` or nothing.
    reason : str
        The message of the error on one line.
    """

    log: Path
    step: str
    dataset: str
    model: str
    seed: int | None
    portion: str
    reason: str

    def concerns(self, dataset: str | None, model: str | None) -> bool:
        """Say whether a cell of this dataset and model may be missing because of it."""
        return self.dataset == dataset and self.model in ("", model)


def failures(logs: Path) -> list[Failure]:
    """Read a folder of logs, ``<dataset>/<model>/seed<k>/<portion>/<step>.log`` and those of other steps.

    A job that was killed leaves no message, so it is missing and has not failed.
    """
    found = []
    for log in sorted(logs.rglob("*.log")):
        text = log.read_text(encoding="utf-8", errors="replace")
        if reason := error_message(text):
            found.append(_failure(log, log.relative_to(logs).with_suffix(""), reason))
    return found


def with_records(tables: Sequence[MadeOf]) -> tuple[list[MadeOf], list[Failure]]:
    """Set tables apart whose records are gone, as after deleting the results of a dataset: they tell of nothing now.

    Returns
    -------
    whole : list of MadeOf
    gone : list of Failure
        One for each of the others, which says how to make it again.
    """
    whole, gone = [], []
    for made in tables:
        missing = next((record for record in made.records if not record.exists()), None)
        if missing is None:
            whole.append(made)
            continue
        reason = f"its records are gone; `snakemake results/tables/{made.paper}/{made.table}.md` makes them again"
        gone.append(Failure(missing, f"{made.paper}, {made.table}", "", "", None, "", reason))
    return whole, gone


def error_message(text: str) -> str | None:
    """Return the error that a log ends with, on one line, or None."""
    messages = MESSAGE.findall(text)
    if messages:
        reason = messages[-1]
    elif TRACEBACK in text:
        reason = [line for line in text.splitlines() if line.strip()][-1]
    else:
        return None
    reason = " ".join(reason.split())
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 1] + "…"


def _failure(log: Path, place: Path, reason: str) -> Failure:
    folders, step = place.parts[:-1], place.name
    if folders and folders[0] in ("tables", "figures"):
        return Failure(log, "/".join(place.parts), "", "", None, "", reason)
    seed = next((number.group(1) for part in folders if (number := SEED.fullmatch(part))), None)
    dataset = folders[0] if folders else ""
    if len(folders) > 1 and folders[1] == "tuning":  # <dataset>/tuning/<model>.log
        return Failure(log, "tune", dataset, step, None, "", reason)
    portion = next((part for part in folders if part in ("full", "80")), "")
    step = "/".join([*folders[4:], step])
    model = folders[1] if len(folders) > 1 else ""
    return Failure(log, step, dataset, model, None if seed is None else int(seed), portion, reason)
