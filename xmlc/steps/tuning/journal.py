"""The trials that a search has finished, kept beside its result until that is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from xmlc.core.files import atomic_file, errors_named
from xmlc.kernels.estimator import Hyperparameters
from xmlc.records.search import Trial


class KeptTrial(TypedDict):
    """A trial, and the scores of instances, from which its paired errors are computed."""

    trial: Trial
    scores: list[int]


class Journal:
    """A file of lines: what the trials depend on, then one trial in each.

    Parameters
    ----------
    path : Path
    depends_on : mapping
        What the worth of a trial depends on beside its hyperparameters, as JSON. Trials of a file that begins with
        anything else are dropped.
    """

    def __init__(self, path: Path, depends_on: Mapping[str, object]) -> None:
        self._path, first = path, _line(depends_on)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1].splitlines(keepends=True)  # a kill leaves half a line at most
        kept = whole[1:] if whole[:1] == [first] else []
        self._finished = {_line(one["trial"]["hyperparameters"]): one for one in map(json.loads, kept)}
        with atomic_file(path) as temporary:
            temporary.write_text("".join((first, *kept)), encoding="utf-8")

    def finished(self, hyperparameters: Hyperparameters) -> KeptTrial | None:
        """Return the trial with these hyperparameters, if it was finished."""
        return self._finished.get(_line(hyperparameters))

    def keep(self, trial: KeptTrial) -> None:
        """Write a trial behind the others."""
        with errors_named(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(_line(trial))

    def remove(self) -> None:
        """Remove the file: the result has the trials."""
        self._path.unlink(missing_ok=True)


def journal_of(result: Path) -> Path:
    """Name the journal of a search with this result, beside it."""
    return result.with_suffix(".journal.jsonl")


def _line(content: object) -> str:
    return json.dumps(content, sort_keys=True, allow_nan=False) + "\n"
