"""Writing of the repository format."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.csr import as_features, as_labels, kernel_csr, without_zeros
from xmlc.data._writer import put_rows
from xmlc.errors import XmlcError
from xmlc.files import atomic_file

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
ROWS_PER_BLOCK = 4096
STEPS = 10000
MOST_STEPS = 1 << 24  # up to here k / 10000 is told apart from its neighbours in single precision


def save_repository(path: str | Path, X: object, Y: object) -> None:
    """Write instances and label sets as ``n d m`` and lines ``label,label feature:value ...``, ids from 0.

    Values are written with as few digits as single precision needs to come back unchanged. An instance without labels
    starts with a space. The file is compressed if its name ends in .gz, .xz or .bz2, and appears when it is whole.

    Parameters
    ----------
    path : path
    X : CSR, shape (n, d)
    Y : boolean CSR, shape (n, m)
    """
    path, X, Y = Path(path), without_zeros(as_features(X)), as_labels(Y)
    if X.shape[0] != Y.shape[0]:
        raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
    with atomic_file(path) as temporary, OPENERS.get(path.suffix, open)(temporary, "wb") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
        for block in _blocks(X, Y):
            file.write(block)


def _blocks(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[bytes]:
    steps = np.rint(np.clip(X.data.astype(np.float64) * STEPS, -1, MOST_STEPS)).astype(np.int64)
    short = (steps >= 0) & (steps < MOST_STEPS) & ((steps / STEPS).astype(np.float32) == X.data)
    if not short.all():
        yield from _general_blocks(X, Y)
        return
    x, y = kernel_csr(X), kernel_csr(Y)
    for start in range(0, X.shape[0], ROWS_PER_BLOCK):
        end = min(start + ROWS_PER_BLOCK, X.shape[0])
        entries = x.indptr[end] - x.indptr[start] + y.indptr[end] - y.indptr[start]
        text = np.empty(32 * entries + 2 * (end - start), dtype=np.uint8)
        size = put_rows(x.indptr, x.indices, steps, y.indptr, y.indices, start, end, text)
        yield text[:size].tobytes()


def _general_blocks(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[bytes]:
    for row in range(X.shape[0]):
        ids = X.indices[X.indptr[row] : X.indptr[row + 1]].tolist()
        values = X.data[X.indptr[row] : X.indptr[row + 1]]
        labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        pairs = "".join(f" {i}:{v!s}" for i, v in zip(ids, values))
        yield (labels + (pairs or ("" if labels else " ")) + "\n").encode()
