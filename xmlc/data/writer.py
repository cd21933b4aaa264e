"""Write datasets in the repository format."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.core.parallel import row_blocks
from xmlc.kernels.checks import check_same_instances
from xmlc.kernels.csr import KernelCSR, Matrix, as_features, as_labels, kernel_csr

ROWS_PER_BLOCK = 1024
# Below MOST, different multiples of 1 / 10000 differ in single precision, so each is the shortest
# decimal that reads back as the same number
MOST = 1024.0


def save_repository(path: str | Path, X: Matrix, Y: Matrix) -> None:
    """Write instances and label sets in the repository format, ``n d m`` and lines of instances.

    Bag-of-words files of the Extreme Classification Repository have this format, with lines
    ``label,label feature:value ...`` and ids from 0. A line without labels starts with a space, and
    values have as few digits as single precision needs. The file, which is compressed if its name
    ends in .gz, .xz or .bz2, gets this name only when it is complete, and depends only on X, Y and
    the suffix.

    Parameters
    ----------
    path : path
    X : CSR, shape (n, d)
        The instances, of which explicit zeros are not written.
    Y : boolean CSR, shape (n, m)

    Raises
    ------
    XmlcError
        If X and Y have different numbers of rows, or X has a value that is not finite.

    See Also
    --------
    xmlc.data.load : reads the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc.data.writer import save_repository
    >>> file = Path(tempfile.mkdtemp()) / "train.txt"
    >>> save_repository(file, [[0.5, 0.0], [0.0, 2.0]], [[1, 1], [0, 0]])
    >>> print(file.read_text())
    2 2 2
    0,1 0:0.5
     1:2
    <BLANKLINE>
    """
    X = as_features(X)
    Y = as_labels(Y)
    with repository_writer(path, X.shape[0], X.shape[1], Y.shape[1]) as write:
        write(X, Y)


@contextmanager
def repository_writer(
    path: str | Path, n: int, d: int, m: int
) -> Iterator[Callable[[Matrix, Matrix], None]]:
    """Yield a function that writes a block of instances like `save_repository`, to save memory.

    The file of n instances, d features and m labels does not depend on the blocks. If their
    instances are not n in all, an `XmlcError` is raised and no file is written.
    """
    written = 0
    with atomic_file(Path(path)) as temporary, _opened(temporary) as file:
        file.write(f"{n} {d} {m}\n".encode())

        def write(X: Matrix, Y: Matrix) -> None:
            nonlocal written
            X = as_features(X)
            Y = as_labels(Y)
            check_same_instances(X.shape[0], Y.shape[0])
            x = kernel_csr(X)
            y = kernel_csr(Y)
            for start, end in row_blocks(X.shape[0], ROWS_PER_BLOCK):
                file.write(_text(x, y, start, end))
            written += X.shape[0]

        yield write
        if written != n:
            raise XmlcError(f"{path}: found {written} written instances, expected n={n}")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file for writing bytes, compressed by its suffix.

    The header of gzip has no file name and time, so that equal content gives equal files.
    """
    if path.suffix == ".gz":
        with open(path, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped:
            yield zipped
        return
    openers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".bz2": bz2.open}
    with openers.get(path.suffix, open)(path, "wb") as file:
        yield file


def _text(x: KernelCSR, y: KernelCSR, start: int, end: int) -> bytes:
    """Return the text of the rows ``start .. end - 1``, with each distinct value formatted once."""
    entries = slice(x.indptr[start], x.indptr[end])
    values, places = np.unique(x.data[entries], return_inverse=True)
    steps = np.floor(values.astype(np.float64) * 10000 + 0.5)
    in_range = values.size > 0 and values[0] >= 0 and values[-1] < MOST
    if in_range and ((steps / 10000).astype(np.float32) == values).all():
        shown = [f"{step / 10000:.4f}".rstrip("0").rstrip(".") for step in steps.tolist()]
    else:  # not all are multiples of 1 / 10000
        shown = list(map(str, values))
    pairs = [f" {i}:{shown[k]}" for i, k in zip(x.indices[entries].tolist(), places.tolist())]
    label_lists = np.split(
        y.indices[y.indptr[start] : y.indptr[end]], y.indptr[start + 1 : end] - y.indptr[start]
    )
    ends = (x.indptr[start : end + 1] - x.indptr[start]).tolist()
    lines = []
    for labels, (first, last) in zip(label_lists, pairwise(ends)):
        line = ",".join(map(str, labels.tolist())) + "".join(pairs[first:last])
        lines.append(f"{line or ' '}\n")
    return "".join(lines).encode()
