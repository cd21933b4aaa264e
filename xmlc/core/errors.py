"""The one exception that speaks to the user, and which errors of the operating system are of the machine."""

from __future__ import annotations

import errno
from collections.abc import Collection
from difflib import get_close_matches

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


class MissingFileError(XmlcError, FileNotFoundError):
    """A user's file or folder does not exist; a FileNotFoundError."""


class InvalidParameterError(XmlcError, ValueError, TypeError):
    """A hyperparameter is out of its range; a ValueError and TypeError, like scikit-learn's InvalidParameterError."""


def shown(value: object) -> str:
    """Return a user's value for a message, cut off if it is long."""
    value = str(value) if isinstance(value, str) else value  # the repr of a NumPy string contains its type
    text = repr(value) if isinstance(value, str | bytes | int | float | None) else f"{type(value).__name__} {value}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def nearest(name: str, names: Collection[str]) -> str:
    """Name the nearest of some names, or all of them."""
    near = get_close_matches(name.lower(), names, n=3) or sorted(names)
    return " or ".join(near) if len(near) <= 3 else f"one of {', '.join(near)}"


def is_of_the_machine(error: BaseException) -> bool:
    """Return whether an error is about the machine (full disk, missing rights, memory), not about a file's content."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, OSError) and error.errno in OF_THE_MACHINE


def let_through(error: BaseException) -> None:
    """Raise an error again if it is about the machine: to make a file again, say, would not help."""
    if is_of_the_machine(error):
        raise error
