"""Which process made a file, as a part of the file's name, and whether that process may still run.

A process that is killed cleans nothing up. What it leaves behind, such as a half-written folder or a claim, can be told
from what a running process needs if the name of the file says whose it is.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple, Self

PROC = Path("/proc")
DEAD_STATES = "ZX"  # a zombie has ended, and stays in the table only until its parent asks for its status
NAME = re.compile(r"(?P<host>[\w.-]+)-(?P<place>[0-9a-f]{8})-(?P<boot>[0-9a-f]{8})-(?P<pid>\d+)-(?P<started>\d+)")


class Process(NamedTuple):
    """A process of this or another machine; its number alone would be given to another one some day."""

    #: Name of the machine, for people.
    host: str
    #: Digest of what tells apart tables of processes: machine and namespace. Two containers have one each.
    place: str
    #: Digest of the machine's current start: a process of an earlier one has ended.
    boot: str
    pid: int
    #: When it began, in clock ticks since the machine's start; 0 where the system does not say (macOS).
    started: int

    def __str__(self) -> str:
        """Return its name within file names, such as ``node7-3fa2b1c0-9d2e4f11-4242-98765``."""
        return f"{self.host}-{self.place}-{self.boot}-{self.pid}-{self.started}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the process of such a name; None if the text is none."""
        if not (found := NAME.fullmatch(text)):
            return None
        return cls(found["host"], found["place"], found["boot"], int(found["pid"]), int(found["started"]))

    @property
    def is_visible(self) -> bool:
        """Whether this process can see if that one runs: it is on the same machine, and no container between."""
        return self.place == this_process().place

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended; False too where that cannot be seen from here."""
        if not self.is_visible:
            return False
        return self.boot != this_process().boot or _started(self.pid) not in (self.started, None)


def this_process() -> Process:
    """Return the process that calls."""
    return _process(os.getpid())  # not remembered across a fork


@cache
def _process(pid: int) -> Process:
    host = os.uname().nodename
    place = _digest(host, _text(Path("/etc/machine-id")), _namespace())
    boot = _digest(_text(PROC / "sys/kernel/random/boot_id"))
    return Process(re.sub(r"[^\w.-]", "_", host), place, boot, pid, _started(pid) or 0)


def _started(pid: int) -> int | None:
    """Return when a process began, -1 if there is none of that number, None if the system does not say when."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return -1
    except PermissionError:
        pass  # somebody else's
    # The name of the program, in brackets, may hold anything; behind it are the state and, 19 fields on, the start.
    fields = _text(PROC / str(pid) / "stat").rpartition(")")[2].split()
    if not fields:
        return None  # no such files here, or hidden from other users
    return -1 if fields[0] in DEAD_STATES else int(fields[19])


def _namespace() -> str:
    try:
        return os.readlink(PROC / "self/ns/pid")
    except OSError:
        return ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]
