"""Malformed lines, collected and reported together."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from xmlc.data.formats import _rows
from xmlc.errors import XmlcError

LISTED = 20


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

    def add(self, line: int, found: str, expected: str) -> None:
        """Note one malformed line by its number, from 1."""
        self.count += 1
        if len(self.messages) < LISTED:
            shown = found if len(found) <= 60 else found[:57] + "..."
            self.messages.append(f"{self.path}:{line}: found {shown!r}, expected {expected}")

    def add_code(self, line: int, code: int, token: str, base: int, n_features: int, n_labels: int) -> None:
        """Note one error of the row parser."""
        expected = {
            _rows.BLANK: "an instance; a blank line would shift the rows (one without labels starts with a space)",
            _rows.BAD_LABEL: "labels as whole numbers separated by commas",
            _rows.LABEL_RANGE: f"a label of {base} .. {base + n_labels - 1}",
            _rows.BAD_FEATURE: "feature:value with a whole number as feature",
            _rows.FEATURE_RANGE: f"a feature of {base} .. {base + n_features - 1}",
            _rows.NO_VALUE: "feature:value; is the line cut off?",
            _rows.BAD_VALUE: "a finite decimal number as value",
            _rows.NOT_FINITE: "a value that fits single precision",
            _rows.DUPLICATE: "each feature once",
        }
        self.add(line, token, expected[code])

    def add_unlisted(self, count: int) -> None:
        """Count malformed lines without listing them."""
        self.count += count

    def raise_any(self) -> None:
        """Raise one error for all lines noted, if there are any."""
        if self.count:
            self._raise()

    def _raise(self) -> NoReturn:
        more = self.count - len(self.messages)
        tail = f"\n... and {more} more malformed lines" if more else ""
        head = "1 malformed line" if self.count == 1 else f"{self.count} malformed lines"
        raise XmlcError(f"{self.path}: {head}; nothing was read\n" + "\n".join(self.messages) + tail)
