"""Common code of estimators whose models are files of an external program."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import needs_extra
from xmlc.core.files import atomic_folder
from xmlc.kernels.csr import stack_estimates
from xmlc.models.base import SparseProbabilityEstimator


def imported(module: str) -> Any:
    """Return a module of a program; raise `XmlcError` if the program is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise needs_extra(f"{name} is not installed", "peers") from error


class ProgramModel(SparseProbabilityEstimator, ABC):
    """Base of estimators that wrap a program: it has files of its own for a model, and no arrays are saved.

    A subclass writes these files into a folder (`_write_files`), and prepares predictions with those of a folder
    (`_use_files`).
    """

    def save(self, path: str | Path) -> None:
        """Write the model: the program's own files beside our JSON."""
        with atomic_folder(path) as folder:
            super().save(folder)
            self._write_files(folder)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model written by `save`."""
        model = super().load(path)
        model._use_files(Path(path))
        return model

    @abstractmethod
    def _write_files(self, folder: Path) -> None: ...

    @abstractmethod
    def _use_files(self, folder: Path) -> None: ...

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        pass


# What the baselines return for each instance, labels and scores one after another, as estimates and as rankings.


def estimates_above(
    counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, thresholds: np.ndarray
) -> sparse.csr_array:
    """Assemble the estimates that are strictly greater than their label's threshold.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Number of labels of each instance.
    labels : ndarray of int32, scores : ndarray of float32
        Instance after instance, in any order within one.
    thresholds : ndarray of float32, shape (m,)

    Returns
    -------
    csr_array of float32, shape (n, m)
    """
    spe = stack_estimates(counts, labels, scores, thresholds.size)
    spe.data[spe.data <= thresholds[spe.indices]] = 0
    spe.eliminate_zeros()
    return spe


def ranking_of(counts: np.ndarray, labels: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k labels of each instance and their scores.

    Parameters
    ----------
    counts, labels, scores : ndarray
        As of `estimates_above`, but best first within an instance.
    k : int

    Returns
    -------
    labels : ndarray of int32, shape (n, k)
        -1 where an instance has fewer.
    scores : ndarray of float32, shape (n, k)
        0 where there is no label.
    """
    rows = np.repeat(np.arange(counts.size), counts)
    rank = np.arange(labels.size) - np.repeat(np.cumsum(counts) - counts, counts)
    first = rank < k
    ranked = np.full((counts.size, k), -1, dtype=np.int32)
    values = np.zeros((counts.size, k), dtype=np.float32)
    ranked[rows[first], rank[first]], values[rows[first], rank[first]] = labels[first], scores[first]
    return ranked, values


def flattened(rows: Sequence[Sequence[tuple[int, float]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how many labels each instance got, then all labels and all scores, instance by instance."""
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    labels = np.array([label for row in rows for label, _ in row], dtype=np.int32)
    return counts, labels, np.array([score for row in rows for _, score in row], dtype=np.float32)


# What programs write to the terminal, such as progress, kept out of logs.


SHOWN_BYTES = 2000  # of the output before an exception


@contextmanager
def silenced_output() -> Iterator[None]:
    """Discard standard output and error of this process; after an exception show the last `SHOWN_BYTES`.

    Programs in other languages write to the file descriptors, past ``sys.stdout`` and ``sys.stderr``. These belong to
    the process, so the output of all its threads is discarded.
    """
    _flush()
    with tempfile.TemporaryFile() as held:
        saved = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
        for descriptor, _ in saved:
            os.dup2(held.fileno(), descriptor)
        failed = True
        try:
            yield
            failed = False
        finally:
            _flush()
            for descriptor, copy in saved:
                os.dup2(copy, descriptor)
                os.close(copy)
            if failed:
                held.seek(max(held.seek(0, os.SEEK_END) - SHOWN_BYTES, 0))
                os.write(2, held.read())


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
