"""Read the names of labels in a table cell or a JSON value."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

from xmlc.data.formats.lines import BLANKS, DECIMAL, LineError, quoted, words

SEPARATOR = ";"
OTHER_SEPARATORS = ",|\t\n"
BRACKETS = {"[": "]", "(": ")", "{": "}"}
# STRING matches a string literal of Python.
STRING = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""", re.DOTALL)
# CALL matches texts of calls, such as array([..]), dict_keys(['a']) or [np.str_('a')]. Texts of calls are not literals
# of Python.
CALL = re.compile(
    r"""(?:array|set|frozenset)\(.*\)|[A-Za-z_][\w.]*+\(\[?\(?['"].*\)|\[[A-Za-z_][\w.]*+\(.*\]""", re.DOTALL | re.ASCII
)
MULTI_HOT = {"0", "1", "0.0", "1.0", "true", "false"}
# Keys of a label's JSON object whose value is a number, such as the label's score.
SCORES = ("score", "value", "probability", "confidence", "weight")
# URI schemes may contain plus signs, hyphens and dots, which `str.translate` removes with the table IN_SCHEMES.
IN_SCHEMES = dict.fromkeys(map(ord, "+-."))
ARE_NAMES = 'names of labels, such as "cooking". Replace the 0s and 1s by the names of the labels.'


class LabelNames:
    """Read the names of labels, and count the cells that seem to have another separator than a semicolon.

    Parameters
    ----------
    separator : str, optional
        Separator between names in a cell. The default separator is a semicolon. By default a cell without semicolons
        may also contain URIs with blanks between them, or a list written as text by Python or JSON.
    """

    def __init__(self, separator: str | None = None) -> None:
        self.separator = separator
        #: The attribute ``uris`` maps labels to their URIs. The attribute ``shared`` contains the labels with two or
        #: more URIs. If a label has two or more URIs, its name is replaced by the URIs.
        self.uris: dict[str, str] = {}
        self.shared: set[str] = set()
        self.shared_is_known = False
        #: The names of the file's columns or keys, one of which contains the labels.
        self.keys: list[str] = []
        self._cells, self._separated, self._seen = 0, 0, Counter[str]()

    def of_cell(self, cell: str) -> list[str]:
        """Return the distinct names in a cell, in order of first appearance.

        Reading a cell takes time linear in the length of the cell.

        Raises
        ------
        LineError
            The cell has a list that cannot be read, only zeros and ones, or URIs with commas between them.
        """
        cell = cell.strip(BLANKS)
        if not cell:
            return []
        if self.separator is None:
            if "><" in cell and cell[0] == "<" and cell[-1] == ">":
                raise LineError(quoted(cell), "names with a separator between them, such as a;b")
            if (value := written_value(cell)) is not None:
                return self.of_value(value)
            self._cells += 1
            self._separated += SEPARATOR in cell
            self._seen.update(mark for mark in OTHER_SEPARATORS if mark in cell)
        separator = self.separator or SEPARATOR
        if self.separator is not None or separator in cell:
            found = cell.split(separator)
            if cell[0] == cell[-1] == '"' and found[0].count('"') == 1 < len(found):
                raise LineError(quoted(cell), "no quotes, or a file with a header and quoted cells")
            _refuse_multi_hot(found, 3)
        else:
            _refuse_multi_hot(words(cell.replace(",", " ")), 3)
            found = _uris_or_name(cell)
        return _distinct(_without_angles(name) for name in found)

    def of_value(self, value: Any) -> list[str]:
        """Return the distinct names in a JSON value.

        Parameters
        ----------
        value : list, dict, str or None
            A list of names, of whole numbers, or of objects with a ``label`` or ``uri``. The value may also be the text
            of a cell, or a single object with a ``label`` or ``uri``. The value may also be an object that maps each
            name to 0 or 1, or to false or true. Objects with a ``label`` may contain a ``score`` or ``value`` of 0 or
            1.

        Raises
        ------
        LineError
            The value has none of the allowed forms.
        """
        if value is None:
            return []
        if isinstance(value, str):
            return self.of_cell(value)
        if isinstance(value, dict):
            if any(isinstance(value.get(key), str) for key in ("label", "uri")):
                return _distinct([self._of_entry(value)])
            return _distinct(name for name, flag in value.items() if _flag(name, flag))
        if not isinstance(value, list):
            raise LineError(_shown(value), 'a list of names, such as ["3"]')
        _refuse_multi_hot(value, 3 if all(isinstance(each, str) for each in value) else 2)
        return _distinct(self._of_entry(each) for each in value)

    def hint(self) -> str:
        """Return a warning if many cells seem to have another separator than a semicolon, else an empty text."""
        for mark, count in self._seen.most_common(1):
            if 10 * self._separated <= count and 10 * count >= self._cells:
                also = f"{SEPARATOR!r} in {self._separated or 'none'}"
                found = f"found {mark!r} in {count} of {self._cells} cells of labels, and {also}"
                return f"{found}. If {mark!r} separates labels, use --separator {mark!r}."
        return ""

    def _of_entry(self, entry: Any) -> str:
        if isinstance(entry, dict):
            name = self._of_object(entry)
            scores = [score for key in SCORES if isinstance(score := entry.get(key), int | float)]
            return name if all(_flag(name, score) for score in scores) else ""
        if isinstance(entry, str) or (isinstance(entry, int) and not isinstance(entry, bool)):
            return str(entry)
        raise LineError(f"{_shown(entry)} in a list of labels", "a name, or an object with a label or uri")

    def _of_object(self, value: dict[str, Any]) -> str:
        label, uri = (each.strip(BLANKS) if isinstance(each := value.get(key), str) else "" for key in ("label", "uri"))
        if not label and not uri:
            raise LineError(_shown(value), "an object with a string as label or uri")
        if label and uri and self.uris.setdefault(label, uri) != uri and label not in self.shared:
            if self.shared_is_known:
                found = f"label {quoted(label)} with the URIs {quoted(self.uris[label])} and {quoted(uri)}"
                remedy = "Save the texts as a file, because standard input cannot be read twice."
                raise LineError(found, f"one URI for each label. {remedy}")
            self.shared.add(label)
        return uri if not label or (uri and label in self.shared) else label


def written_value(cell: str) -> Any:
    """Return the list or mapping of names that a cell contains as text.

    For example, pandas writes a list as text into a cell.

    Returns
    -------
    list, dict or None
        None if the cell contains neither a list nor a mapping.

    Raises
    ------
    LineError
        The cell looks like a list but cannot be read. For example, a NumPy array as text has no commas and cannot be
        read.
    """
    call = cell[-1] in ")]" and CALL.fullmatch(cell)
    if BRACKETS.get(cell[0]) != cell[-1] and not call:
        return None
    try:
        return json.loads(cell, object_pairs_hook=once)
    except LineError:
        raise
    except (ValueError, RecursionError):
        value = _literal(cell)
    if isinstance(value, set):
        return sorted(value, key=str)  # Sort the names, because the order of a set differs between processes.
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return value
    inside = cell[1:-1].strip(BLANKS)
    numbers = cell[0] == "[" and all(DECIMAL.fullmatch(each) or each.lower() in MULTI_HOT for each in words(inside))
    if call or inside[:1] in ("'", '"') or numbers or (cell[0] in "[{" and "," in inside):
        raise LineError(quoted(cell), "names with a separator between them, or a list such as ['a', 'b']")
    return None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the pairs of a JSON object to a dict. Raise `LineError` if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise LineError(f"the key {key!r} twice", "each key once")
    return found


def _literal(cell: str) -> Any:
    """Return the value of a Python literal.

    For a text that is not a literal, such as NumPy's "['a' 'b']", return None.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Without this filter, Python would warn about backslashes in names.
            value = ast.literal_eval(cell)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return None if "''" in "".join(words(STRING.sub("'", cell))) else value


def _uris_or_name(cell: str) -> list[str]:
    """Split a cell at blanks if it has at least two URIs, and return the names in the cell.

    If the cell is split, consecutive words that are not URIs become one name.
    """
    if ":" not in cell:
        return [cell]
    parts = words(cell)
    uris = [is_uri(part) for part in parts]
    if sum(uris) < min(2, len(parts)):
        return [cell]
    odd = next((part for part in parts if part[-1] in ",|" or not any(map(str.isalnum, part))), "")
    if odd and len(parts) > 1:
        expected = "blanks between URIs. Set --separator to any other separator."
        raise LineError(f"{quoted(odd)} in {quoted(cell)}", expected)
    found: list[list[str]] = []
    for part, uri, after_uri in zip(parts, uris, [True, *uris]):
        if uri or after_uri:
            found.append([])
        found[-1].append(part)
    return [" ".join(each) for each in found]


def is_uri(word: str) -> bool:
    """Return whether a word is a URI: ``scheme://...``, ``urn:...``, or any ``scheme:...`` in angle brackets."""
    inside = _without_angles(word)
    scheme, colon, rest = inside.partition(":")
    if not (colon and rest and scheme[:1].isalpha() and scheme.isascii() and scheme.translate(IN_SCHEMES).isalnum()):
        return False
    return inside != word or rest.startswith("//") or scheme.lower() == "urn"


def _without_angles(name: str) -> str:
    """Return a name without the angle brackets around a URI."""
    name = name.strip(BLANKS)
    inside = name[1:-1]
    enclosed = name[:1] == "<" and name[-1:] == ">" and ":" in inside
    return inside if enclosed and not any(each in inside for each in "<>" + BLANKS) else name


def _distinct(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(name.strip(BLANKS) for name in names) if name]


def _refuse_multi_hot(values: list[Any], least: int) -> None:
    """Raise `LineError` if a list with at least ``least`` entries contains only zeros and ones."""
    flags = [isinstance(each, str | int | float) and str(each).strip(BLANKS).lower() in MULTI_HOT for each in values]
    if len(values) >= least and all(flags):
        raise LineError(_shown(values), ARE_NAMES)


def _flag(name: Any, flag: Any) -> bool:
    """Convert a label's flag (0, 1, false or true), which states whether a text has the label, to a bool."""
    if not isinstance(name, str) or not isinstance(flag, bool | int | float) or flag not in (0, 1):
        raise LineError(f"{_shown(flag)} for label {_shown(name)}", "0, 1, false or true")
    return bool(flag)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
