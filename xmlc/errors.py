"""The one exception that speaks to the user, and what is said of an error of the operating system."""

from __future__ import annotations

import errno
import os
import re
import shutil

AGAIN = "then give the same command again"
MORE_ROOM = f"Free space there (`df -h` shows how much there is), {AGAIN}"
# What to do about errors that are no fault of the program or of a file's content.
ADVICE = {
    errno.ENOSPC: MORE_ROOM,
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
}
# The same for errors that may also come from a file's content, or from what a command was given.
HINTS = {
    errno.EEXIST: f"A file is there, where a folder is needed: move it away, or name another place, {AGAIN}",
    errno.ENOTDIR: f"A file is there, where a folder is needed: move it away, or name another place, {AGAIN}",
    errno.EISDIR: f"A folder is there, where a file is needed: move it away, or name another place, {AGAIN}",
}
WRITING_ONLY = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # no reading ends so
NOT_WHOLE = "the file could not be written whole, so the disk is probably full or a quota used up"
CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # numpy keeps the rest of the reason to itself


class XmlcError(Exception):
    """Something the user can mend: the message says what was found, what was expected and what to do.

    The command line prints the message alone, without a traceback, and exits with status 1.
    """


def is_of_the_machine(error: BaseException) -> bool:
    """Tell whether an error is about the machine (a full disk, missing rights), and not about what a file contains."""
    return isinstance(error, OSError) and (error.errno in ADVICE or is_cut_short(error))


def let_through(error: BaseException) -> None:
    """Raise an error again if it is about the machine: to make a file again, say, would not help."""
    if is_of_the_machine(error):
        raise error


def is_of_writing(error: OSError) -> bool:
    """Tell whether an error can only come from writing; it then often lacks the name of the file."""
    return error.errno in WRITING_ONLY


def is_cut_short(error: OSError) -> bool:
    """Tell whether numpy says that it could not write an array to its end, where the system's reason is lost."""
    return error.errno is None and CUT_SHORT.search(str(error)) is not None


def sentence_of(error: OSError) -> str | None:
    """Say in a sentence which file an error of the operating system concerns, what failed, and what to do.

    Parameters
    ----------
    error : OSError

    Returns
    -------
    str or None
        None for an error that does not come from the operating system.
    """
    if isinstance(error, shutil.Error):  # of a copied folder: a list of source, target and reason
        reasons = error.args[0] if error.args else ()
        return "; ".join(f"{reason[1]}: {reason[2]}" for reason in reasons if isinstance(reason, tuple)) or str(error)
    if is_cut_short(error):
        error = OSError(errno.ENOSPC, NOT_WHOLE)
    if error.errno is None:
        return None
    name = (is_of_writing(error) and error.filename2) or error.filename  # of a copy, the second is what is written
    if name is None and is_of_writing(error):
        name = "standard output or error"
    where = f"{os.fsdecode(name)}: " if isinstance(name, str | bytes | os.PathLike) else ""
    said = f"{where}{error.strerror or error}"
    advice = ADVICE.get(error.errno) or HINTS.get(error.errno)
    return f"{said}. {advice}" if advice else said


class InvalidDataError(XmlcError, ValueError):
    """Data is not what was asked for; a ValueError, as it is of NumPy's and scikit-learn's functions."""
