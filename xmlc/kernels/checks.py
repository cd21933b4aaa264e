"""Check arguments of users, and advise in errors how to make a matrix of numbers or label sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown

HEAVIEST = 1e30  # the largest weight of an instance
OF_LISTS = "sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True) makes a matrix of label lists"
OF_CLASSES = (
    "sklearn.preprocessing.MultiLabelBinarizer().fit_transform([[one] for one in y]) makes a matrix of one class for "
    "each instance, and np.reshape(y, (-1, 1)) of a single label"
)
OF_TEXTS = "xmlc.TextClassifier takes texts, and scikit-learn's TfidfVectorizer makes features of them"
OF_DICTS = "sklearn.feature_extraction.DictVectorizer makes features of dictionaries"
LARGEST_WEIGHT = 1e38  # Products with estimates stay finite in single precision.
OF_COLUMNS = "np.column_stack([one[:, 1] for one in estimates]) makes one of a list with an array for each label"


def no_matrix(given: Any, array: Any, of_labels: bool, name: str) -> InvalidDataError:
    """Return an `InvalidDataError` for a value that is no matrix of numbers.

    Parameters
    ----------
    given : object
        The user's value.
    array : ndarray or sparse matrix
        The array made of the value.
    of_labels : bool
        Whether label sets are expected.
    name : str
        The name of the value in messages.
    """
    first = array.reshape(-1)[0] if not sparse.issparse(array) and array.size else None
    kind = type(first).__name__ if array.dtype.kind == "O" else str(array.dtype)
    example = f", the first {shown(first)}" if isinstance(first, str) else ""
    column = "class" if of_labels else "feature" if name == "X" else "label"
    said = f"{'0 and 1' if of_labels else 'numbers'}, with a column for each {column}"
    if array.ndim == 2:
        said = f"{name} holds values of type {kind}{example}; expected {said}"
    else:  # the wording of scikit-learn
        found = f"{array.size} values of type {kind}{example}" if array.ndim else shown(given)
        said = f"{name}: found {found}, of {array.ndim} dimensions, expected 2: {said}. Reshape your data"
        said = f"Unknown label type: {said}" if of_labels else said
    return InvalidDataError(f"{said}: {_advice(given, array, first, of_labels)}")


def _advice(given: Any, array: Any, first: object, of_labels: bool) -> str:
    """Return advice on how to make a matrix from an array whose first value is ``first``."""
    if array.dtype.kind == "c":
        return "Complex data not supported, take the real part or the absolute values"  # the wording of scikit-learn
    if array.ndim == 0:
        return "xmlc.data.load reads files" if isinstance(given, str | os.PathLike) else "make it a list or an array"
    if array.ndim == 3 and array.shape[2] == 2:
        return OF_COLUMNS
    if of_labels:
        return OF_LISTS if array.ndim == 2 or isinstance(first, list | tuple | set | frozenset) else OF_CLASSES
    if isinstance(first, str):
        return OF_TEXTS
    if isinstance(first, Mapping):
        return OF_DICTS
    return "encode or convert them" if array.ndim == 2 else "np.reshape(x, (1, -1)) makes a matrix of one instance"


def no_label_sets(value: Any, row: int, column: int, n_labels: int, name: str) -> InvalidDataError:
    """Return an `InvalidDataError` for a label matrix with a value that is neither 0 nor 1."""
    if np.isnan(value):
        advice = "fill these entries, or drop the rows"
    elif n_labels == 1:
        advice = OF_CLASSES
    elif value % 1:
        advice = "xmlc.thresholds.apply_thresholds makes label sets of estimates"
    else:
        advice = f"{name.split()[0]} > 0 makes label sets of counts, or of -1 and 1; {OF_LISTS}"
    return InvalidDataError(
        f"Unknown label type: {name} holds {value} in row {row}, column {column}; expected labels of 0 and 1, or "
        f"boolean: {advice}"
    )


def swapped(error: InvalidDataError, call: str) -> InvalidDataError:
    """Return the error with advice to swap the arguments of a ``call``."""
    found, _, rest = str(error).partition("; expected")
    said = f"swap the arguments if their order is wrong, otherwise {rest.partition(': ')[2]}"
    return InvalidDataError(f"{found}, and the other argument holds 0 and 1; expected {call}: {said}")


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return numbers as a float64 array in row-major order.

    Raises
    ------
    InvalidDataError
        If the values are no numbers, or a sparse matrix.
    """
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        said = "sparse.toarray() makes an array of a sparse matrix" if sparse.issparse(values) else "convert it"
        raise InvalidDataError(f"{name}: found {shown(values)}, expected an array of numbers: {said}") from None


def sample_weights(values: Any, n: int) -> np.ndarray:
    """Return the weights of n instances as float32. Weights below 1e-30 become 0.

    Raises
    ------
    InvalidDataError
        If they are not n numbers from 0 to 1e30, or all are 0.
    """
    weights = as_numbers(values, "sample_weight")
    weights = np.where(np.abs(weights) < 1 / HEAVIEST, 0, weights)
    wrong, found = ~((weights >= 0) & (weights <= HEAVIEST)), ""
    if weights.shape != (n,):
        found = f"an array of shape {weights.shape}"
    elif wrong.any():
        found = f"{weights[wrong.argmax()]} in row {wrong.argmax()}"
    elif not weights.any():
        found = "the weight zero in all rows"
    if found:
        said = f"{n} numbers from 0 to {HEAVIEST:g}, one for each instance, not all of them zero; 1 is the usual weight"
        raise InvalidDataError(f"sample_weight: found {found}, expected {said}")
    return weights.astype(np.float32)


def weights_of_labels(values: Any, m: int) -> np.ndarray:
    """Return the weights of m labels as a new float64 array.

    Raises
    ------
    InvalidDataError
        If the shape is wrong, or a weight is no number from 0 to ``LARGEST_WEIGHT``.
    """
    weights = as_numbers(values, "label_weights").copy()
    if weights.shape != (m,):
        raise InvalidDataError(f"label_weights has shape {weights.shape}, expected ({m},): one weight for each label")
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST_WEIGHT)))
    if wrong.size:
        raise InvalidDataError(
            f"label_weights[{wrong[0]}]: found {weights[wrong[0]]}, expected a number from 0 to {LARGEST_WEIGHT:g}; "
            "a weight of 0 excludes a label"
        )
    return weights


def check_same_instances(n: int, n_labelled: int) -> None:
    """Refuse features and label sets with different numbers of instances.

    Raises
    ------
    InvalidDataError
        If the numbers differ.
    """
    if n != n_labelled:
        raise InvalidDataError(
            f"X has {n} instances but Y has {n_labelled}; expected a row of Y for each row of X: check whether "
            "rows of one are missing, or one is transposed"
        )


def check_same_shape(spe: Any, Y: Any, what: str = "the SPE") -> None:
    """Refuse estimates or predictions whose shape differs from the shape of the truth.

    Raises
    ------
    InvalidDataError
        If the shapes differ.
    """
    if spe.shape != Y.shape:
        raise InvalidDataError(
            f"{what} has shape {spe.shape}, the truth {Y.shape}; expected the same: check whether instances or "
            "labels of one are missing"
        )
