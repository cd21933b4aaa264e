"""Unfinished downloads: a file of its own for each process, one process for each address.

A part is resumed by the next process only if the server named the version that it belongs to.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from xmlc.data.fetching.limits import Limits
from xmlc.errors import XmlcError
from xmlc.files import FORGOTTEN, errors_named
from xmlc.processes import Process, this_process
from xmlc.runtime.claims import Claimed, claimed

PART, VERSION = ".part", ".version"
FIRST_WAIT, WAIT = 0.3, 5.0  # seconds to wait for another process before that is said, and before it is looked at again
_numbers = count(1)


@dataclass(frozen=True)
class Version:
    """Which of a server's files a part belongs to."""

    #: Strong ``ETag``, or ``Last-Modified`` if the file had not just changed.
    validator: str
    #: Length of the whole file in bytes, if the server says it.
    total: int | None


@dataclass(frozen=True)
class Part:
    """The unfinished file of this process."""

    file: Path

    @classmethod
    def of(cls, partial: Path, source: str) -> Part:
        """Take over what a process that has ended left of a source, if it can be resumed; remove what cannot."""
        own, key = cls(partial / f"{_key(source)}+{this_process()}{PART}"), _key(source)
        left = [part for part in _of_ended_processes(partial) if part.file.name.startswith(f"{key}+")]
        for part in sorted(left, key=lambda part: part.size, reverse=True):
            if part.version is None or own.version is not None:
                part.discard()
            else:  # the version first: a part without one is never resumed
                with suppress(FileNotFoundError):  # another process sweeps
                    os.replace(part.version_file, own.version_file)
                    os.replace(part.file, own.file)
        if own.version is None:
            own.discard()
        return own

    @property
    def version_file(self) -> Path:
        """Where its version is kept."""
        return self.file.with_suffix(VERSION)

    @property
    def version(self) -> Version | None:
        """The version that it belongs to; None if it cannot be resumed."""
        try:
            content = json.loads(self.version_file.read_text(encoding="utf-8"))
            return Version(str(content["validator"]), content["total"]) if self.file.exists() else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @property
    def size(self) -> int:
        """Bytes that are there."""
        return self.file.stat().st_size if self.file.exists() else 0

    def begin(self, version: Version | None) -> None:
        """Begin anew, with a file that the server calls by a version or not at all."""
        self.discard()
        if version is not None:
            self.version_file.write_text(json.dumps(asdict(version)), encoding="utf-8")

    def discard(self) -> None:
        """Remove it."""
        self.version_file.unlink(missing_ok=True)
        self.file.unlink(missing_ok=True)


def sweep_parts(partial: Path) -> None:
    """Remove what ended processes left: what cannot be resumed, what nobody has resumed for `FORGOTTEN` seconds."""
    for part in _of_ended_processes(partial):
        with suppress(OSError):  # another process may remove it too
            if part.version is None or time.time() - part.file.stat().st_mtime > FORGOTTEN:
                part.discard()
    for whole in partial.glob("*.whole*"):
        if not _waiting(partial, whole.name.partition(".")[0]):
            whole.unlink(missing_ok=True)


def fetch_once(source: str, target: Path, partial: Path, limits: Limits, fetch: Callable[[Part], None]) -> None:
    """Fetch a file, or take it from a process that is fetching it.

    Parameters
    ----------
    source : str
        Its address.
    target : Path
        Appears when the file is whole.
    partial : Path
        Folder for unfinished files, on the same file system as ``target``.
    limits : Limits
    fetch : callable
        Completes the part that it is given.

    Raises
    ------
    XmlcError
        Another process has fetched for longer than the limit.
    Exception
        What ``fetch`` raised. The part is kept if it can be resumed, but for errors of the disk.
    """
    partial.mkdir(parents=True, exist_ok=True)
    with _alone(source, partial, limits) as others, errors_named(target):
        if others is not None and others.exists():
            _share(others, target, partial, _key(source))
            return
        part = Part.of(partial, source)
        try:
            fetch(part)
            _share(part.file, target, partial, _key(source))
            part.discard()
        except BaseException as error:
            if part.version is None or isinstance(error, OSError):
                part.discard()
            raise


@contextmanager
def _alone(source: str, partial: Path, limits: Limits) -> Iterator[Path | None]:
    """Be the one that fetches a source; give the place of what another fetched while this process waited."""
    key, waits = _key(source), None
    whole, deadline, patience = partial / f"{key}.whole", time.monotonic() + 3600 * limits.hours, FIRST_WAIT
    try:
        while True:
            try:
                with claimed(partial / key, source, patience=patience):
                    is_shared = waits is not None and _is_newer(whole, waits)
                    if waits is not None:
                        waits.unlink(missing_ok=True)
                    yield whole if is_shared else None
                    return
            except Claimed as error:
                holder = error.claim
            if waits is None:
                waits, patience = partial / f"{key}.waits+{this_process()}+{next(_numbers)}", WAIT
                waits.touch()
                unseen = "" if holder.process.is_visible else f" (if it does not run any more, delete {holder.file})"
                who = f"process {holder.process.pid} on {holder.process.host}, which fetches {source}{unseen}"
                print(f"xmlc: waiting for {who}", file=sys.stderr, flush=True)
            if time.monotonic() > deadline:
                raise XmlcError(
                    f"process {holder.process.pid} on {holder.process.host} has fetched this file for more than "
                    f"{limits.hours:g} hours; stop it, or delete {holder.file} if it does not run any more"
                )
    finally:
        if waits is not None:
            waits.unlink(missing_ok=True)


def _share(file: Path, target: Path, partial: Path, key: str) -> None:
    """Move a whole file to where it belongs; leave a copy to the processes that wait for it."""
    whole = partial / f"{key}.whole"
    if file == whole:
        if _waiting(partial, key):
            shutil.copyfile(file, target)
        else:
            os.replace(file, target)
        return
    whole.unlink(missing_ok=True)
    if _waiting(partial, key):
        copy = whole.with_name(f"{whole.name}+{this_process()}+{next(_numbers)}")
        with suppress(OSError):  # a full disk, say: the others will fetch it themselves
            shutil.copyfile(file, copy)
            os.replace(copy, whole)
        copy.unlink(missing_ok=True)
    os.replace(file, target)


def _key(source: str) -> str:
    """Return what files of a source are called."""
    return hashlib.sha256(source.encode()).hexdigest()[:32]


def _of_ended_processes(partial: Path) -> list[Part]:
    found = set()
    for name in os.listdir(partial) if partial.is_dir() else ():
        stem, suffix = os.path.splitext(name)
        process = Process.parse(stem.partition("+")[2])
        if suffix in (PART, VERSION) and process is not None and process.has_ended:
            found.add(Part(partial / f"{stem}{PART}"))
    return sorted(found, key=lambda part: part.file)


def _waiting(partial: Path, key: str) -> bool:
    """Tell whether a process waits for a source that may still run."""
    marks = partial.glob(f"{key}.waits+*")
    processes = [Process.parse(mark.name.split("+")[1]) for mark in marks]
    return any(process is not None and not process.has_ended for process in processes)


def _is_newer(file: Path, mark: Path) -> bool:
    try:
        return file.stat().st_mtime_ns >= mark.stat().st_mtime_ns
    except FileNotFoundError:
        return False
