"""Datasets in five files with the positions and values of non-zeros and the positions of labels."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data.formats.lines import (
    LARGEST,
    LineError,
    MalformedLines,
    decimal,
    each_read,
    quoted,
    text_lines,
    whole,
)
from xmlc.kernels.csr import CSR


def read_coordinates(files: Sequence[Path]) -> tuple[CSR, CSR]:
    r"""Read five files with one number on each line, in which LdSM's authors publish delicious.

    Ids start from 1, as their program (ldsm2020) expects, and the lines may be in any order.

    Parameters
    ----------
    files : sequence of Path
        Three files with a line for each non-zero of X (instance, feature and value), and two with a
        line for each non-zero of Y (instance and label). An instance without features or labels is
        missing from the respective files.

    Returns
    -------
    X : csr_array of float32, shape (n, d)
    Y : csr_array of bool, shape (n, m)
        n, d and m are the largest ids in the files. Repeated labels count once.

    Raises
    ------
    XmlcError
        If a line is not a valid number, files that belong together have different lengths, a
        feature is repeated, or an instance number exceeds the number of lines.

    See Also
    --------
    xmlc.data.load : Reads all other formats.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc.data.formats import read_coordinates
    >>> files = [Path(tempfile.mkdtemp()) / f"{number}.txt" for number in range(5)]
    >>> for file, column in zip(files, ["1 2", "1 1", "0.5 2", "1 2", "2 1"]):
    ...     _ = file.write_text("\n".join(column.split()))
    >>> X, Y = read_coordinates(files)
    >>> X.toarray().tolist(), Y.toarray().tolist()
    ([[0.5], [2.0]], [[False, True], [True, False]])
    """
    rows, features, values, label_rows, labels = files
    row_ids = _column(rows, _id, np.int32)
    feature_ids = _column(features, _id, np.int32)
    label_row_ids = _column(label_rows, _id, np.int32)
    label_ids = _column(labels, _id, np.int32)
    numbers = _column(values, decimal, np.float32)
    _check_lengths({rows: row_ids, features: feature_ids, values: numbers})
    _check_lengths({label_rows: label_row_ids, labels: label_ids})
    n_instances = int(max(row_ids.max(initial=0), label_row_ids.max(initial=0)))
    # Even an instance without features takes memory, so huge instance numbers are refused
    most = row_ids.size + label_row_ids.size
    if n_instances > most:
        expected = f"at most {most}, the number of lines"
        raise XmlcError(f"{rows}, {label_rows}: found instance {n_instances}, expected {expected}")
    _check_once(features, row_ids, feature_ids)
    X = _matrix(numbers, row_ids, feature_ids, n_instances)
    X.eliminate_zeros()
    return X, _matrix(
        np.ones(label_ids.size, dtype=np.int32), label_row_ids, label_ids, n_instances
    ).astype(bool)


def _column(path: Path, read: Callable[[str], float], dtype: type) -> np.ndarray:
    # All ids are exact in float64
    numbers = array("d", each_read(MalformedLines(path), text_lines(path), read))
    return np.asarray(numbers, dtype=dtype)


def _id(text: str) -> int:
    value = whole(text)
    if not 1 <= value <= LARGEST:
        raise LineError(quoted(text), f"a whole number from 1 to {LARGEST}")
    return value


def _check_lengths(columns: dict[Path, np.ndarray]) -> None:
    if len({column.size for column in columns.values()}) > 1:
        lengths = ", ".join(f"{column.size} lines in {path}" for path, column in columns.items())
        raise XmlcError(f"found {lengths}, expected equally many lines. A file may be incomplete.")


def _check_once(path: Path, rows: np.ndarray, columns: np.ndarray) -> None:
    # The sort is stable, so repeated pairs stay in the order of the file
    order = np.lexsort((columns, rows))
    twice = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    malformed = MalformedLines(path)
    for place in np.sort(order[1:][twice]).tolist():
        malformed.add(
            place + 1,
            f"feature {columns[place]} of instance {rows[place]} twice",
            "each feature once",
        )
    malformed.raise_any()


def _matrix(data: np.ndarray, rows: np.ndarray, columns: np.ndarray, n_rows: int) -> CSR:
    shape = (n_rows, int(columns.max(initial=0)))
    matrix = sparse.csr_array(sparse.coo_array((data, (rows - 1, columns - 1)), shape=shape))
    matrix.sum_duplicates()
    return matrix
