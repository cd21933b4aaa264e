"""Write messages about operating-system errors, with the file, the failure and the remedy."""

from __future__ import annotations

import errno
import os
import shutil

from xmlc.core.checksums import Damaged
from xmlc.core.errors import WRITING_ONLY

MADE = "resources", "results"  # Steps of the workflow write to these folders.
AGAIN = "then give the same command again"
MOVE_AWAY = f"move it away, or name another place, {AGAIN}"
ADVICE = {
    errno.ENOSPC: f"Free space there (`df -h` shows how much there is), {AGAIN}",
    errno.EDQUOT: f"Free space there or have the quota raised, {AGAIN}",
    errno.EFBIG: f"Raise the limit of the size of files (`ulimit -f`), {AGAIN}",
    errno.EROFS: f"Make the file system writable, or name a place that is, {AGAIN}",
    errno.EACCES: f"Give yourself the right to it (`ls -ld` shows who has it), or name another place, {AGAIN}",
    errno.EPERM: f"Give yourself the right to it (`ls -ld` shows who has it), or name another place, {AGAIN}",
    errno.EMFILE: f"Raise the limit of open files (`ulimit -n`), {AGAIN}",
    errno.ENFILE: f"End other programs on this machine, {AGAIN}",
    errno.EIO: f"Look at the disk (`dmesg` has the reason), {AGAIN}",
    errno.ESTALE: f"Look at the network file system, {AGAIN}",
    errno.ENOMEM: f"End other programs on this machine, or ask for more memory, {AGAIN}",
    errno.EEXIST: f"A file is there, where a folder is needed: {MOVE_AWAY}",
    errno.ENOTDIR: f"A file is there, where a folder is needed: {MOVE_AWAY}",
    errno.EISDIR: f"A folder is there, where a file is needed: {MOVE_AWAY}",
}


def sentence_of(error: OSError) -> str | None:
    """Return a sentence about an operating-system error, with its file, the failure and the remedy.

    Parameters
    ----------
    error : OSError

    Returns
    -------
    str or None
        None if the operating system did not raise the error.
    """
    if isinstance(error, shutil.Error):  # Copying a folder raises a list of sources, targets and reasons.
        reasons = error.args[0] if error.args else ()
        return "; ".join(f"{reason[1]}: {reason[2]}" for reason in reasons if isinstance(reason, tuple)) or str(error)
    if error.errno is None:
        return None
    writes = error.errno in WRITING_ONLY
    name = (writes and error.filename2) or error.filename  # The second file of a copy is the one written.
    if name is None and writes:
        name = "standard output or error"
    where = f"{os.fsdecode(name)}: " if isinstance(name, str | bytes | os.PathLike) else ""
    said = f"{where}{error.strerror or error}"
    advice = ADVICE.get(error.errno)
    return f"{said}. {advice}" if advice else said


def message_of(error: Exception) -> str:
    """Return an error message for the command line, with a command that rebuilds a damaged result.

    The library's own message has no such command, because its users may have no workflow.
    """
    if isinstance(error, Damaged) and error.target.parts[:1] in [(folder,) for folder in MADE]:
        return f"{error.file}: {error.fault}; delete {error.target} and rebuild it: snakemake {error.target}"
    return str(error)
