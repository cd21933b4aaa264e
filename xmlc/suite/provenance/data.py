"""The content of a dataset's files, so that a step runs again if a file changes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from xmlc.core.checksums import NAME, SYSTEMS_OWN, Damaged, Files, checksum_now, listed_in


def contents(folder: Path) -> list[str]:
    """Return the name and the checksum of each file in a folder, one text each.

    The folder's list of checksums serves for files that are older than it, and the others are read.
    Age is the last status change (ctime), because `cp -p` gives a new file an old modification
    time.
    """
    listed = Files()
    since = 0
    with suppress(Damaged):  # a folder that a user copied may have no list
        listed = listed_in(folder)
        since = (folder / NAME).stat().st_ctime_ns
    found = []
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.is_file() and file.name not in (NAME, *SYSTEMS_OWN):
            status = file.stat()
            entry = listed.get(file.name)
            same = entry and entry["bytes"] == status.st_size and status.st_ctime_ns <= since
            found.append(
                f"{file.name} {entry['xxh3_128'] if entry and same else checksum_now(file)}"
            )
    return found
