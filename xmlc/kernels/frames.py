"""Read pandas data frames without importing pandas, and check names of columns and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from xmlc.core.errors import InvalidDataError, shown

SHOWN = 5  # column names in a message


def is_frame(data: object) -> bool:
    """Return whether an object is a pandas data frame."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def frame_values(frame: Any, name: str) -> Any:
    """Return a frame as a matrix of numbers or truth values, sparse if all its columns are.

    Columns of different types, or with missing values, become float64 with NaN. Anything else
    raises an `InvalidDataError`.
    """
    for column, dtype in frame.dtypes.items():
        if dtype.kind not in "biuf":
            expected = "numbers or truth values. Encode, convert or drop the column."
            raise InvalidDataError(
                f"{name}: found column {column!r} of type {dtype}, expected {expected}"
            )
    kinds = [*set(frame.dtypes)]
    if len(kinds) == 1 and isinstance(kinds[0], np.dtype):
        return np.asarray(frame)
    if len(kinds) == 1 and getattr(kinds[0], "fill_value", None) == 0:  # SparseDtype
        return frame.sparse.to_coo()
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def rows_of(data: Any, rows: np.ndarray | slice) -> Any:
    """Return the given rows of a frame, a matrix or a list."""
    if is_frame(data):
        return data.iloc[rows]
    if isinstance(data, list):
        if isinstance(rows, slice):
            return data[rows]
        return [data[i] for i in rows]
    if hasattr(data, "tocsr"):
        return data.tocsr()[rows]
    return np.asarray(data)[rows]


def n_rows(data: Any) -> int:
    """Return the number of rows of a frame, a matrix or a list."""
    if hasattr(data, "shape"):
        return int(data.shape[0])
    return len(data)


def column_names(data: object) -> np.ndarray | None:
    """Return the column names as an array of objects, or None if none is a text.

    If only some are, a TypeError is raised, as in scikit-learn.
    """
    names = np.asarray(getattr(data, "columns", ()), dtype=object)
    kinds = sorted({type(name).__name__ for name in names})
    if "str" in kinds and len(kinds) > 1:
        expected = "text for all or for none. Convert them with X.columns.astype(str)."
        raise TypeError(f"column names: found types {', '.join(kinds)}, expected {expected}")
    if kinds == ["str"]:
        return names
    return None


def check_names(known: np.ndarray, found: np.ndarray, of: str = "feature") -> None:
    """Raise scikit-learn's error unless names are those of training, in the same order."""
    if np.array_equal(known, found):
        return
    faults = {
        "unseen at fit time": sorted(set(found) - set(known)),
        "seen at fit time, yet now missing": sorted(set(known) - set(found)),
    }
    message = f"The {of} names should match those that were passed during fit.\n"
    for fault, names in faults.items():
        if names:
            message += f"{of.capitalize()} names {fault}:\n"
        for name in names[:SHOWN]:
            message += f"- {name}\n"
        if len(names) > SHOWN:
            message += "- ...\n"
    if not any(faults.values()):
        message += f"{of.capitalize()} names must be in the same order as they were in fit.\n"
    raise InvalidDataError(message)


def label_names(names: object, n_labels: int) -> np.ndarray:
    """Return the names of labels, or ``classes_`` of a MultiLabelBinarizer, as an array of objects.

    Raises
    ------
    InvalidDataError
        If the names have no order, one is neither a text nor a number, or they are not ``n_labels``
        different ones.
    """
    given: Any = getattr(names, "classes_", names)
    advice = "Pass a list of the label names, or a fitted MultiLabelBinarizer."
    has_no_order = isinstance(given, str | bytes | set | frozenset | Mapping)
    if has_no_order or not isinstance(given, Iterable):
        expected = "names in the order of the labels"
        raise InvalidDataError(f"label names: found {shown(given)}, expected {expected}. {advice}")
    found = list(given)
    for name in found:
        is_number = isinstance(name, int | float | np.integer | np.floating)
        if isinstance(name, bool):
            is_number = False
        if is_number and name != name:  # NaN
            is_number = False
        if not isinstance(name, str) and not is_number:
            raise InvalidDataError(
                f"label names: found {shown(name)}, expected a text or a number. {advice}"
            )
    n_different = len({*found})
    if len(found) != n_labels or n_different < len(found):
        said = f"found {n_different} different names, expected {n_labels}, one per label"
        raise InvalidDataError(f"label names: {said}. {advice}")
    return np.array(found, dtype=object)
