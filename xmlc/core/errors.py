"""The one exception that speaks to the user, and which errors of the operating system are of the machine."""

from __future__ import annotations

import errno

WRITING_ONLY = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}  # no reading ends so
# No fault of the program or of a file's content: a full disk, missing rights.
OF_THE_MACHINE = WRITING_ONLY | {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.EIO}
OF_THE_MACHINE |= {errno.ESTALE, errno.ENOMEM}

INTERRUPTED = "interrupted; give the same command again, and it goes on"


class XmlcError(Exception):
    """A fault that the user can mend: the message gives the value found, the value expected and the remedy.

    The command line prints the message alone, without a traceback, and exits with status 1.
    """


def needs_extra(what: str, extra: str) -> XmlcError:
    """Return the error that something is not installed; no index of packages has this one."""
    return XmlcError(f"{what}: install the extra `{extra}`, in the clone of xmlc: pip install '.[{extra}]'")


class InvalidDataError(XmlcError, ValueError):
    """Invalid data; a ValueError, as of NumPy's and scikit-learn's functions."""


def is_of_the_machine(error: BaseException) -> bool:
    """Tell whether an error is about the machine (a full disk, missing rights) rather than a file's content."""
    return isinstance(error, OSError) and error.errno in OF_THE_MACHINE


def let_through(error: BaseException) -> None:
    """Raise an error again if it is about the machine: to make a file again, say, would not help."""
    if is_of_the_machine(error):
        raise error
