"""One at a time: a claim on a piece of work, which ends with the process that holds it, however that ends.

A claim on a path is a file beside it, named after the path and the process that made it (`xmlc.processes`). To claim is
to make such a file, and to have the claim is to see then no other of a process that may still run. Of two that claim at
the same time at least one sees the other, so that never both have it. Nothing depends on locks of the file system,
which network file systems may lack. A file of a process that has ended is removed by whoever sees it; it cannot be
mistaken for another one's, because no name is used twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

from xmlc.files import errors_named
from xmlc.processes import Process, this_process

PATIENCE = 2.0  # seconds for those that claim at the same time to give way to one another
LONGEST_PAUSE = 0.2  # seconds; each waits for a random part of it
SUFFIX = ".claim"
_numbers = count(1)


class Claim(NamedTuple):
    """Who claims something."""

    file: Path
    process: Process
    #: What it says that it does.
    about: str
    #: Seconds since the epoch when it began, by the clock of the file system.
    since: float


class Claimed(Exception):
    """Another process that may still run has the claim.

    Parameters
    ----------
    claim : Claim
        The oldest, if several.
    """

    def __init__(self, claim: Claim):
        super().__init__(f"claimed by process {claim.process.pid} on {claim.process.host}: {claim.file}")
        self.claim = claim


@contextmanager
def claimed(path: Path, about: str, patience: float = PATIENCE) -> Iterator[None]:
    """Have a claim while a block runs.

    Parameters
    ----------
    path : Path
        What is claimed; it need not exist.
    about : str
        What is done, for others to read.
    patience : float
        Seconds to wait for others.

    Raises
    ------
    Claimed
        Another process has it all the time.
    OSError
        Nothing can be written there.
    """
    own = _claim(path, about, time.monotonic() + patience)
    try:
        yield
    finally:
        own.unlink(missing_ok=True)


def claims(path: Path) -> list[Claim]:
    """List the claims of processes that may still run, the oldest first; remove those of others."""
    found = []
    for name in os.listdir(path.parent) if path.parent.is_dir() else ():
        if not (name.startswith(f"{path.name}+") and name.endswith(SUFFIX)):
            continue
        file, process = path.parent / name, Process.parse(name.removeprefix(f"{path.name}+").partition("+")[0])
        if process is not None and process.has_ended:
            file.unlink(missing_ok=True)
        elif process is not None:
            with suppress(FileNotFoundError):  # given back meanwhile
                found.append(Claim(file, process, file.read_text(encoding="utf-8"), file.stat().st_mtime))
    return sorted(found, key=lambda claim: (claim.since, claim.file))


def _claim(path: Path, about: str, deadline: float) -> Path:
    """Make a file that is the only one, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f"{path.name}+{this_process()}+{next(_numbers)}{SUFFIX}")
    while True:
        others = claims(path)
        if not others:
            _write(own, about)
            others = [claim for claim in claims(path) if claim.file != own]
            if not others:
                return own
            own.unlink(missing_ok=True)
        if time.monotonic() > deadline:
            raise Claimed(others[0])
        time.sleep(LONGEST_PAUSE * os.urandom(1)[0] / 255)  # a random time, so that not all come back together


def _write(own: Path, about: str) -> None:
    """Make the file of a claim, which others read at any moment, under another name first."""
    begun = own.with_suffix(".begun")
    try:
        with errors_named(own):
            begun.write_text(about, encoding="utf-8")
            begun.rename(own)
    finally:  # a full disk leaves an empty file
        begun.unlink(missing_ok=True)
