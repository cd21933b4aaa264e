"""The trials that a search has finished, kept beside its result until that is there.

A file of lines: what the trials depend on, then one trial in each. A line counts if it is whole, so that a process may
be killed at any time; from the first on that is not, trials are made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypedDict

import yaml

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file, errors_named
from xmlc.kernels.estimator import Hyperparameters
from xmlc.records.training import SearchRecord, Trial

Say = Callable[[str], None]


class KeptTrial(TypedDict):
    """A trial, and the scores of instances, from which its paired errors are computed."""

    trial: Trial
    scores: list[int]


class Journal:
    """Keeps trials in a file, and returns trials that an interrupted search has kept there.

    Parameters
    ----------
    path : Path
    depends_on : mapping
        What the worth of a trial depends on beside its hyperparameters, as JSON. Trials that depend on anything else
        are dropped.
    say : callable
        Is told what was found in the file, if there is one.
    """

    def __init__(self, path: Path, depends_on: Mapping[str, object], say: Say) -> None:
        self._path = path
        first = _line(depends_on)
        kept = _whole_lines(path)
        if kept and kept[0] != first:
            say(f"{path.name}: {_differences(kept[0], first)} changed since its trials; the search starts anew")
            kept = []
        elif len(kept) > 1:
            say(f"{path.name}: {len(kept) - 1} finished trials are taken from it")
        self._finished: dict[str, KeptTrial] = {}
        for line in kept[1:]:
            trial = json.loads(line)
            self._finished[_line(trial["trial"]["hyperparameters"])] = trial
        with atomic_file(path) as temporary:
            temporary.write_text("".join(kept or [first]), encoding="utf-8")

    def finished(self, hyperparameters: Hyperparameters) -> KeptTrial | None:
        """Return the trial with these hyperparameters, if it was finished."""
        return self._finished.get(_line(hyperparameters))

    def keep(self, trial: KeptTrial) -> None:
        """Write a trial behind the others; when this returns it is on the disk."""
        with errors_named(self._path), self._path.open("a", encoding="utf-8") as file:
            file.write(_line(trial))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Remove the file: the result has the trials."""
        self._path.unlink(missing_ok=True)


def journal_of(result: Path) -> Path:
    """Name the journal of a search with this result, beside it."""
    return result.with_suffix(".journal.jsonl")


def _line(content: object) -> str:
    return json.dumps(content, sort_keys=True, allow_nan=False) + "\n"


def _whole_lines(path: Path) -> list[str]:
    """Return the lines of a file up to the first that has no end or is no JSON object."""
    lines: list[str] = []
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for line in text.splitlines(keepends=True):
        try:
            is_whole = line.endswith("}\n") and isinstance(json.loads(line), dict)
        except json.JSONDecodeError:
            is_whole = False
        if not is_whole:
            break
        lines.append(line)
    return lines


def _differences(before: str, now: str) -> str:
    """Name the keys of two JSON objects that differ."""
    old, new = json.loads(before), json.loads(now)
    return ", ".join(name for name in sorted({*old, *new}) if old.get(name) != new.get(name))


def write_result(path: Path, content: Mapping[str, object]) -> None:
    """Write a search's result, a `SearchRecord` and more, with the checksum of its content, whole or not at all."""
    plain = yaml.safe_load(yaml.safe_dump(content, sort_keys=False))
    with atomic_file(path) as temporary:
        temporary.write_text(yaml.safe_dump(stamped(plain), sort_keys=False, default_flow_style=None), encoding="utf-8")


def read_result(path: Path, estimator: str, dataset_digest: str) -> SearchRecord:
    """Read a file of `write_result`, for training on the data of its search.

    Parameters
    ----------
    path : Path
    estimator : str
        What is to be trained.
    dataset_digest : str
        Of the prepared data that it is to be trained on.

    Raises
    ------
    XmlcError
        The file is no result of a search, was edited, or is one of another estimator or of other data.
    """
    found = SearchRecord.read(path)
    if (found.estimator, found.dataset.digest) != (estimator, dataset_digest):
        raise XmlcError(
            f"{path}: tuned for estimator {found.estimator} on data with digest {found.dataset.digest[:12]}; expected "
            f"{estimator} on {dataset_digest[:12]}: tune again"
        )
    return found
