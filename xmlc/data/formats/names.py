"""Names of labels in a table cell or a JSON value."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from xmlc.core.errors import shown
from xmlc.data.formats.lines import BLANKS, DECIMAL, LineError, quoted

SEPARATOR = ";"
OTHER_SEPARATORS = ",|#\t\n"
MULTI_HOT = {"0", "1", "0.0", "1.0", "true", "false"}
# Keys of a label's JSON object with a number that is 0 if the text does not have the label
SCORES = ("score", "value", "probability", "confidence", "weight")
ENTRY = re.compile(r"[^\s,;|()]+", re.ASCII)
ANGLES = re.compile(r"\A\s*<([^<>\s:]*:[^<>\s]*)>\s*\Z", re.ASCII)
# Each group matches names in cells that are not just names with semicolons between them. Matching
# takes linear time.
URI = r"<?[a-z][a-z\d+.-]*://|<?urn:|<[^<>\s:]+:"
OTHER_FORM = re.compile(
    rf"""
    (?P<printed> [\w.]*\(\s*\(?[\[{{'"]
               | (?:array|set|frozenset)\(
               | \((?:\s*|[-+.\s\d]*,[-+.,\s\d]*)\)\Z )
    | (?P<uris> .*[\s,|>](?:{URI}) | (?:{URI}).*\s | <[^<>\s:]+:[^>]*\Z )
    | (?P<tags> <.*>< )
    | (?P<quotes> " | '.*'\Z )
    | (?P<html> .*&(?:amp|apos|gt|lt|nbsp|quot|\#\w+)\Z )
    """,
    re.ASCII | re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
WRITE_JSON = """Write a JSON list, such as ["a", "b"]"""
REMEDIES = {
    "printed": WRITE_JSON,
    "uris": "Set --separator to the text between the URIs, such as ' ' or ','",
    "tags": "Replace each >< by a semicolon",
    "quotes": "Remove the quotes",
    "html": "Replace references of HTML, such as &amp;, by their characters",
}
LITERALLY = "If the names are correct as they are, set --separator ';'."


class LabelNames:
    """A reader of names of labels, which counts cells that seem to have another separator.

    Parameters
    ----------
    separator : str, optional
        Separator at which cells with any text are split. By default it is a semicolon, a cell that
        begins with a bracket or brace is JSON, and cells with another form are refused.
    """

    def __init__(self, separator: str | None = None) -> None:
        self.separator = separator
        #: The names of the file's columns or keys, one of which contains the labels.
        self.keys: list[str] = []
        self._uris: dict[str, str] = {}
        self._cells = 0
        self._separated = 0
        self._marks = Counter[str]()

    def of_cell(self, cell: str) -> list[str]:
        """Return the distinct names in a cell in their order, in linear time.

        A cell that is neither JSON nor names with a separator between them, or that contains only
        zeros and ones, raises a `LineError`.
        """
        cell = cell.strip(BLANKS)
        if self.separator is not None:
            parts = cell.split(self.separator)
            _refuse_multi_hot(parts)
            is_quoted = cell.startswith('"') and cell.endswith('"')
            if is_quoted and len(parts) > 1 and parts[0].count('"') == 1:
                raise LineError(quoted(cell), "no quotes, or a file with a header and quoted cells")
            return _distinct(ANGLES.sub(r"\1", part) for part in parts)
        if cell.startswith(("[", "{")):
            return self.of_value(_json(cell))
        _refuse_multi_hot(ENTRY.findall(cell))
        names = _distinct(cell.split(SEPARATOR))
        for name in names:
            match = OTHER_FORM.match(name)
            if match and match.lastgroup:
                remedy = REMEDIES[match.lastgroup]
                expected = f"names with {SEPARATOR!r} between them. {remedy}. {LITERALLY}"
                raise LineError(quoted(cell), expected)
        self._cells += len(names) > 0
        self._separated += SEPARATOR in cell
        self._marks.update(mark for mark in OTHER_SEPARATORS if mark in cell[1:-1])
        return _distinct(ANGLES.sub(r"\1", name) for name in names)

    def of_value(self, value: Any) -> list[str]:
        """Return the distinct names in a JSON value.

        Parameters
        ----------
        value : list, dict, str or None
            A list of names, of whole numbers, or of objects with a ``label`` or ``uri`` and
            possibly a ``score`` or ``value`` of 0 or 1, or one such object. It may also be an
            object that maps each name to 0 or 1, or to false or true, one with a list as
            ``choices``, or the text of a cell.

        Raises
        ------
        LineError
            If the value has another form, or a label has two URIs.
        """
        if value is None:
            return []
        if isinstance(value, str):
            return self.of_cell(value)
        if isinstance(value, dict):
            choices = value.get("choices")
            if isinstance(choices, list) and len(value) == 1:  # Label Studio writes this key
                value = choices
            elif isinstance(value.get("label"), str) or isinstance(value.get("uri"), str):
                value = [value]
            else:
                return _distinct(name for name, flag in value.items() if _flag(name, flag))
        if not isinstance(value, list):
            raise LineError(shown(value), 'a list of names, such as ["3"]')
        _refuse_multi_hot(value)
        return _distinct(map(self._of_entry, value))

    def hint(self) -> str:
        """Return a warning if many cells seem to have another separator, else an empty text."""
        for mark, count in self._marks.most_common(1):
            if 10 * self._separated <= count and 10 * count >= self._cells:
                also = f"{SEPARATOR!r} in {self._separated or 'none'}"
                found = f"found {mark!r} in {count} of {self._cells} cells of labels, and {also}"
                return f"{found}. If {mark!r} separates labels, use --separator {mark!r}."
        return ""

    def _of_entry(self, entry: Any) -> str:
        """Return the name of a label in a list, or an empty text for a label with score 0."""
        if isinstance(entry, str) or type(entry) is int:
            return str(entry)
        if not isinstance(entry, dict):
            expected = "a name, or an object with a label or uri"
            raise LineError(f"{shown(entry)} in a list of labels", expected)
        label = _text(entry, "label")
        uri = _text(entry, "uri")
        name = label or uri
        if not name:
            raise LineError(shown(entry), "an object with a string as label or uri")
        for key in SCORES:
            score = entry.get(key)
            text = str(score).strip(BLANKS).lower()
            is_number = isinstance(score, float) or text in MULTI_HOT or DECIMAL.fullmatch(text)
            if is_number and not _flag(name, score):
                return ""
        if label and uri and self._uris.setdefault(label, uri) != uri:
            found = f"label {quoted(label)} with the URIs {self._uris[label]!r} and {uri!r}"
            expected = "one URI for each label. Write a list of URIs instead of objects."
            raise LineError(found, expected)
        return name


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the pairs of a JSON object to a dict, or raise a `LineError` for a repeated key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise LineError(f"the key {counts.most_common(1)[0][0]!r} twice", "each key once")
    return found


def _json(cell: str) -> Any:
    try:
        return json.loads(cell, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        expected = f"JSON or names with {SEPARATOR!r} between them. {WRITE_JSON}. {LITERALLY}"
        raise LineError(f"{quoted(cell)} ({error})", expected) from None


def _distinct(names: Iterable[str]) -> list[str]:
    found = dict.fromkeys(name.strip(BLANKS) for name in names)
    found.pop("", None)
    return list(found)


def _refuse_multi_hot(values: list[Any]) -> None:
    """Raise a `LineError` if a list has only zeros and ones, except two names or one number."""
    if not MULTI_HOT.issuperset(str(value).strip(BLANKS).lower() for value in values):
        return
    are_names = all(isinstance(value, str) for value in values)
    if len(values) > 2 or (len(values) == 2 and not are_names):
        expected = 'names of labels, such as "cooking". Replace the 0s and 1s by the names.'
        raise LineError(shown(values), expected)


def _flag(name: Any, flag: Any) -> bool:
    if isinstance(flag, str) or flag not in (0, 1):
        raise LineError(f"{shown(flag)} for label {quoted(name)}", "0, 1, false or true")
    return bool(flag)


def _text(entry: dict[str, Any], key: str) -> str:
    """Return a text in an object, or an empty text if the key is absent or null."""
    text = entry.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise LineError(f"{shown(text)} as {key}", "a string")
    return text.strip(BLANKS)
