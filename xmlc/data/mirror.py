"""Where a mirror is: a folder, or an address of the web."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from xmlc.errors import XmlcError

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class Mirror:
    """A place that holds datasets."""

    #: A folder, or an address without the last slash.
    base: str
    is_url: bool


def mirrors(given: str) -> list[Mirror]:
    """Read what was given as a mirror.

    Parameters
    ----------
    given : str
        A folder, where ``~`` is the home folder; or an address that begins with ``http://``, ``https://`` or
        ``file://``, whose letters beyond ASCII and blanks need not be percent-encoded.

    Returns
    -------
    list of Mirror
        Where to look, in this order. An accented letter has two forms in Unicode, and keyboards, file systems and
        servers differ in which they use; both look the same.

    Raises
    ------
    XmlcError
        It is neither, or an address to which nothing can be appended.
    """
    scheme = SCHEME.match(given)
    kind = scheme.group().lower() if scheme else "file://"
    if kind not in ("http://", "https://", "file://"):
        raise XmlcError(f"mirror {given!r}: expected a folder, or an address that begins with http:// or https://")
    is_url = kind != "file://"
    if is_url:
        base = (kind + given[len(kind) :]).rstrip("/")
        if "#" in given or "?" in given:
            raise XmlcError(f"mirror {given!r}: names of files are appended to it, so write %23 for # and %3F for ?")
        if not _host(base):
            raise XmlcError(f"mirror {given!r}: expected the name of a server behind {kind}")
    else:
        base = str(Path(unquote(given[len(kind) :]) if scheme else given).expanduser())
    forms = (base, unicodedata.normalize("NFC", base), unicodedata.normalize("NFD", base))
    return [Mirror(form, is_url) for form in dict.fromkeys(forms)]


def lacking(candidates: Sequence[Mirror], file: str) -> str:
    """Say that none of some mirrors, which are forms of one name, has a file."""
    is_there = any(mirror.is_url or Path(mirror.base).is_dir() for mirror in candidates)
    return f"the mirror {candidates[0].base} " + (f"has no {file}" if is_there else "is no folder on this machine")


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that do not close, say
        return None
