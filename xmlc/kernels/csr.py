"""Validation of features, label sets and sparse probability estimates (SPE), as CSR for kernels.

scipy checks only the ends of index arrays, and neither its conversions nor kernels check indices,
so a wrong one may read outside the memory. So this module first validates the arrays of a sparse
matrix, in one pass over each. The error, `Malformed`, names the array and the first wrong entry.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.appendable import give_back
from xmlc.core.errors import InvalidDataError
from xmlc.kernels.checks import OF_LISTS, no_label_sets, no_matrix, swapped
from xmlc.kernels.frames import frame_values, is_frame
from xmlc.kernels.indices import COMPRESSED, prove_sparse

ENTRIES_PER_BLOCK = 1 << 24  # entries in a block of `blocks_of_rows`, roughly
INDEXED = (*COMPRESSED, "coo")  # scipy's formats with arrays of indices
#: A user's matrix: sparse, an array, a frame, or rows that NumPy converts to an array.
Matrix = ArrayLike | sparse.sparray | sparse.spmatrix
CSR = sparse.csr_array
Kind = Literal["number", "share", "probability"]
REMEDIES = {
    "share": ("shares", "Divide counts by the number of instances."),
    "probability": ("probabilities", "Divide percentages by 100."),
}
ROUNDING = 1e-6  # the sigmoid of a float32 may exceed 1 by this much
FEW = 100  # too few instances for a warning of `warn_of_sums`
NO_WEIGHTS = np.zeros(0)  # labels without weights


class KernelCSR(NamedTuple):
    """A CSR matrix in the only form for which kernels are compiled.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n_rows + 1,)
    indices : ndarray of uint32, shape (nnz,), sorted within each row
    data : ndarray of float32, shape (nnz,)
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def kernel_csr(matrix: CSR) -> KernelCSR:
    """Return a CSR matrix as a `KernelCSR`, without a copy if the arrays have the required types.

    It is the last check before kernels: an index outside of a matrix that `as_csr` or `load_csr`
    did not validate raises `Malformed`. Because indices are unsigned, the compiler drops the test
    for negative ones, which would slow kernels down by a factor of 1.4 to 3.4.
    """
    if not is_validated(matrix):
        matrix = trimmed(matrix, prove_sparse(matrix, "matrix"))
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int32).view(np.uint32)
    return KernelCSR(indptr, indices, np.ascontiguousarray(matrix.data, dtype=np.float32))


def is_validated(matrix: object) -> bool:
    """Return whether `validated` marked a matrix, which kept its shape and index arrays since.

    `as_csr` and `load_csr` mark only the matrix that they return, because other code may change the
    user's own in place.
    """
    mark = getattr(matrix, "_validated", None)
    if mark is None or not isinstance(matrix, CSR):
        return False
    shape, arrays = mark
    return bool(
        shape == matrix.shape and arrays[0] is matrix.indptr and arrays[1] is matrix.indices
    )


def validated(matrix: CSR) -> CSR:
    """Mark and return a matrix whose index arrays are valid."""
    # An attribute, not an entry of a table, so that the mark disappears with the matrix
    matrix._validated = (matrix.shape, (matrix.indptr, matrix.indices))  # type: ignore[attr-defined]
    return matrix


def trimmed(matrix: CSR, ascending: bool) -> CSR:
    """Return a validated matrix without memory after its end, sorted if ``ascending``."""
    nnz = int(matrix.indptr[-1])
    result = CSR((matrix.data[:nnz], matrix.indices[:nnz], matrix.indptr), shape=matrix.shape)
    result.has_sorted_indices = result.has_canonical_format = ascending
    return result


def with_values(X: CSR, values: np.ndarray) -> CSR:
    """Return ``X`` with other values, and with its mark of `validated`."""
    result = CSR((values, X.indices, X.indptr), shape=X.shape)
    result.has_sorted_indices = X.has_sorted_indices
    if is_validated(X):
        validated(result)
    return result


def some_rows(matrix: CSR, start: int, end: int) -> CSR:
    """Return rows ``start .. end - 1`` of a canonical matrix, without a copy."""
    indptr = matrix.indptr[start : end + 1]
    entries = slice(int(indptr[0]), int(indptr[-1]))
    rows = assembled(
        matrix.data[entries], matrix.indices[entries], indptr - indptr[0], matrix.shape[1]
    )
    if is_validated(matrix):
        validated(rows)
    return rows


def assembled(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_columns: int) -> CSR:
    """Return a canonical matrix of validated arrays, without a copy of ``data`` and ``indices``.

    scipy's constructor would copy small parts of larger arrays, and ``indices`` if ``indptr``
    exceeds 32 bits. Slicing and reading rows allow different types.
    """
    matrix = CSR((indptr.size - 1, n_columns), dtype=data.dtype)
    if indptr[-1] <= np.iinfo(np.int32).max:
        matrix.indptr = indptr.astype(np.int32)
    else:
        matrix.indptr = indptr.astype(np.int64)
    matrix.indices = indices
    matrix.data = data
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def released(matrix: CSR) -> CSR:
    """Mark and return a matrix that maps unchanged files, so that `release` may free it."""
    matrix._lent = True  # type: ignore[attr-defined]
    return matrix


def release(matrix: CSR) -> None:
    """Free the memory of a matrix marked by `released`, which later reads load again."""
    if getattr(matrix, "_lent", False):
        give_back(matrix.indices, matrix.data)


def blocks_of_rows(matrix: CSR, *others: CSR) -> list[tuple[CSR, ...]]:
    """Split canonical matrices with equally many rows into blocks of rows, without a copy.

    A block has at least one row of every matrix, and about ``ENTRIES_PER_BLOCK`` entries of the
    first, which the caller passes to `release` after reading.
    """
    entries = int(matrix.indptr[-1])
    n = matrix.shape[0]
    cuts = np.searchsorted(matrix.indptr, np.arange(ENTRIES_PER_BLOCK, entries, ENTRIES_PER_BLOCK))
    bounds = [0, *np.unique(cuts[(cuts > 0) & (cuts < n)]).tolist(), n]
    blocks = [
        tuple(some_rows(each, *block) for each in (matrix, *others)) for block in pairwise(bounds)
    ]
    if len(blocks) > 1 and getattr(matrix, "_lent", False):
        for part, *_ in blocks:
            released(part)
    return blocks


def as_features(X: Matrix) -> CSR:
    """Return instances as a canonical float32 CSR array, shape (n, d), without stored zeros.

    Besides the faults of `as_csr`, NaN and infinite entries raise an `InvalidDataError`.
    """
    X = as_csr(X, np.float32, "X")
    is_finite = np.isfinite(X.data)
    if not is_finite.all():
        row = int(np.searchsorted(X.indptr, is_finite.argmin(), side="right")) - 1
        remedy = "Fill these entries, or drop the rows."
        raise InvalidDataError(
            f"X: found NaN or inf in row {row}, expected finite numbers. {remedy}"
        )
    return without_zeros(X)


def as_labels(Y: Matrix, name: str = "Y", other: object = None, call: str = "") -> CSR:
    """Return label sets as a canonical boolean CSR array (n, m), which stores the positives.

    Faults are those of `as_csr`. If the other argument of the user's call contains label sets and
    ``Y`` does not, the message suggests the correct ``call``, because the two are probably swapped.
    """
    try:
        return without_zeros(as_csr(Y, bool, name))
    except InvalidDataError as error:
        if call and _is_matrix(Y, np.float64) and _is_matrix(other, bool):
            raise swapped(error, call) from None
        raise


def _is_matrix(matrix: Any, dtype: type) -> bool:
    try:
        return as_csr(matrix, dtype, "").shape[1] > 1
    except InvalidDataError:
        return False


def as_estimates(spe: Any, dtype: type | None = None, name: str = "estimates") -> CSR:
    """Return estimates as a canonical CSR array with values in (0, 1], without a copy if possible.

    Stored zeros are dropped, and a value that exceeds 1 by a rounding error becomes 1. A ``dtype``
    of None keeps different values different: it is float64 if the input is wider than float32 or
    has no type, and otherwise float32. Values that are no probabilities, and the faults of
    `as_csr`, raise an `InvalidDataError`.
    """
    if dtype is None:
        dtype = np.float64
        if hasattr(spe, "dtype") and spe.dtype.itemsize <= 4:
            dtype = np.float32
    result = as_csr(spe, dtype, name)
    least = 1.0
    most = 0.0
    for (part,) in blocks_of_rows(result):
        check_probabilities(part.data, name, 1 + ROUNDING)
        least = min(least, part.data.min(initial=1))
        most = max(most, part.data.max(initial=0))
        release(part)
    if least == 0:
        result = without_zeros(result)
    if most > 1:
        result = with_values(result, np.minimum(result.data, 1))
    return result


def rounded(thresholds: Any) -> np.ndarray:
    """Return thresholds in float32, below 1 if they were, so that an estimate of 1 exceeds them."""
    values: np.ndarray = np.asarray(thresholds, dtype=np.float32)
    return np.where(
        (values == 1) & (np.asarray(thresholds) < 1), np.nextafter(values, np.float32(0)), values
    )


def check_probabilities(values: np.ndarray, name: str, most: float = 1.0) -> None:
    """Raise an `InvalidDataError` if a value is NaN, negative or above ``most``."""
    if values.size and not (values.min() >= 0 and values.max() <= most):
        wrong = values[~((values >= 0) & (values <= most))].flat[0]
        remedy = "Apply a sigmoid to scores or logits."
        raise InvalidDataError(
            f"{name}: found {wrong}, expected probabilities from 0 to 1. {remedy}"
        )


def warn_of_sums(found: float, least: float, most: float, n: int) -> None:
    """Warn if the sum of n instances' estimates is outside of ``least .. most``.

    Such estimates cannot be probabilities. Below 100 instances, the number of true labels varies
    too much for a warning.
    """
    if n >= FEW and not least <= found <= most:
        fault = (
            f"found a sum of {found:.0f}, expected {least:.0f} to {most:.0f} for the number of "
            "labels"
        )
        risk = "The estimates may not be probabilities, and label sets may be poor"
        remedy = (
            "Calibrate estimates on labelled instances with xmlc.thresholds.IsotonicCalibration"
        )
        warnings.warn(
            f"estimates: {fault}. {risk}. {remedy}, or fit LabelSets with Y.", stacklevel=3
        )


def per_label(
    value: object, n_labels: int, dtype: type, name: str, kind: Kind = "number"
) -> np.ndarray:
    """Return an array of shape (m,) from one number for all labels or one per label.

    A "share" of instances lies between 0 and 1, and so does a "probability", a threshold that may
    also be infinite, which no estimate exceeds. Other values, NaN and wrong shapes raise an
    `InvalidDataError`.
    """
    try:
        if value is None:  # NumPy would make it NaN
            raise TypeError
        values: np.ndarray = np.asarray(value, dtype=dtype)
        if dtype is np.float32:
            values = rounded(value)
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"found {name}={value!r}, expected a number, or one per label"
        ) from None
    if values.shape not in ((), (n_labels,)):
        expected = f"a number, or shape ({n_labels},) with one number per label"
        raise InvalidDataError(f"{name}: found shape {values.shape}, expected {expected}")
    if np.isnan(values).any():
        raise InvalidDataError(f"{name}: found NaN, expected numbers")
    wrong = values[(values < 0) | (values > 1) & ((values < np.inf) | (kind == "share"))]
    if kind != "number" and wrong.size:
        plural, remedy = REMEDIES[kind]
        raise InvalidDataError(
            f"{name}: found {wrong.flat[0]}, expected {plural} from 0 to 1. {remedy}"
        )
    return np.ascontiguousarray(np.broadcast_to(values, (n_labels,)))


def as_csr(matrix: Any, dtype: type, name: str) -> CSR:
    """Return a user's matrix as a validated canonical CSR array, without a copy if possible.

    Raises
    ------
    InvalidDataError
        If the matrix is masked or not two-dimensional, an index lies outside of it, or a value is
        not a number, or neither 0 nor 1 for bool.
    """
    if is_validated(matrix) and matrix.dtype == dtype and matrix.has_canonical_format:
        return matrix
    if np.ma.isMaskedArray(matrix):
        remedy = "Fill the masked entries, or drop their rows."
        raise InvalidDataError(
            f"{name}: found a masked array, expected one without a mask. {remedy}"
        )
    if is_frame(matrix):
        matrix = frame_values(matrix, name)
    given = matrix
    try:
        if not sparse.issparse(matrix):
            matrix = np.asarray(matrix)
    except ValueError:
        remedy = "Make all rows equally long"
        if dtype is bool:
            remedy = OF_LISTS
        raise InvalidDataError(
            f"{name}: found rows of different lengths, expected a matrix. {remedy}."
        ) from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise no_matrix(given, matrix, dtype is bool, name)
    kind = ""
    ascending = False
    if sparse.issparse(matrix):  # scipy's type stubs lack `format`
        ascending = prove_sparse(matrix, name)
        kind = matrix.format  # type: ignore[attr-defined]
        if kind not in INDEXED:
            matrix = CSR(matrix)  # type: ignore[call-overload]
            prove_sparse(matrix, name)
    if dtype is bool:
        _check_truth_values(matrix, name)
    if kind in INDEXED and not ascending and dtype is not bool and matrix.dtype != dtype:
        # Duplicates are summed before rounding, as in a dense matrix
        kind = "csr"
        matrix = CSR(matrix, copy=True)
        matrix.sum_duplicates()
    if kind == "csr":
        result = trimmed(CSR(matrix, dtype=dtype), ascending)
    else:
        result = CSR(matrix.astype(dtype))
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return validated(result)


def without_zeros(matrix: CSR) -> CSR:
    """Return a matrix without stored zeros. The given one may be read-only."""
    if matrix.data.all():
        return matrix
    result = matrix.copy()
    result.eliminate_zeros()
    if is_validated(matrix):
        validated(result)
    return result


def entries_above(spe: CSR, thresholds: np.ndarray) -> CSR:
    """Return a new matrix of the estimates strictly above their label's threshold (m,)."""
    return without_zeros(
        with_values(spe, np.where(spe.data > thresholds[spe.indices], spe.data, spe.dtype.type(0)))
    )


def _check_truth_values(matrix: Any, name: str) -> None:
    if matrix.dtype == bool:
        return
    values = matrix
    if not isinstance(matrix, np.ndarray):
        values = matrix.data
    if np.isin(values, (0, 1)).all():
        return
    entries = sparse.coo_array(matrix)
    wrong = np.flatnonzero(~np.isin(entries.data, (0, 1)))
    if wrong.size:  # memory after the last entry may contain any values
        first = wrong[np.argmin(entries.row[wrong])]
        raise no_label_sets(
            entries.data[first], entries.row[first], entries.col[first], matrix.shape[1], name
        )


def stack_estimates(
    counts: np.ndarray, labels: np.ndarray, estimates: np.ndarray, n_labels: int
) -> CSR:
    """Return an SPE or label sets as a CSR array, built from the labels of consecutive instances.

    ``counts`` has the number of labels of each instance, which may be in any order within it. The
    estimates of label sets are True.
    """
    indptr = np.concatenate(([0], np.cumsum(counts)))
    spe = CSR((estimates, labels, indptr), shape=(counts.size, n_labels))
    spe.sort_indices()
    return spe


def top_k_of(
    spe: CSR, k: int, label_weights: np.ndarray = NO_WEIGHTS
) -> tuple[np.ndarray, np.ndarray]:
    """Rank the labels of each instance by their estimates, multiplied by the label weights if any.

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        Labels by descending product, the smaller label first among equal ones. Rows with fewer than
        k products above 0 are padded with -1.
    scores : ndarray of float32, shape (n, k)
        Their products, 0 in the padding.
    """
    if label_weights.size:
        spe = without_zeros(
            with_values(spe, (spe.data * label_weights[spe.indices]).astype(np.float32))
        )
    counts = np.diff(spe.indptr)
    order = np.lexsort((spe.indices, -spe.data, np.repeat(np.arange(counts.size), counts)))
    return ranking_of(counts, spe.indices[order], spe.data[order], k)


def ranking_of(
    counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k labels of each instance and their scores, in the format of `top_k_of`.

    ``counts`` has the number of labels of each instance, which are listed best first.
    """
    rows = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(labels.size) - np.repeat(np.cumsum(counts) - counts, counts)
    first = rank < k
    places = (rows[first], rank[first])
    ranked = np.full((counts.size, k), -1, dtype=np.int32)
    values = np.zeros((counts.size, k), dtype=np.float32)
    ranked[places] = labels[first]
    values[places] = scores[first]
    return ranked, values
