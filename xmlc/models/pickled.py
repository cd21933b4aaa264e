"""Objects of other libraries as joblib files, which run code when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xmlc.core.checksums import verify_file
from xmlc.core.errors import XmlcError, let_through


def store(path: Path, thing: Any) -> None:
    """Write an object of another library to a file by joblib, or raise an `XmlcError`."""
    import joblib

    try:
        joblib.dump(thing, path)
    except Exception as error:  # code that pickles an object may raise any error
        let_through(error)
        said = "Use objects that joblib can store. Define functions in a module, not as a lambda."
        raise XmlcError(f"{type(thing).__name__} cannot be saved ({error}). {said}") from error


def read(path: Path, trusted: bool) -> Any:
    """Return the object that `store` wrote to the file ``path``.

    Parameters
    ----------
    path : Path
    trusted : bool
        Allow code from the file to run.

    Raises
    ------
    Damaged
        The file is missing, or was changed after it was written.
    XmlcError
        ``trusted`` is false.
    """
    if not trusted:
        said = "If you trust the file, load it with trusted=True (--trusted on the command line)."
        raise XmlcError(
            f"{path}: found a file of joblib, and reading it runs code from the folder. {said}"
        )
    verify_file(path)
    import joblib

    return joblib.load(path)
