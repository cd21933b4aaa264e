"""Pairs of sparse matrices written by ``scipy.sparse.save_npz``, as PECOS stores its datasets."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError, let_through
from xmlc.data.archives import is_compressed
from xmlc.data.formats.lines import check_readable, read_bytes
from xmlc.kernels.csr import CSR, as_features, as_labels


def read_npz(features: Path, labels: Path) -> tuple[CSR, CSR]:
    """Read the features and labels of a dataset, matrices of any dtype and sparse format.

    Raises
    ------
    XmlcError
        If a file contains no sparse matrix, X a value that is not finite, or Y one other than 0 and
        1.
    """
    return read_matrix(features, as_features), read_matrix(labels, as_labels)


def read_matrix(path: Path, gate: Callable[[Any], CSR]) -> CSR:
    """Read a matrix and return ``gate(matrix)``, whose error messages then begin with the path."""
    try:
        return gate(load_npz(path))
    except InvalidDataError as error:
        raise XmlcError(f"{path}: {error}") from None


def load_npz(path: Path) -> Any:
    """Read an unchecked sparse matrix of ``scipy.sparse.save_npz``, without unpickling.

    A file that is missing, damaged or of another format raises an `XmlcError`.
    """
    check_readable(path)
    try:
        return sparse.load_npz(io.BytesIO(read_bytes(path)) if is_compressed(path) else path)
    except XmlcError:
        raise
    except Exception as error:  # Damaged zip files raise eight types of exceptions
        let_through(error)
        expected = "expected a file from scipy.sparse.save_npz"
        raise XmlcError(f"{path}: found no sparse matrix or a damaged one, {expected}") from error
