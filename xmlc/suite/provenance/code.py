"""Identify the code of a record: the digest of users' files, and the commit of the clone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from xmlc.core.sources import PACKAGE, source_digest, source_files


def user_digest(files: Iterable[str]) -> str:
    """Return the digest of users' files and of the modules that these files import from their folders.

    If no user's files are given, return an empty text.
    """
    own = source_files(*(file for file in files if PACKAGE not in Path(file).resolve().parents), package=False)
    return source_digest(own) if own else ""


def commit() -> str:
    """Return the commit of this clone, with "-dirty" if files were edited.

    If xmlc does not run from a clone, or if git is missing, return an empty text.
    """
    # If xmlc is installed inside another project's repository, git would describe that repository.
    if not (PACKAGE.parent / ".git").exists():
        return ""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
