"""Checks of texts and lists of label names, and the label sets that the names make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown


def _as_list(what: str, values: Any, expected: str) -> list[Any]:
    """Return one value per text as a list, but refuse a string, which would yield letters, or a
    table, which would yield its column names.
    """
    if (
        isinstance(values, str | bytes)
        or hasattr(values, "columns")
        or not isinstance(values, Iterable)
    ):
        raise InvalidDataError(f"{what}: found {shown(values)}, expected {expected}")
    if isinstance(values, set | frozenset):
        raise InvalidDataError(
            f"{what}: found a set, expected a list, because the order of a set is arbitrary"
        )
    return list(values)


def checked_texts(texts: Iterable[str], vectorizer: Any) -> list[str]:
    """Return checked texts as a list."""
    expected = "a list of texts. Write [text] for a single text, or select a column of a table."
    found = _as_list("texts", texts, expected)
    if getattr(vectorizer, "input", None) == "file":
        return found
    for i, text in enumerate(found):
        if not isinstance(text, str):  # a missing text of a table may be None or NaN
            advice = "Drop a missing value. Use an estimator of xmlc.models for features."
            raise InvalidDataError(f"text {i}: found {shown(text)}, expected a text. {advice}")
    return found


def checked_pairs(
    texts: Iterable[str], label_lists: Iterable[Iterable[str]], vectorizer: Any
) -> tuple[list[str], list[list[str]]]:
    """Return checked texts, and checked label names of each text."""
    expected = "[['a name'], ...], one list per text. Use an estimator of xmlc.models for matrices."
    given = _as_list("labels", label_lists, expected)
    if isinstance(texts, list | tuple) and texts and isinstance(texts[0], list | tuple | set):
        if given and isinstance(given[0], str):
            raise InvalidDataError(
                "found (label_lists, texts), expected (texts, label_lists). Swap the arguments."
            )
    texts = checked_texts(texts, vectorizer)
    if len(texts) != len(given):
        raise InvalidDataError(
            f"found {len(texts)} texts and {len(given)} lists of labels, expected one list per text"
        )
    lists = [_names_of_text(i, names) for i, names in enumerate(given)]
    _check_characters("texts", texts)
    _check_characters("labels", set().union(*lists))
    return texts, lists


def _names_of_text(i: int, names: Any) -> list[str]:
    where = f"labels of text {i}: found"
    # A mapping or a pandas Series has keys, so it may be a row of a label matrix.
    if isinstance(names, str) or hasattr(names, "keys") or not isinstance(names, Iterable):
        advice = "Use [[name] for name in labels] or [cell.split(';') for cell in labels]."
        raise InvalidDataError(
            f"{where} {shown(names)}, expected a list of names, or [] for none. {advice}"
        )
    found = list(names)
    for name in found:
        # numbers are probably a row of a label matrix, and a split empty cell is one empty text
        if not isinstance(name, str) or not name.strip():
            advice = "Write the number 1 as '1', and list only names of labels that the text has."
            raise InvalidDataError(f"{where} {shown(name)}, expected a name. {advice}")
    if isinstance(names, set | frozenset):  # the order of a set differs between processes
        found.sort()
    return found


def _check_characters(what: str, strings: Iterable[Any]) -> None:
    """Raise an error if half a surrogate pair shows that a text was read with a wrong encoding."""
    for string in strings:
        if (
            isinstance(string, str)
            and not string.isascii()
            and string.encode("utf-8", "ignore").decode() != string
        ):
            said = "expected valid Unicode. Read the file with the correct encoding."
            raise InvalidDataError(
                f"{what}: found {shown(string)} with an incomplete character, {said}"
            )


def indicator(label_lists: Sequence[Sequence[str]], column: dict[str, int]) -> sparse.csr_array:
    """Return label sets as a csr_array of bool, (n, m), with the given columns of label names."""
    indptr = [0]
    indices: list[int] = []
    for names in label_lists:
        indices += sorted({column[name] for name in names})
        indptr.append(len(indices))
    arrays = np.ones(len(indices), dtype=bool), np.array(indices, dtype=np.int32), np.array(indptr)
    return sparse.csr_array(arrays, shape=(len(label_lists), len(column)))
