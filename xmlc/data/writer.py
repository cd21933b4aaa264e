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

from xmlc.csr import KernelCSR, as_features, as_labels, kernel_csr, without_zeros
from xmlc.data._writer import ENTRY_BYTES, put_rows
from xmlc.errors import XmlcError
from xmlc.files import atomic_file

ROWS_PER_BLOCK = 1024


def save_repository(path: str | Path, X: object, Y: object) -> None:
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
def repository_writer(path: str | Path, n: int, d: int, m: int) -> Iterator[Callable[[object, object], None]]:
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

        def write(X: object, Y: object) -> None:
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
