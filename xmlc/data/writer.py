"""Writing of the repository format."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.core.kernel_cache import njit
from xmlc.kernels.csr import KernelCSR, Matrix, as_features, as_labels, kernel_csr, without_zeros

ROWS_PER_BLOCK = 1024
SPACE, COMMA, COLON, POINT, NEWLINE = np.frombuffer(b" ,:.\n", dtype=np.uint8)
ZERO, TEN, STEPS = np.uint64(48), np.uint64(10), np.uint64(10000)
MOST = 1024.0  # below it k / 10000 and its neighbours differ in single precision, so no shorter decimal equals it
ENTRY_BYTES = 24  # " 2147483647:1023.9999" and some


def save_repository(path: str | Path, X: Matrix, Y: Matrix) -> None:
    """Write instances and label sets as ``n d m`` and lines ``label,label feature:value ...``, ids from 0.

    The format is that of the Extreme Classification Repository's bag-of-words files. Values are written with as few
    digits as single precision needs to come back unchanged. An instance without labels starts with a space. The file is
    compressed if its name ends in .gz, .xz or .bz2, appears when it is whole, and its bytes depend on nothing but X, Y
    and that suffix.

    Parameters
    ----------
    path : path
    X : CSR, shape (n, d)
        Explicit zeros are left out.
    Y : boolean CSR, shape (n, m)

    Raises
    ------
    XmlcError
        The numbers of rows differ, or X holds a value that is not finite.
    """
    X, Y = as_features(X), as_labels(Y)
    with repository_writer(path, X.shape[0], X.shape[1], Y.shape[1]) as write:
        write(X, Y)


@contextmanager
def repository_writer(path: str | Path, n: int, d: int, m: int) -> Iterator[Callable[[Matrix, Matrix], None]]:
    """Give a function that writes the next instances of a file, so that not all need be in memory at a time.

    Parameters
    ----------
    path : path
    n, d, m : int
        Instances of the whole file, features, labels.

    Yields
    ------
    callable
        Takes X and Y of some instances, which it writes as `save_repository` does; the bytes do not depend on how the
        instances are parted. Raises `XmlcError` as that does.

    Raises
    ------
    XmlcError
        There were more or fewer than n instances; there is no file then.
    """
    written = 0
    with atomic_file(Path(path)) as temporary, _opened(temporary) as file:
        file.write(f"{n} {d} {m}\n".encode())

        def write(X: Matrix, Y: Matrix) -> None:
            nonlocal written
            X, Y = without_zeros(as_features(X)), as_labels(Y)
            if X.shape[0] != Y.shape[0]:
                raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
            for block in _blocks(kernel_csr(X), kernel_csr(Y)):
                file.write(block)
            written += X.shape[0]

        yield write
        if written != n:
            raise XmlcError(f"{path}: {written} instances were written, expected {n}")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file for bytes to be compressed by its suffix; gzip's header gets neither name nor time."""
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".bz2": bz2.open}
    with openers.get(path.suffix, open)(path, "wb") as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
            yield compressed


def _blocks(x: KernelCSR, y: KernelCSR) -> Iterator[bytes | memoryview]:
    """Yield the text of blocks of rows; a block is valid until the next one is taken."""
    text = np.empty(0, dtype=np.uint8)
    n_rows = x.indptr.size - 1
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        end = min(start + ROWS_PER_BLOCK, n_rows)
        entries = x.indptr[end] - x.indptr[start] + y.indptr[end] - y.indptr[start]
        room = ENTRY_BYTES * entries + 2 * (end - start)
        if room > text.size:
            text = np.empty(room, dtype=np.uint8)
        size = put_rows(x.indptr, x.indices, x.data, y.indptr, y.indices, start, end, text)
        yield text[:size].data if size >= 0 else _general_rows(x, y, start, end)


def _general_rows(x: KernelCSR, y: KernelCSR, start: int, end: int) -> bytes:
    """Text of rows with values of any size and sign, by numpy's shortest decimals."""
    lines = []
    for row in range(start, end):
        inside = slice(x.indptr[row], x.indptr[row + 1])
        labels = ",".join(map(str, y.indices[y.indptr[row] : y.indptr[row + 1]].tolist()))
        pairs = "".join(f" {i}:{v!s}" for i, v in zip(x.indices[inside].tolist(), x.data[inside]))
        lines.append(labels + (pairs or ("" if labels else " ")) + "\n")
    return "".join(lines).encode()


@njit(cache=True, nogil=True)
def put_integer(text, position, value):
    """Write an integer, uint64; return the next position."""
    end, rest = position + 1, value // TEN
    while rest > 0:
        end += 1
        rest //= TEN
    place = end
    while place > position:
        place -= 1
        text[place] = ZERO + value % TEN
        value //= TEN
    return end


@njit(cache=True, nogil=True)
def put_steps(text, position, steps):
    """Write ``steps / 10000``, steps uint64, without trailing zeros; return the next position."""
    position = put_integer(text, position, steps // STEPS)
    rest = steps % STEPS
    if rest == 0:
        return position
    text[position] = POINT
    for place in range(position + 4, position, -1):
        text[place] = ZERO + rest % TEN
        rest //= TEN
    position += 5
    while text[position - 1] == ZERO:
        position -= 1
    return position


@njit(cache=True, nogil=True)
def put_rows(x_indptr, x_indices, x_data, y_indptr, y_indices, start, end, text):
    """Write rows ``start .. end - 1`` in the repository format; return the number of bytes.

    Returns -1 at the first value that is not the single-precision number nearest to a multiple of 1e-4 in [0, 1024):
    such rows need the general way. Reads 8 bytes per non-zero of X and writes 4 to 21.

    Parameters
    ----------
    x_indptr : int64 (n + 1,), x_indices : uint32 (nnz,), x_data : float32 (nnz,)
        Instances.
    y_indptr : int64 (n + 1,), y_indices : uint32
        Label sets.
    text : uint8
        Room for `ENTRY_BYTES` per stored entry and 2 per row.
    """
    position = 0
    for row in range(start, end):
        labels = y_indices[y_indptr[row] : y_indptr[row + 1]]
        ids, values = x_indices[x_indptr[row] : x_indptr[row + 1]], x_data[x_indptr[row] : x_indptr[row + 1]]
        for k in range(labels.size):
            if k > 0:
                text[position] = COMMA
                position += 1
            position = put_integer(text, position, np.uint64(labels[k]))
        if labels.size == 0 and ids.size == 0:
            text[position] = SPACE
            position += 1
        for k in range(ids.size):
            if not 0 <= values[k] < MOST:
                return -1
            steps = np.uint64(np.float64(values[k]) * 10000.0 + 0.5)
            if np.float32(np.float64(steps) / 10000.0) != values[k]:
                return -1
            text[position] = SPACE
            position = put_integer(text, position + 1, np.uint64(ids[k]))
            text[position] = COLON
            position = put_steps(text, position + 1, steps)
        text[position] = NEWLINE
        position += 1
    return position
