"""CSR arrays on disk.

A matrix ``X`` is a handful of plain ``.npy`` files in a folder, so that it can be memory-mapped and read by anything
that knows numpy: ``X.indptr.npy`` (int64), ``X.indices.npy`` (int32), ``X.data.npy`` (absent for a boolean matrix,
whose stored entries are all true) and ``X.json`` (format version, shape, dtype).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.files import write_json
from xmlc.kernels.csr import Malformed, proven
from xmlc.kernels.stored import Field, check_fields, load_array, load_description

FORMAT_VERSION = 1


def save_csr(folder: str | Path, name: str, matrix: sparse.csr_array) -> None:
    """Write a CSR matrix into an existing folder as ``name.*`` (see the module's docstring)."""
    folder = Path(folder)
    np.save(folder / f"{name}.indptr.npy", matrix.indptr.astype(np.int64, copy=False))
    np.save(folder / f"{name}.indices.npy", matrix.indices.astype(np.int32, copy=False))
    if matrix.dtype != bool:
        np.save(folder / f"{name}.data.npy", matrix.data)
    meta = {"version": FORMAT_VERSION, "shape": list(matrix.shape), "dtype": matrix.dtype.name}
    write_json(folder / f"{name}.json", meta)


def load_csr(folder: str | Path, name: str, mmap: bool = True, made_by: str = "prepare") -> sparse.csr_array:
    """Read a CSR matrix written by `save_csr`, memory-mapped by default.

    Maps are copy-on-write: a change stays in this process. Read-only arrays would be safe too, but are another type to
    numba, and every kernel would be compiled twice.

    Parameters
    ----------
    folder : path
    name : str
    mmap : bool
    made_by : str
        The command that writes it, for errors.

    Raises
    ------
    XmlcError
        A file is missing or damaged; the message names it and the command that makes it again.
    """
    folder = Path(folder)
    if not (folder / f"{name}.json").exists():
        raise XmlcError(f"{folder} holds no matrix {name!r}: {name}.json is missing; {made_by} it anew")
    try:
        meta = load_description(folder / f"{name}.json", {"version": int, "shape": list, "dtype": str})
        if meta["version"] != FORMAT_VERSION:
            raise Malformed(name, f"format version {meta['version']}, expected {FORMAT_VERSION}")
        fields = [Field("indptr", np.int64, ("rows + 1",), starts="entries")]
        fields += [Field("indices", np.int32, ("entries",), below="columns")]
        fields += [] if meta["dtype"] == "bool" else [Field("data", meta["dtype"], ("entries",))]
        arrays = {field.name: load_array(folder / f"{name}.{field.name}.npy", mmap=mmap) for field in fields}
        check_fields(arrays, fields, rows=meta["shape"][0], columns=meta["shape"][1])
    except Malformed as fault:
        raise XmlcError(f"{folder}/{name}: {fault}; delete {folder} and make it again with xmlc {made_by}") from None
    indptr, indices = np.array(arrays["indptr"]), arrays["indices"]
    if indptr[-1] <= np.iinfo(np.int32).max:
        # scipy wants both index arrays of one type, and would copy the mapped indices to match a wider indptr.
        indptr = indptr.astype(np.int32)
    data = arrays["data"] if "data" in arrays else np.ones(indices.size, dtype=bool)
    matrix = sparse.csr_array((data, indices, indptr), shape=tuple(meta["shape"]))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return proven(matrix)


def first_columns(X: sparse.csr_array, n_features: int) -> tuple[sparse.csr_array, str]:
    """Return features in so many columns, and a sentence that counts those behind them, which are dropped, if any."""
    dropped = X.indices[X.indices >= n_features]
    if dropped.size == 0:
        resize(X, X.shape[0], n_features)
        return X, ""
    counted = f"{np.unique(dropped).size}, in {dropped.size} of {X.nnz} values; it has {n_features}"
    return sparse.csr_array(X[:, :n_features]), f"features that the training file lacks are dropped: {counted}"


def resize(matrix: sparse.csr_array, n_rows: int, n_columns: int) -> None:
    """Cut off or add rows and columns in place; no stored entry may lie in a column that is cut off."""
    matrix.resize(n_rows, n_columns)  # type: ignore[arg-type, call-arg]  # the stubs forbid any use
