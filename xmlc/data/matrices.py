"""CSR arrays on disk.

A matrix ``X`` is a set of ``.npy`` files in a folder, which numpy can read and memory-map:
``X.indptr.npy`` (int64), ``X.indices.npy`` (int32), ``X.data.npy`` and ``X.json`` (format version,
shape, dtype). A boolean matrix has no ``X.data.npy``, because all stored entries are true.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.errors import XmlcError
from xmlc.core.files import write_json
from xmlc.kernels.csr import CSR, assembled, validated
from xmlc.kernels.indices import Malformed
from xmlc.kernels.stored import Field, check_fields, load_array, load_description

FORMAT_VERSION = 1


def save_csr(folder: str | Path, name: str, matrix: CSR) -> None:
    """Write a CSR matrix into an existing folder, as the files ``name.*`` of this module.

    Parameters
    ----------
    folder : str or Path
    name : str
    matrix : csr_array, shape (n, m)

    Raises
    ------
    OSError
        The folder does not exist, or cannot be written.

    See Also
    --------
    load_csr

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import csr_array
    >>> from xmlc.core.files import atomic_folder
    >>> from xmlc.data.matrices import load_csr, save_csr
    >>> path = f"{tempfile.mkdtemp()}/data"
    >>> with atomic_folder(path) as folder:
    ...     save_csr(folder, "X", csr_array([[0.5, 0.0], [0.0, 2.0]]))
    >>> load_csr(path, "X").toarray()
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    folder = Path(folder)
    np.save(folder / f"{name}.indptr.npy", matrix.indptr.astype(np.int64, copy=False))
    np.save(folder / f"{name}.indices.npy", matrix.indices.astype(np.int32, copy=False))
    if matrix.dtype != bool:
        np.save(folder / f"{name}.data.npy", matrix.data)
    _describe(folder, name, matrix)


def _describe(folder: Path, name: str, matrix: CSR) -> None:
    meta = {"version": FORMAT_VERSION, "shape": list(matrix.shape), "dtype": matrix.dtype.name}
    write_json(folder / f"{name}.json", meta)


class CSRWriter:
    """A writer of a CSR matrix in blocks of rows, to the same files as `save_csr`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._arrays = Appendable(folder)
        self._indptr = np.zeros(1, dtype=np.int64)
        self._n_columns = 0

    def append(self, rows: CSR) -> None:
        """Append rows, all with the same number of columns and dtype."""
        indices = rows.indices.astype(np.int32, copy=False)
        self._arrays.append(**{f"{self._name}.indices": indices, f"{self._name}.data": rows.data})
        self._indptr = np.concatenate((self._indptr, self._indptr[-1] + rows.indptr[1:]))
        self._n_columns = rows.shape[1]

    def finished(self) -> CSR:
        """Write the missing files, and return the whole matrix, memory-mapped."""
        indices, data = self._arrays.finished().values()
        np.save(self._folder / f"{self._name}.indptr.npy", self._indptr)
        matrix = validated(assembled(data, indices, self._indptr, self._n_columns))
        _describe(self._folder, self._name, matrix)
        return matrix


def load_csr(folder: str | Path, name: str, mmap: bool = True, made_by: str = "prepare") -> CSR:
    """Read a CSR matrix written by `save_csr`, memory-mapped by default.

    The maps are copy-on-write, so that changes do not reach the files, rather than read-only, for
    which numba would compile every kernel again.

    Parameters
    ----------
    folder : str or Path
    name : str
    mmap : bool
    made_by : str
        Command of xmlc that rebuilds the folder, for the error.

    Returns
    -------
    csr_array, shape (n, m)

    Raises
    ------
    XmlcError
        A file is missing or damaged.

    See Also
    --------
    save_csr

    Examples
    --------
    >>> import tempfile
    >>> from xmlc.data.matrices import load_csr
    >>> load_csr(tempfile.mkdtemp(), "X")
    Traceback (most recent call last):
    xmlc.core.errors.XmlcError: ...found no file X.json...
    """
    folder = Path(folder)
    if not (folder / f"{name}.json").exists():
        found = f"found no file {name}.json of matrix {name!r}"
        raise XmlcError(f"{folder}: {found}. Rebuild {folder} with xmlc {made_by}.")
    try:
        meta = load_description(
            folder / f"{name}.json", {"version": int, "shape": list, "dtype": str}
        )
        if meta["version"] != FORMAT_VERSION:
            raise Malformed(
                name, f"found format version {meta['version']}, expected {FORMAT_VERSION}"
            )
        fields = [Field("indptr", np.int64, ("rows + 1",), starts="entries")]
        fields += [Field("indices", np.int32, ("entries",), below="columns")]
        if meta["dtype"] != "bool":
            fields.append(Field("data", meta["dtype"], ("entries",)))
        arrays = {
            field.name: load_array(folder / f"{name}.{field.name}.npy", mmap=mmap)
            for field in fields
        }
        check_fields(arrays, fields, rows=meta["shape"][0], columns=meta["shape"][1])
    except Malformed as fault:
        raise XmlcError(
            f"{folder}/{name}: {fault}. Rebuild {folder} with xmlc {made_by}."
        ) from None
    # Plain arrays on the same memory, because numba and scipy are slow with `np.memmap`
    indptr = np.array(arrays["indptr"])
    indices = np.asarray(arrays["indices"])
    if "data" in arrays:
        data = np.asarray(arrays["data"])
    else:
        data = np.ones(indices.size, dtype=bool)
    return validated(assembled(data, indices, indptr, meta["shape"][1]))


def first_columns(X: CSR, n_features: int) -> tuple[CSR, str]:
    """Return X with ``n_features`` columns, and a sentence about dropped features, "" for none."""
    dropped = X.indices[X.indices >= n_features]
    if dropped.size == 0:
        resize(X, X.shape[0], n_features)
        return X, ""
    counted = f"{np.unique(dropped).size} features ({dropped.size} of {X.nnz} values)"
    return sparse.csr_array(
        X[:, :n_features]
    ), f"dropped {counted} not among the {n_features} of the training file"


def without(matrix: CSR, left_out: CSR) -> CSR:
    """Return a matrix without the entries that another of the same shape stores."""
    kept = ~np.isin(places_of(matrix), places_of(left_out))
    indptr = np.concatenate(([0], np.cumsum(kept)))[matrix.indptr]
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)


def places_of(matrix: CSR) -> np.ndarray:
    """Return row * m + column (int64) of each stored entry, for a matrix with m columns."""
    n, m = matrix.shape
    return np.repeat(np.arange(n, dtype=np.int64) * m, np.diff(matrix.indptr)) + matrix.indices


def resize(matrix: CSR, n_rows: int, n_columns: int) -> None:
    """Remove or add rows and columns in place. Removed columns must have no stored entries."""
    matrix.resize(n_rows, n_columns)  # type: ignore[arg-type, call-arg]  # scipy's stubs reject every call of `resize`
