"""What Vowpal Wabbit's models share: the program (PyPI ``vowpalwabbit``, extra ``peers``), its format, its files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scipy import sparse

from xmlc.csr import unit_rows, without_zeros
from xmlc.errors import XmlcError
from xmlc.models.peers.program import ProgramModel


class VowpalWabbitModel(ProgramModel):
    """A model of the program's, a file in a folder that lives as long as this object, or beside our JSON."""

    unit_norm: bool
    _model: Path

    def _write_files(self, folder: Path) -> None:
        shutil.copyfile(self._model, folder / "model.vw")

    def _use_files(self, folder: Path) -> None:
        """Name the program's file, which it reads at its first prediction."""
        self._scratch()
        self._model = folder / "model.vw"

    def _scratch(self) -> None:
        """Make a new folder for the program's files, and forget what was loaded."""
        self._folder = tempfile.TemporaryDirectory(prefix="vw-")
        self._loaded: tuple[Any, ...] | Any | None = None

    def _scaled(self, X: sparse.csr_array) -> sparse.csr_array:
        return without_zeros(unit_rows(X) if self.unit_norm else X)


def vw_lines(X: sparse.csr_array, Y: sparse.csr_array) -> Iterator[str]:
    """Write instances in the program's format, ``label,label | feature:value ...``, ids from 0."""
    write = "%d:%.9g".__mod__
    for start, end, pairs in zip(Y.indptr[:-1], Y.indptr[1:], vw_pairs(X)):
        yield f"{','.join(map(str, Y.indices[start:end].tolist()))} | {' '.join(map(write, pairs))}\n"


def vw_pairs(X: sparse.csr_array) -> Iterator[list[tuple[int, float]]]:
    """Give the features and values of each instance."""
    for start, end in zip(X.indptr[:-1], X.indptr[1:]):
        yield list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist()))


def vw_program() -> Any:
    """Return the program's Python module."""
    try:
        import vowpalwabbit
    except ImportError as error:
        raise XmlcError("vowpalwabbit is not installed; install the extra: pip install 'xmlc[peers]'") from error
    return vowpalwabbit
