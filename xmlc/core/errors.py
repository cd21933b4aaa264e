"""Errors for users, and those that the machine causes, such as a full disk."""

from __future__ import annotations

import errno
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

# Error codes that occur only when a program writes
WRITING_ONLY = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# Error codes that are due to the machine, and not to the program or a file's content
OF_THE_MACHINE = WRITING_ONLY | {errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.EIO}
OF_THE_MACHINE |= {errno.ESTALE, errno.ENOMEM}
#: Present names for former names of hyperparameters, options, commands and keys, for messages.
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

# Similar names, and valid values, in a message at most
FEW = 3
MOST_LISTED = 20
INTERRUPTED = "interrupted. Run the same command again to continue."


class XmlcError(Exception):
    """A fault that the user can fix. Its message has what was found and expected, and the remedy.

    The command line prints only the message, and exits with status 1.

    See Also
    --------
    xmlc.InvalidDataError, xmlc.InvalidParameterError, xmlc.core.checksums.Damaged

    Examples
    --------
    >>> import xmlc
    >>> try:
    ...     xmlc.load_model("absent")
    ... except xmlc.XmlcError as error:
    ...     print(str(error)[:22])
    absent: found no model
    """


def needs_extra(what: str, extra: str) -> XmlcError:
    """Return an error that asks for an extra in the clone, because xmlc is on no package index."""
    return XmlcError(
        f"{what}. Install the extra `{extra}` in the clone of xmlc: pip install '.[{extra}]'"
    )


class InvalidDataError(XmlcError, ValueError):
    """Invalid data, a ValueError as in NumPy and scikit-learn.

    See Also
    --------
    xmlc.XmlcError, xmlc.InvalidParameterError

    Examples
    --------
    >>> from xmlc import PLT
    >>> PLT().fit([[1.0], [2.0]], [[1, 0]])
    Traceback (most recent call last):
    xmlc.core.errors.InvalidDataError: ...
    """


class MissingFileError(XmlcError, FileNotFoundError):
    """A missing file or folder of the user, a FileNotFoundError."""


class InvalidParameterError(XmlcError, ValueError, TypeError):
    """An invalid hyperparameter, a ValueError and TypeError as in scikit-learn.

    See Also
    --------
    xmlc.XmlcError, xmlc.InvalidDataError

    Examples
    --------
    >>> from xmlc import PLT
    >>> PLT().set_params(aritty=4)
    Traceback (most recent call last):
    xmlc.core.errors.InvalidParameterError: ...expected arity or one of...
    """


class NotFittedError(XmlcError, ValueError, AttributeError):
    """An unfitted estimator that was asked to predict, a ValueError and an AttributeError.

    So is scikit-learn's error of this name, which would take a second to import.
    """


def shown(value: object) -> str:
    """Return a user's value as text, shortened if it is long."""
    text = f"{type(value).__name__} {value}"
    if isinstance(value, str):  # the repr of a NumPy string contains its type
        text = repr(str(value))
    elif isinstance(value, bytes | int | float | None):
        text = repr(value)
    text = " ".join(text.split())
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."


def nearest(name: str, names: Collection[Any]) -> str:
    """Return names to suggest instead of ``name``, as text that follows the word "expected".

    These are the present name for a former one (`RENAMED`), and otherwise the most similar
    ``names`` in any case of letters, or all if they are few or none is similar.
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
    """Return some of ``total`` valid values as text, with "and N more" if needed."""
    if len(listed) == 1 < total:
        return f"{listed[0]} or one of {total - 1} more"
    if len(listed) < total:
        return f"one of {', '.join(listed)} and {total - len(listed)} more"
    if total <= FEW:
        return " or ".join(listed)
    return f"one of {', '.join(listed)}"


def let_through(error: BaseException) -> None:
    """Raise an error again if the machine caused it, because a retry would not help."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) in OF_THE_MACHINE:
        raise error
