"""Define errors for users, and recognize operating-system errors that the machine causes."""

from __future__ import annotations

import errno
from collections.abc import Collection
from difflib import get_close_matches

WRITING_ONLY = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}  # Reading never raises these.
# The machine causes these errors, such as a full disk. The program and the file's content do not.
OF_THE_MACHINE = WRITING_ONLY | {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.EIO}
OF_THE_MACHINE |= {errno.ESTALE, errno.ENOMEM}
#: Former names of hyperparameters, options, commands and keys. They are refused with the present name.
RENAMED = {
    "weight_cut": "weight_threshold",
    "fit_to": "fit_to_disk",
    "floor": "min_probability",
    "floors": "min_probabilities",
    "--floor": "--min-probability",
    "peers": "baselines",
    "--peers": "--baselines",
    "--no-peers": "--no-baselines",
    "beside": "comparison",
    "quick": "batch_seeds",
    "as_in": "from_suite",
    "tuned_as": "share_search_with",
    "found": "selected",
    "further": "extra_stages",
    "in_trials": "trial_overrides",
    "--in-trials": "--trial-overrides",
    "ranked_only": "skip_thresholds",
    "ranks_only": "skip_thresholds",
    "counted_on": "report_on",
    "portion": "split",
    "deviations": "seed-variation",
    "foretold": "cost-estimates",
    "passport": "environment",
    "calibrated": "fitted",
}

INTERRUPTED = "interrupted. Run the same command again to continue."


class XmlcError(Exception):
    """Report a fault that the user can fix. The message has the value found, the value expected and the remedy.

    The command line prints only the message, without a traceback, and exits with status 1.
    """


def needs_extra(what: str, extra: str) -> XmlcError:
    """Return an error about a missing package. It names an extra of the clone, because no package index has xmlc."""
    return XmlcError(f"{what}. Install the extra `{extra}` in the clone of xmlc: pip install '.[{extra}]'")


class InvalidDataError(XmlcError, ValueError):
    """Report invalid data. This is also a ValueError, like in NumPy and scikit-learn."""


class MissingFileError(XmlcError, FileNotFoundError):
    """Report a missing file or folder of the user. This is also a FileNotFoundError."""


class InvalidParameterError(XmlcError, ValueError, TypeError):
    """Report a bad hyperparameter. This is a ValueError and TypeError, like scikit-learn's InvalidParameterError."""


def shown(value: object) -> str:
    """Return a user's value as text for a message, shortened if it is long."""
    value = str(value) if isinstance(value, str) else value  # The repr of a NumPy string contains its type.
    text = repr(value) if isinstance(value, str | bytes | int | float | None) else f"{type(value).__name__} {value}"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def nearest(name: str, names: Collection[str]) -> str:
    """Return the present name of a former one (`RENAMED`), or the nearest of some names as text, or all of them."""
    if RENAMED.get(name) in names:
        return RENAMED[name]
    near = get_close_matches(name.lower(), names, n=3) or sorted(names)
    return " or ".join(near) if len(near) <= 3 else f"one of {', '.join(near)}"


def is_of_the_machine(error: BaseException) -> bool:
    """Return whether the machine causes an error (full disk, missing rights, memory), not a file's content."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, OSError) and error.errno in OF_THE_MACHINE


def let_through(error: BaseException) -> None:
    """Raise an error again if the machine causes it, because rebuilding a file would not help."""
    if is_of_the_machine(error):
        raise error
