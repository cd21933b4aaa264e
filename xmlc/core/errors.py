"""Define errors for users, and recognize errors that the machine causes, such as a full disk."""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

# WRITING_ONLY contains error codes that occur only when a program writes, never when it reads.
WRITING_ONLY = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# OF_THE_MACHINE contains error codes that are due to the machine, such as a full disk, and not to
# the program or a file's content.
OF_THE_MACHINE = WRITING_ONLY | {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.EIO}
OF_THE_MACHINE |= {errno.ESTALE, errno.ENOMEM}
#: Maps former names of hyperparameters, options, commands and keys to present names. If a user uses
#: a former name, the error message suggests the present name.
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
    "passport": "environment",
    "calibrated": "fitted",
}

# Largest numbers of similar names and of valid values in a message.
FEW = 3
MOST_LISTED = 20
INTERRUPTED = "interrupted. Run the same command again to continue."


class XmlcError(Exception):
    """Report a fault that the user can fix.

    The message of an `XmlcError` contains the value found, the expected value and the remedy.

    If an `XmlcError` is raised, the command line prints only its message, without a traceback, and
    exits with status 1.
    """


def needs_extra(what: str, extra: str) -> XmlcError:
    """Return an error about a missing package.

    The message tells the user to install an extra in the clone, because xmlc is on no package
    index.
    """
    return XmlcError(
        f"{what}. Install the extra `{extra}` in the clone of xmlc: pip install '.[{extra}]'"
    )


class InvalidDataError(XmlcError, ValueError):
    """Report invalid data.

    `InvalidDataError` is a subclass of ValueError, as in NumPy and scikit-learn.
    """


class MissingFileError(XmlcError, FileNotFoundError):
    """Report that a user's file or folder is missing.

    `MissingFileError` is a subclass of FileNotFoundError.
    """


class InvalidParameterError(XmlcError, ValueError, TypeError):
    """Report an invalid hyperparameter.

    InvalidParameterError is a subclass of ValueError and TypeError, as in scikit-learn.
    """


class NotFittedError(XmlcError, ValueError, AttributeError):
    """An unfitted estimator was asked to predict.

    Like scikit-learn's error of this name, which would take a second to import, it is a ValueError
    and an AttributeError.
    """


def shown(value: object) -> str:
    """Return a user's value as text for a message, shortened if it is long."""
    text = f"{type(value).__name__} {value}"
    if isinstance(value, str):  # The repr of a NumPy string contains its type.
        text = repr(str(value))
    elif isinstance(value, bytes | int | float | None):
        text = repr(value)
    text = " ".join(text.split())
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."


def nearest(name: str, names: Collection[Any]) -> str:
    """Return names to suggest instead of ``name``, as text that follows the word "expected".

    If ``name`` is a former name (`RENAMED`), the returned text is the present name. Otherwise, the
    text has the most similar of ``names``, or all ``names`` if they are few or none is similar. The
    case of letters does not matter.
    """
    if name in RENAMED and RENAMED[name] in names:
        return RENAMED[name]
    known = sorted(map(str, names))
    by_lower_case = {each.lower(): each for each in known}
    similar = [
        by_lower_case[each] for each in get_close_matches(name.lower(), by_lower_case, n=FEW)
    ]
    if len(known) <= FEW:
        return selection(similar + [each for each in known if each not in similar], len(known))
    return selection(similar or known[:MOST_LISTED], len(known))


def selection(listed: Sequence[str], total: int) -> str:
    """Return ``listed``, some of ``total`` valid values, as text.

    If values are left out, it ends with "and N more".
    """
    if len(listed) < total:
        return f"one of {', '.join(listed)} and {total - len(listed)} more"
    if total <= FEW:
        return " or ".join(listed)
    return f"one of {', '.join(listed)}"


def let_through(error: BaseException) -> None:
    """Raise an error again if the machine caused it, such as a full disk, because a retry would not
    help.
    """
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in OF_THE_MACHINE:
        raise error
