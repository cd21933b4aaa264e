"""JSON files checked as they are read: what does not fit is said with file, place, what was found and expected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from xmlc.checksums import check_content
from xmlc.errors import XmlcError, let_through

SCHEMA = 1
HIGHEST = 1 + 1e-9  # a mean of ones may exceed one by a rounding

T = TypeVar("T")
_LOCATED = re.compile(r"(?P<found>.*) - at `(?P<place>\$.*)`", re.DOTALL)
_LACKING = re.compile(r"Object missing required field `(.+)`")


def expected_of(command: str) -> str:
    """Say in a message what a file should be."""
    return f"a record of `xmlc {command}` of this version" if command else "a record of this version"


def check_header(path: Path, content: object, kinds: Iterable[str], command: str) -> str:
    """Return the kind of a record; refuse what is no record of these kinds, or one of another version.

    Raises
    ------
    XmlcError
        With the place.
    """
    expected = expected_of(command)
    if not isinstance(content, dict):
        raise misfit(path, "$", f"found {content!r:.40}", f"{expected}, an object")
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in list(kinds):
        found = f"found {kind!r}, expected {' or '.join(kinds)}"
        raise misfit(path, "$.kind", found, expected)
    if content.get("schema") != SCHEMA:
        raise misfit(path, "$.schema", f"found {content.get('schema')!r}, expected {SCHEMA}", expected)
    return kind


def check_scores(place: str, scores: Mapping[str, float], needed: Iterable[str], shares: Iterable[str] = ()) -> None:
    """Refuse scores that lack a name, or in which one of ``shares`` is no share of one.

    Raises
    ------
    Misfit
        With the place within the object that has the scores.
    """
    if lacking := [name for name in needed if name not in scores]:
        raise Misfit(place, f"{lacking[0]!r} is a required property")
    for name in shares:
        if not 0 <= scores.get(name, 0) <= HIGHEST:
            raise Misfit(f"{place}.{name}", f"found {scores[name]}, expected a share between 0 and 1")


class Misfit(ValueError):
    """What a type cannot say is not so.

    Raise it in ``__post_init__``.

    Parameters
    ----------
    place : str
        Within the object that is checked, such as ``.metrics``.
    found : str
        What is there, and what was expected.
    """

    def __init__(self, place: str, found: str):
        super().__init__(f"{place}: {found}")


def read_checked(path: Path, kind: type[T], expected: str) -> T:
    """Read one file as a dataclass; ``expected`` says in a message what it should be.

    Raises
    ------
    XmlcError
        The file is not readable, was edited, has a number that JSON does not have, or does not fit.
    """
    return as_checked(path, parsed(path), kind, expected)


def parsed(path: Path, what: str = "file") -> object:
    """Return the content of a JSON file that `xmlc.files.write_record` wrote, its checksum proven and left out.

    Raises
    ------
    XmlcError
        The file is not readable, was edited, or has a number that JSON does not have.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        let_through(error)
        raise XmlcError(f"{path}: not a readable JSON {what} ({error}); make it again") from error
    return check_content(path, content) if isinstance(content, dict) else content


def as_checked(path: Path, content: object, kind: type[T], expected: str) -> T:
    """Return the content of a file as a dataclass; keys that are no field of it are left out.

    Raises
    ------
    XmlcError
        It does not fit.
    """
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        place, found = _located(str(error), isinstance(error.__cause__, Misfit))
        raise misfit(path, place, found, expected) from error


def misfit(path: Path, place: str, found: str, expected: str) -> XmlcError:
    """Return the error that says what of a file does not fit, and where."""
    return XmlcError(f"{path}: {place}: {found}; expected {expected}: delete it and make it again")


def _located(message: str, is_misfit: bool) -> tuple[str, str]:
    """Split a message of msgspec into the JSON path and what was found there."""
    matched = _LOCATED.fullmatch(message)
    place, found = (matched["place"], matched["found"]) if matched else ("$", message)
    if is_misfit:
        within, _, found = found.partition(": ")
        place += within
    return place, _LACKING.sub(r"'\1' is a required property", found)


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")
