"""Messages about errors of the operating system: the file, the failure and the remedy."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence

from xmlc.core.errors import WRITING_ONLY

AGAIN = "then run the same command again."
MOVE_AWAY = f"Move it away or choose another path, {AGAIN}"
ADVICE = {
    errno.ENOSPC: f"Delete files on that disk (`df -h` shows free space), {AGAIN}",
    errno.EDQUOT: f"Delete files on that disk or raise the quota, {AGAIN}",
    errno.EFBIG: f"Raise the limit on file sizes (`ulimit -f`), {AGAIN}",
    errno.EROFS: f"Make the file system writable or choose another path, {AGAIN}",
    errno.EMFILE: f"Raise the limit on open files (`ulimit -n`), {AGAIN}",
    errno.ENFILE: f"Close other programs on this machine, {AGAIN}",
    errno.EIO: f"Check the disk (`dmesg` shows the reason), {AGAIN}",
    errno.ESTALE: f"Check the network file system, {AGAIN}",
    errno.ENOMEM: f"Close other programs on this machine or request more memory, {AGAIN}",
    errno.EISDIR: f"Found a folder, expected a file. {MOVE_AWAY}",
}
ADVICE |= dict.fromkeys(
    (errno.EEXIST, errno.ENOTDIR), f"Found a file, expected a folder. {MOVE_AWAY}"
)
PERMIT = f"Change the permissions (`ls -ld` shows them) or choose another path, {AGAIN}"
ADVICE |= dict.fromkeys((errno.EACCES, errno.EPERM), PERMIT)


def sentence_of(error: OSError) -> str | None:
    """Return the message for an error of the system, or None for others."""
    # shutil.Error, of a failed copy of a folder, has a list of (source, target, reason)
    if isinstance(error, shutil.Error):
        reasons: Sequence[object] = ()
        if error.args:
            reasons = error.args[0]
        return "; ".join(
            f"{reason[1]}: {reason[2]}" for reason in reasons if isinstance(reason, tuple)
        ) or str(error)
    if error.errno is None:
        return None
    writes = error.errno in WRITING_ONLY
    # With two file names, of a failed copy, the second is the target
    name = error.filename
    if writes and error.filename2:
        name = error.filename2
    if writes and name is None:
        name = "standard output or error"
    message = error.strerror or str(error)
    if isinstance(name, str | bytes | os.PathLike):
        message = f"{os.fsdecode(name)}: {message}"
    if error.errno in ADVICE:
        return f"{message}. {ADVICE[error.errno]}"
    return message
