"""CSR arrays: features, label sets and sparse probability estimates (SPE), proven and in the form that kernels take.

scipy's constructors look at the ends of index arrays only, and its own conversions read where the indices say, as
kernels do. So the arrays are proven before anything else is done with them: a check costs one pass over an array, and
raises `Malformed` with the name of the array and its first wrong entry.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.core.growing import give_back
from xmlc.core.parallel import row_blocks, run_pieces
from xmlc.kernels.checks import OF_LISTS, no_label_sets, no_matrix, swapped
from xmlc.kernels.frames import frame_values, is_frame

NONZEROS_PER_PIECE = 1 << 17  # that are scaled
VALUES_PER_PIECE = 1 << 22  # that are checked
ENTRIES_PER_BLOCK = 1 << 24  # of estimates that are read together
MOST_COLUMNS = np.iinfo(np.int32).max
COMPRESSED = ("csr", "csc", "bsr")
INDEXED = (*COMPRESSED, "coo")  # formats that are index arrays
#: What is taken as a matrix: sparse, an array or a frame, or rows that NumPy makes an array of.
Matrix = ArrayLike | sparse.sparray | sparse.spmatrix
Kind = Literal["number", "share", "probability"]
REMEDIES = {
    "share": ("shares", "divide counts by the number of instances"),
    "probability": ("probabilities", "divide percentages by 100"),
}
ROUNDING = 1e-6  # by which the sigmoid of a float32 may exceed 1
FEW = 100  # instances; of fewer no sum is warned of
NO_WEIGHTS = np.zeros(0)  # of labels: all rank by their estimates


class KernelCSR(NamedTuple):
    """A CSR matrix in the one form that kernels are compiled for.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n_rows + 1,)
    indices : ndarray of uint32, shape (nnz,), sorted within each row
    data : ndarray of float32, shape (nnz,)
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def kernel_csr(matrix: sparse.csr_array) -> KernelCSR:
    """Bring a CSR matrix to the canonical kernel form, without a copy where it has it already.

    The last gate before kernels: a matrix that `as_csr` or `load_csr` did not prove is proven here.

    Unsigned 32-bit indices let the compiler drop the wrap-around test of negative indices, which costs a
    kernel a factor of 1.4 to 3.4.

    Raises
    ------
    Malformed
        Index arrays lead out of the matrix.
    """
    if not is_proven(matrix):
        matrix = trimmed(matrix, prove_sparse(matrix, "matrix"))
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int32).view(np.uint32)
    return KernelCSR(
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        indices,
        np.ascontiguousarray(matrix.data, dtype=np.float32),
    )


def is_proven(matrix: object) -> bool:
    """Tell whether a matrix is one that this process proved or made, with the arrays and the shape of that time.

    The mark is on the object that `as_csr` or `load_csr` returned, not on what its caller gave, and so it is not on a
    matrix that anybody else may have changed in place since.
    """
    mark = getattr(matrix, "_proven", None)
    if mark is None or not isinstance(matrix, sparse.csr_array):
        return False
    shape, arrays = mark
    return bool(shape == matrix.shape and arrays[0] is matrix.indptr and arrays[1] is matrix.indices)


def proven(matrix: sparse.csr_array) -> sparse.csr_array:
    """Mark a matrix whose index arrays were proven, or made here of proven ones."""
    # An attribute of the object, not a table of known ones: the mark goes when the matrix goes.
    matrix._proven = (matrix.shape, (matrix.indptr, matrix.indices))  # type: ignore[attr-defined]
    return matrix


def trimmed(matrix: sparse.csr_array, ascending: bool) -> sparse.csr_array:
    """Return a proven matrix without room behind its last entry, and with the flags that the proof gave."""
    nnz = int(matrix.indptr[-1])
    result = sparse.csr_array((matrix.data[:nnz], matrix.indices[:nnz], matrix.indptr), shape=matrix.shape)
    result.has_sorted_indices = result.has_canonical_format = ascending
    return result


def unit_rows(X: sparse.csr_array, n_jobs: int | None = 1) -> sparse.csr_array:
    """Scale each instance to Euclidean length 1, on some threads; an instance without features stays as it is."""
    from xmlc.kernels.unit_length import scale_rows

    indptr, values, n = np.asarray(X.indptr, dtype=np.int64), np.asarray(X.data), X.shape[0]
    scaled = np.empty(values.size, dtype=np.float32)
    blocks = row_blocks(n, max(1, n * NONZEROS_PER_PIECE // max(values.size, 1)))
    run_pieces(scale_rows, [(indptr, values, scaled, *block) for block in blocks], n_jobs)
    return with_values(X, scaled)


def with_values(X: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """Return a matrix with other values at the same places, proven if ``X`` is."""
    result = sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    result.has_sorted_indices = X.has_sorted_indices
    return proven(result) if is_proven(X) else result


def some_rows(matrix: sparse.csr_array, start: int, end: int) -> sparse.csr_array:
    """Return the rows ``start .. end - 1`` of a canonical matrix on the same memory, proven if the matrix is."""
    indptr = matrix.indptr[start : end + 1]
    entries = slice(int(indptr[0]), int(indptr[-1]))
    rows = assembled(matrix.data[entries], matrix.indices[entries], indptr - indptr[0], matrix.shape[1])
    return proven(rows) if is_proven(matrix) else rows


def assembled(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Put a canonical matrix together of proven arrays as they are; scipy's constructor would copy some.

    It copies a small part of a larger array, and ``indices`` to match an ``indptr`` that 32 bits do not hold. What only
    slices and reads rows takes both types.
    """
    matrix = sparse.csr_array((indptr.size - 1, n_columns), dtype=data.dtype)
    narrow = indptr[-1] <= np.iinfo(np.int32).max
    matrix.indptr, matrix.indices, matrix.data = indptr.astype(np.int32 if narrow else np.int64), indices, data
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def lent(matrix: sparse.csr_array) -> sparse.csr_array:
    """Mark a matrix on maps of files that nobody changes: what a pass has read of them can be given back."""
    matrix._lent = True  # type: ignore[attr-defined]
    return matrix


def release(matrix: sparse.csr_array) -> None:
    """Give back what has been read of a matrix that is `lent`; of any other nothing."""
    if getattr(matrix, "_lent", False):
        give_back(matrix.indices, matrix.data)


def blocks_of_rows(matrix: sparse.csr_array, *others: sparse.csr_array) -> list[tuple[sparse.csr_array, ...]]:
    """Cut canonical matrices with the same rows into blocks, by the entries of the first, on the same memory.

    There is at least one. Who has read the first part of a block calls `release` with it.
    """
    entries, n = int(matrix.indptr[-1]), matrix.shape[0]
    cuts = np.searchsorted(matrix.indptr, np.arange(ENTRIES_PER_BLOCK, entries, ENTRIES_PER_BLOCK))
    bounds = [0, *np.unique(cuts[(cuts > 0) & (cuts < n)]).tolist(), n]
    blocks = [tuple(some_rows(each, *block) for each in (matrix, *others)) for block in pairwise(bounds)]
    if len(blocks) > 1 and getattr(matrix, "_lent", False):
        for part, *_ in blocks:
            lent(part)
    return blocks


def as_features(X: Matrix) -> sparse.csr_array:
    """Return instances as a canonical float32 CSR array, shape (n, d).

    Raises
    ------
    InvalidDataError
        An entry is NaN, infinite or no number, ``X`` is not two-dimensional or a masked array, or its index arrays lead
        out of it.
    """
    X = as_csr(X, np.float32, "X")
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], side="right")) - 1
        raise InvalidDataError(
            f"X holds NaN or inf, first in row {row}; expected finite numbers: fill these entries, or drop the rows"
        )
    return X


def as_labels(Y: Matrix, name: str = "Y", other: object = None, call: str = "") -> sparse.csr_array:
    """Return label sets as a canonical boolean CSR array, shape (n, m): stored entries are the positives.

    Parameters
    ----------
    Y : sparse or dense array, shape (n, m)
    name : str
        The name of ``Y`` in messages.
    other : object
        The other argument of the ``call``, which takes no label sets.
    call : str
        The correct call, for the message on swapped arguments.

    Raises
    ------
    InvalidDataError
        A value is neither 0 nor 1, ``Y`` is not two-dimensional or a masked array, or its index arrays lead out of it.
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


def as_estimates(spe: Any, dtype: type | None = None, name: str = "the SPE") -> sparse.csr_array:
    """Return estimates as a canonical CSR array with values in (0, 1], without copying one that is so already.

    Stored zeros are dropped, as they come from dense matrices; what exceeds 1 by rounding becomes 1.

    Parameters
    ----------
    spe : sparse matrix or array-like, shape (n, m)
    dtype : type or None
        float32 or float64; None: float64 of what is wider than float32 or has no type, so that no two values become
        one, else float32.
    name : str
        What messages call it.

    Raises
    ------
    InvalidDataError
        It is not two-dimensional, its index arrays lead out of it, or a value is no probability.
    """
    if dtype is None:
        dtype = np.float64 if getattr(getattr(spe, "dtype", None), "itemsize", 8) > 4 else np.float32
    result = as_csr(spe, dtype, name)
    least, most = 1.0, 0.0
    for (part,) in blocks_of_rows(result):
        check_probabilities(part.data, name, 1 + ROUNDING)
        least, most = min(least, part.data.min(initial=1)), max(most, part.data.max(initial=0))
        release(part)
    result = result if least > 0 else without_zeros(result)
    return with_values(result, np.minimum(result.data, 1)) if most > 1 else result


def rounded(thresholds: Any) -> np.ndarray:
    """Return thresholds in float32; those below 1 stay below 1, so that what is certain exceeds them."""
    values: np.ndarray = np.asarray(thresholds, dtype=np.float32)
    return np.where((values == 1) & (np.asarray(thresholds) < 1), np.nextafter(values, np.float32(0)), values)


def check_probabilities(values: np.ndarray, name: str, most: float = 1.0) -> None:
    """Refuse values that are NaN, negative or above ``most``."""
    if values.size and not (values.min() >= 0 and values.max() <= most):
        wrong = values[~((values >= 0) & (values <= most))].flat[0]
        raise InvalidDataError(
            f"{name} holds {wrong}; expected probabilities in 0 .. 1: apply a sigmoid to scores or logits"
        )


def warn_of_sums(found: float, least: float, most: float, n: int) -> None:
    """Warn if the sum of all estimates is not what labels let expect: they are no probabilities then.

    Parameters
    ----------
    found, least, most : float
        Of all instances together.
    n : int
        Instances; of fewer than 100 the numbers of labels vary too much.
    """
    if n >= FEW and not least <= found <= most:
        warnings.warn(
            f"the estimates sum up to {found:.0f}; expected from {least:.0f} to {most:.0f}, by the number of labels of "
            "the instances: taken as probabilities they give poor label sets; calibrate them on labelled instances "
            "(xmlc.thresholds.IsotonicCalibration, or LabelSets fitted with Y)",
            stacklevel=3,
        )


def per_label(value: object, n_labels: int, dtype: type, name: str, kind: Kind = "number") -> np.ndarray:
    """Return a number, or one number per label, as an array of shape (m,).

    Parameters
    ----------
    value : float or array-like of shape (m,)
    n_labels : int
    dtype : type
    name : str
        What messages call it.
    kind : {"number", "share", "probability"}
        Shares of instances, or probabilities that estimates are compared with: numbers from 0 to 1; infinity stands
        for a threshold that no estimate exceeds.

    Raises
    ------
    InvalidDataError
        The shape is another, a value is NaN or no number, or it is not of its kind.
    """
    try:
        given = "none" if value is None else value  # NumPy reads None as NaN
        values: np.ndarray = rounded(given) if dtype is np.float32 else np.asarray(given, dtype=dtype)
    except (TypeError, ValueError):
        raise InvalidDataError(f"{name}={value!r}: expected a number, or one for each label") from None
    if values.shape not in ((), (n_labels,)):
        raise InvalidDataError(
            f"{name} has shape {values.shape}, expected a number or ({n_labels},), one for each label"
        )
    if np.isnan(values).any():
        raise InvalidDataError(f"{name} holds NaN")
    wrong = values[(values < 0) | (values > 1) & ((values < np.inf) | (kind == "share"))]
    if kind != "number" and wrong.size:
        plural, remedy = REMEDIES[kind]
        raise InvalidDataError(f"{name} holds {wrong.flat[0]}; expected {plural} between 0 and 1: {remedy}")
    return np.ascontiguousarray(np.broadcast_to(values, (n_labels,)))


def as_csr(matrix: Any, dtype: type, name: str) -> sparse.csr_array:
    """Return any matrix as a canonical CSR array of a type, proven: the gate for a user's matrices.

    Without a copy of what has that form already.

    Parameters
    ----------
    matrix : sparse or dense array, shape (n, columns)
    dtype : type
        With bool all values must be 0 or 1.
    name : str
        What messages call it.

    Raises
    ------
    InvalidDataError
        It has not two dimensions, is a masked array, holds what is no number (or no truth value), or its index arrays
        lead out of it.
    """
    if is_proven(matrix) and matrix.dtype == dtype and matrix.has_canonical_format:
        return matrix
    if np.ma.isMaskedArray(matrix):
        raise InvalidDataError(
            f"{name} is a masked array, whose mask would be lost; fill it, or drop the rows it hides"
        )
    if is_frame(matrix):
        matrix = frame_values(matrix, name)
    try:
        given, matrix = matrix, matrix if sparse.issparse(matrix) else np.asarray(matrix)
    except ValueError:
        wanted = OF_LISTS if dtype is bool else "make all rows equally long"
        raise InvalidDataError(f"{name} has rows of different lengths; expected a matrix: {wanted}") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise no_matrix(given, matrix, dtype is bool, name)
    kind, ascending = "", False
    if sparse.issparse(matrix):  # the stubs know a format of each class, but not of their union
        ascending, kind = prove_sparse(matrix, name), matrix.format  # type: ignore[attr-defined]
        if kind not in INDEXED:
            matrix = sparse.csr_array(matrix)  # type: ignore[call-overload]
    if dtype is bool:
        _check_truth_values(matrix, name)
    if kind == "csr":
        result = trimmed(sparse.csr_array(matrix, dtype=dtype), ascending)
    else:
        result = sparse.csr_array(matrix.astype(dtype))
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return proven(result)


def without_zeros(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without explicit zeros: a copy if it has some, because the caller's may be read-only."""
    if matrix.data.all():
        return matrix
    known, matrix = is_proven(matrix), matrix.copy()
    matrix.eliminate_zeros()
    return proven(matrix) if known else matrix


def entries_above(spe: sparse.csr_array, thresholds: np.ndarray) -> sparse.csr_array:
    """Return the estimates strictly greater than their label's threshold, of shape (m,), in a matrix of their own."""
    return without_zeros(with_values(spe, np.where(spe.data > thresholds[spe.indices], spe.data, spe.dtype.type(0))))


def _check_truth_values(matrix: Any, name: str) -> None:
    """Refuse stored values that are neither 0 nor 1."""
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if values.dtype == bool or ((values == 0) | (values == 1)).all():
        return
    entries = sparse.coo_array(matrix)
    wrong = np.flatnonzero((entries.data != 0) & (entries.data != 1))
    if wrong.size == 0:
        return  # only in room that scipy keeps behind the last entry
    first = wrong[np.argmin(entries.row[wrong])]
    raise no_label_sets(entries.data[first], entries.row[first], entries.col[first], matrix.shape[1], name)


def stack_estimates(counts: np.ndarray, labels: np.ndarray, estimates: np.ndarray, n_labels: int) -> sparse.csr_array:
    """Assemble an SPE from the labels found per instance, instance after instance, in any order within one.

    Of label sets the estimates are ``True``.
    """
    indptr = np.concatenate(([0], np.cumsum(counts)))
    spe = sparse.csr_array((estimates, labels, indptr), shape=(counts.size, n_labels))
    spe.sort_indices()
    return spe


def top_k_of(spe: sparse.csr_array, k: int, label_weights: np.ndarray = NO_WEIGHTS) -> tuple[np.ndarray, np.ndarray]:
    """Rank the stored estimates of each instance, times the weights of their labels if there are any.

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        Best first, ties to the smaller label; -1 where there are fewer than k products above 0.
    scores : ndarray of float32, shape (n, k)
        0 where there is no label.
    """
    if label_weights.size:
        spe = without_zeros(with_values(spe, (spe.data * label_weights[spe.indices]).astype(np.float32)))
    counts = np.diff(spe.indptr)
    order = np.lexsort((spe.indices, -spe.data, np.repeat(np.arange(counts.size), counts)))
    return ranking_of(counts, spe.indices[order], spe.data[order], k)


def ranking_of(counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k labels of each instance and their scores, as `top_k_of`; they stand one after the other."""
    rows = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(labels.size) - np.repeat(np.cumsum(counts) - counts, counts)
    first = rank < k
    ranked = np.full((counts.size, k), -1, dtype=np.int32)
    values = np.zeros((counts.size, k), dtype=np.float32)
    ranked[rows[first], rank[first]], values[rows[first], rank[first]] = labels[first], scores[first]
    return ranked, values


class Malformed(InvalidDataError):
    """An array does not have the form that a kernel expects.

    Attributes
    ----------
    field : str
        Name of the array.
    fault : str
        What was found, and what was expected.
    """

    def __init__(self, field: str, fault: str):
        super().__init__(f"{field}: {fault}")
        self.field, self.fault = field, fault


def check_array(array: Any, field: str, dtype: Any, shape: Sequence[int | None]) -> np.ndarray:
    """Return an array as kernels take it, if it has this type and shape.

    Parameters
    ----------
    array : ndarray
        Memory-mapped or not.
    field : str
    dtype : dtype
    shape : sequence of int or None
        None: any length.

    Returns
    -------
    ndarray
        The same memory, numpy's own class.

    Raises
    ------
    Malformed
        The type or the shape is another, or the array does not lie row by row.
    """
    array, dtype = np.asarray(array), np.dtype(dtype)
    fits = len(shape) == array.ndim and all(want in (None, size) for want, size in zip(shape, array.shape))
    if array.dtype != dtype or not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise Malformed(field, f"found {array.dtype} of shape {array.shape}, expected {dtype} of shape ({wanted})")
    if not array.flags.c_contiguous:
        raise Malformed(field, "its rows do not lie one after the other")
    return array


def check_starts(starts: np.ndarray, field: str, end: int, of: str) -> None:
    """Prove that the places where parts of an array start run from 0 to its size and never fall.

    Parameters
    ----------
    starts : ndarray of an integer type, shape (parts + 1,)
    field : str
    end : int
        Size of the array.
    of : str
        Its name.

    Raises
    ------
    Malformed
    """
    if starts.size == 0 or starts[0] != 0:
        raise Malformed(field, f"begins with {starts[:1].tolist()}, expected 0")
    if (starts[1:] < starts[:-1]).any():
        first = int(np.argmax(starts[1:] < starts[:-1])) + 1
        raise Malformed(field, f"entry {first} is {starts[first]}, less than the one before it, {starts[first - 1]}")
    if starts[-1] != end:
        raise Malformed(field, f"ends with {starts[-1]}, expected {end}, the size of {of}")


def check_below(
    values: np.ndarray, field: str, limit: int, least: int = 0, after: Callable[..., None] | None = None
) -> None:
    """Prove that integers lie in ``least .. limit - 1``, piece by piece; ``after`` is called with each of these.

    Raises
    ------
    Malformed
    """
    flat = values.reshape(-1)
    for start, end in row_blocks(flat.size, VALUES_PER_PIECE):
        part = flat[start:end]
        if not (part.min() >= least and part.max() < limit):
            first = start + int(np.argmax((part < least) | (part >= limit)))
            raise Malformed(field, f"entry {first} is {flat[first]}, expected {least} .. {limit - 1}")
        if after is not None:
            after(part)


def ascend(indices: np.ndarray, starts: np.ndarray) -> bool:
    """Tell whether indices ascend strictly within each part; ``starts`` says where parts start, checked already."""
    falls = indices[1:] <= indices[:-1]
    falls[starts[(starts > 0) & (starts < indices.size)] - 1] = False
    return not falls.any()


def prove_sparse(matrix: Any, name: str) -> bool:
    """Prove that the index arrays of a sparse matrix are whole and stay within it.

    One pass over the indices. Formats that hold no index arrays (``lil``, ``dok``, ``dia``) are converted by scipy in
    terms of checked ones, and are proven as what they are converted to.

    Parameters
    ----------
    matrix : scipy sparse matrix or array
    name : str
        What messages call it.

    Returns
    -------
    bool
        Indices ascend strictly within each row (of CSC: column); True only for CSR, CSC and BSR.

    Raises
    ------
    Malformed
    """
    if max(matrix.shape) > MOST_COLUMNS:
        raise Malformed(name, f"has shape {matrix.shape}, expected at most {MOST_COLUMNS} rows and columns")
    if matrix.format in COMPRESSED:
        return _prove_compressed(matrix, name)
    if matrix.format == "coo":
        for axis, field in enumerate(("row", "col")):
            indices = _as_indices(getattr(matrix, field), f"{name}.{field}")
            if indices.size != matrix.data.shape[0]:
                raise Malformed(f"{name}.{field}", f"has {indices.size} entries for {matrix.data.shape[0]} values")
            check_below(indices, f"{name}.{field}", matrix.shape[axis])
    return False


def _prove_compressed(matrix: Any, name: str) -> bool:
    n_parts, width = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        n_parts, width = (size // side for size, side in zip(matrix.shape, matrix.blocksize))
    starts, indices = (_as_indices(getattr(matrix, field), f"{name}.{field}") for field in ("indptr", "indices"))
    if starts.size != n_parts + 1:
        raise Malformed(f"{name}.indptr", f"has {starts.size} entries, expected {n_parts + 1}")
    nnz = int(starts[-1])
    stored = min(indices.size, matrix.data.shape[0])
    if nnz > stored:
        raise Malformed(f"{name}.indptr", f"ends with {nnz}, but only {stored} entries are stored")
    check_starts(starts, f"{name}.indptr", nnz, f"{name}.indices")
    check_below(indices[:nnz], f"{name}.indices", width)
    return ascend(indices[:nnz], starts)


def _as_indices(indices: Any, field: str) -> np.ndarray:
    array = np.asarray(indices)
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise Malformed(field, f"found {array.dtype} of shape {array.shape}, expected one row of int32 or int64")
    return np.ascontiguousarray(array)
