"""One at a time: a claim on a piece of work, which ends with the process that holds it, however that ends.

A claim is a file in a folder of its own, named after the process that made it (`xmlc.processes`). To claim is to
make such a file, and to have the claim is to see then no other of a process that may still run. Of two that claim at
the same time at least one sees the other, so that never both have it. Nothing depends on locks of the file system,
which network file systems may lack. A file of a process that has ended is removed by whoever sees it; it cannot be
mistaken for another one's, because no name is used twice.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from xmlc.processes import Process, this_process

PATIENCE = 2.0  # seconds for those that claim at the same time to give way to one another
LONGEST_PAUSE = 0.2  # seconds; each waits for a random part of it
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
def claimed(folder: Path, about: str, patience: float = PATIENCE) -> Iterator[None]:
    """Have a claim while a block runs.

    Parameters
    ----------
    folder : Path
        Holds the claims on this one piece of work and nothing else.
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
    own = _claim(folder, about, time.monotonic() + patience)
    try:
        yield
    finally:
        own.unlink(missing_ok=True)


def claims(folder: Path) -> list[Claim]:
    """List the claims of processes that may still run, the oldest first; remove those of others."""
    found = []
    for file in folder.glob("*.claim") if folder.is_dir() else ():
        process = Process.parse(file.name.partition("+")[0])
        if process is None:
            continue
        if process.has_ended:
            file.unlink(missing_ok=True)
            continue
        try:
            found.append(Claim(file, process, file.read_text(encoding="utf-8"), file.stat().st_mtime))
        except FileNotFoundError:
            continue  # given back meanwhile
    return sorted(found, key=lambda claim: (claim.since, claim.file))


def _claim(folder: Path, about: str, deadline: float) -> Path:
    """Make a file that is the only one, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / f"{this_process()}+{next(_numbers)}.claim"
    while True:
        others = claims(folder)
        if not others:
            own.write_text(about, encoding="utf-8")
            others = [claim for claim in claims(folder) if claim.file != own]
            if not others:
                return own
            own.unlink()
        if time.monotonic() > deadline:
            raise Claimed(others[0])
        time.sleep(random.uniform(0, LONGEST_PAUSE))
