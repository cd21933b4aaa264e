"""Reading of pairs of sparse matrices in files of ``scipy.sparse.save_npz``, as PECOS keeps its datasets, too."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse

from xmlc.core.errors import InvalidDataError, XmlcError, let_through
from xmlc.data.archives import is_compressed
from xmlc.data.formats.lines import check_file, read_bytes
from xmlc.kernels.csr import as_features, as_labels, without_zeros


def read_npz(features: Path, labels: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read the two matrices of a part, of any type and sparse format; see `load`.

    Raises
    ------
    XmlcError
        A file holds no sparse matrix, X holds what is no finite number, or Y what is neither 0 nor 1.
    """
    return without_zeros(read_matrix(features, as_features)), read_matrix(labels, as_labels)


def read_matrix(path: Path, gate: Callable[[Any], sparse.csr_array]) -> sparse.csr_array:
    """Read a matrix through a gate of `xmlc.kernels.csr`, such as `as_estimates`, whose errors then name the file."""
    try:
        return gate(load_npz(path))
    except InvalidDataError as error:
        raise XmlcError(f"{path}: {error}") from None


def load_npz(path: Path) -> Any:
    """Read a sparse matrix that ``scipy.sparse.save_npz`` wrote; nothing is unpickled, and nothing proven.

    Raises
    ------
    XmlcError
        There is no such file, it is damaged, or something else.
    """
    check_file(path)
    try:
        return sparse.load_npz(io.BytesIO(read_bytes(path)) if is_compressed(path) else path)
    except XmlcError:
        raise
    except Exception as error:  # a damaged zip file raises eight kinds
        let_through(error)
        expected = "expected a file that scipy.sparse.save_npz wrote"
        raise XmlcError(f"{path}: found no sparse matrix or a damaged one; {expected}") from error
