"""Check arguments of users, with advice on how to make a matrix of numbers or of label sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidDataError, shown

HEAVIEST = 1e30  # largest weight of an instance
# Advice in messages, without the final period
OF_LISTS = "Convert label lists with sklearn.preprocessing.MultiLabelBinarizer(sparse_output=True)"
OF_CLASSES = (
    "Convert classes with sklearn.preprocessing.MultiLabelBinarizer().fit_transform([[one] for "
    "one in y]), or a single label with np.reshape(y, (-1, 1))"
)
OF_TEXTS = "Use xmlc.TextClassifier for texts, or make features with scikit-learn's TfidfVectorizer"
OF_DICTS = "Convert dictionaries with sklearn.feature_extraction.DictVectorizer"
LARGEST_WEIGHT = 1e38  # its product with an estimate is finite in float32
OF_COLUMNS = "Join the arrays of the labels with np.column_stack([one[:, 1] for one in estimates])"


def no_matrix(given: Any, array: Any, of_labels: bool, name: str) -> InvalidDataError:
    """Return an error for a user's value, converted to ``array``, that is no matrix of numbers."""
    first = None
    if not sparse.issparse(array) and array.size:
        first = array.reshape(-1)[0]
    found = f"values of type {array.dtype}"
    if isinstance(first, str):
        found = f"texts such as {shown(first)}"
    elif array.dtype.kind == "O":
        found = f"values of type {type(first).__name__}"
    expected = "numbers, with one column per label"
    if of_labels:
        expected = "0 and 1, with one column per class"
    elif name == "X":
        expected = "numbers, with one column per feature"
    advice = _advice(given, array, first, of_labels)
    if array.ndim == 2 or (array.ndim and name == "X" and isinstance(first, str)):
        return InvalidDataError(f"{name}: found {found}, expected {expected}. {advice}.")
    found = f"{found} with shape {array.shape}"
    if array.ndim == 0:
        found = shown(given)
    # scikit-learn's wording
    message = (
        f"{name}: found {found}, expected 2 dimensions: {expected}. Reshape your data. {advice}."
    )
    if of_labels:
        message = f"Unknown label type: {message}"
    return InvalidDataError(message)


def _advice(given: Any, array: Any, first: object, of_labels: bool) -> str:
    """Return advice on how to make a matrix from an array whose first value is ``first``."""
    if array.dtype.kind == "c":
        # scikit-learn's wording
        return "Complex data not supported, take the real part or the absolute values"
    if array.ndim == 0:
        if isinstance(given, str | os.PathLike):
            return "Read a file with xmlc.data.load"
        return "Pass a list or an array"
    if array.ndim == 3 and array.shape[2] == 2:
        return OF_COLUMNS
    if of_labels:
        if array.ndim == 2 or isinstance(first, list | tuple | set | frozenset):
            return OF_LISTS
        return OF_CLASSES
    if isinstance(first, str):
        return OF_TEXTS
    if isinstance(first, Mapping):
        return OF_DICTS
    if array.ndim == 2:
        return "Encode or convert the values"
    return "Pass a single instance as np.reshape(x, (1, -1))"


def no_label_sets(value: Any, row: int, column: int, n_labels: int, name: str) -> InvalidDataError:
    """Return an `InvalidDataError` for a label matrix with values other than 0 and 1."""
    if np.isnan(value):
        advice = "Fill these entries, or drop the rows"
    elif n_labels == 1:
        advice = OF_CLASSES
    elif value % 1:
        advice = "Convert estimates with xmlc.thresholds.apply_thresholds"
    else:
        advice = f"Convert counts, or -1 and 1, with {name.split()[0]} > 0. {OF_LISTS}"
    found = f"{value} in row {row}, column {column}"
    return InvalidDataError(
        f"Unknown label type: {name}: found {found}, expected 0 or 1. {advice}."
    )


def swapped(error: InvalidDataError, call: str) -> InvalidDataError:
    """Return an error that advises swapping arguments, as in the correct ``call``."""
    found, _, rest = str(error).partition(", expected")
    advice = rest.partition(". ")[2]
    said = (
        f"Swap the arguments if their order is wrong. Otherwise, {advice[:1].lower()}{advice[1:]}"
    )
    return InvalidDataError(
        f"{found}, and only 0 and 1 in the other argument, expected {call}. {said}"
    )


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return ``values`` as a float64 array in row-major order, or raise an `InvalidDataError`."""
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        said = "Convert the values."
        if sparse.issparse(values):
            said = "Convert the matrix with toarray()."
        raise InvalidDataError(
            f"{name}: found {shown(values)}, expected an array of numbers. {said}"
        ) from None


def sample_weights(values: Any, n: int) -> np.ndarray:
    """Return weights of n instances, from 0 to 1e30 and not all 0, as float32, or raise an error.

    Weights below 1e-30 become 0.
    """
    weights = as_numbers(values, "sample_weight")
    weights = np.where(np.abs(weights) < 1 / HEAVIEST, 0, weights)
    wrong = ~((weights >= 0) & (weights <= HEAVIEST))
    if weights.shape != (n,):
        found = f"shape {weights.shape}"
    elif wrong.any():
        found = f"{weights[wrong.argmax()]} in row {wrong.argmax()}"
    elif weights.any():
        return weights.astype(np.float32)
    else:
        found = "zero in all rows"  # scikit-learn expects this word
    expected = (
        f"{n} numbers from 0 to {HEAVIEST:g}, one per instance, not all 0. Use 1 as the usual "
        "weight."
    )
    raise InvalidDataError(f"sample_weight: found {found}, expected {expected}")


def weights_of_labels(values: Any, m: int) -> np.ndarray:
    """Return weights of m labels, from 0 to ``LARGEST_WEIGHT``, as new float64."""
    weights = as_numbers(values, "label_weights").copy()
    if weights.shape != (m,):
        raise InvalidDataError(
            f"label_weights: found shape {weights.shape}, expected ({m},): one weight per label"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights <= LARGEST_WEIGHT)))
    if wrong.size:
        expected = f"a number from 0 to {LARGEST_WEIGHT:g}. Use 0 to exclude a label."
        raise InvalidDataError(
            f"label_weights[{wrong[0]}]: found {weights[wrong[0]]}, expected {expected}"
        )
    return weights


def check_same_instances(n: int, n_labelled: int) -> None:
    """Raise an `InvalidDataError` if features and label sets have different numbers of rows."""
    if n != n_labelled:
        expected = "one label set per instance. Check for missing rows, or a transposed matrix."
        raise InvalidDataError(
            f"X and Y: found {n} instances and {n_labelled} label sets, expected {expected}"
        )


def check_same_shape(spe: Any, Y: Any, what: str = "estimates") -> None:
    """Raise an `InvalidDataError` unless estimates or predictions have the shape of the truth."""
    if spe.shape != Y.shape:
        expected = f"{Y.shape}, the shape of the truth. Check for missing instances or labels."
        raise InvalidDataError(f"{what}: found shape {spe.shape}, expected {expected}")
