"""Malformed lines, collected and reported together."""

from __future__ import annotations

from pathlib import Path

from xmlc.data.formats import _rows
from xmlc.errors import XmlcError

LISTED = 20


class Malformed(ValueError):
    """What a parser found in a line, as it would be shown, and what it expected."""

    def __init__(self, found: str, expected: str):
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


class MalformedLines:
    """Collects what is wrong with a file, so that all of it is said at once.

    Parameters
    ----------
    path : Path
        The file, for the messages.
    """

    def __init__(self, path: Path):
        self.path = path
        self.count = 0
        self.messages: list[str] = []
        self.hint = ""

    def add(self, line: int, found: str, expected: str) -> None:
        """Note one malformed line by its number, from 1."""
        self.count += 1
        if len(self.messages) < LISTED:
            self.messages.append(f"{self.path}:{line}: found {found}, expected {expected}")

    def add_unlisted(self, count: int) -> None:
        """Count malformed lines without listing them."""
        self.count += count

    def raise_any(self) -> None:
        """Raise one error for all lines noted, if there are any."""
        if self.count:
            more = self.count - len(self.messages)
            tail = f"\n... and {more} more malformed lines" if more else ""
            head = "1 malformed line" if self.count == 1 else f"{self.count} malformed lines"
            raise XmlcError(f"{self.path}: {head}; nothing was read\n" + "\n".join(self.messages) + tail + self.hint)


def quoted(text: str) -> str:
    """Return what stands in a file as a message shows it: in quotes, on one line, not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def expectation(code: int, base: int, label_base: int, n_features: int, n_labels: int, column: str = "feature") -> str:
    """Say what the row parser expected where it gave a line up; ``column`` is what the ids before colons stand for."""
    return {
        _rows.BLANK: "an instance; a blank line would shift the rows (one without labels starts with a space)",
        _rows.BAD_LABEL: "labels as whole numbers separated by commas",
        _rows.LABEL_RANGE: f"a label of {label_base} .. {label_base + n_labels - 1}",
        _rows.BAD_FEATURE: f"{column}:value with a whole number as {column}",
        _rows.FEATURE_RANGE: f"a {column} of {base} .. {base + n_features - 1}",
        _rows.NO_VALUE: f"{column}:value; is the line cut off?",
        _rows.BAD_VALUE: "a finite decimal number as value",
        _rows.NOT_FINITE: "a value that fits single precision",
        _rows.DUPLICATE: f"each {column} once",
    }[code]
