"""Shared code of estimators whose models are files of an external program."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.errors import needs_extra
from xmlc.kernels.csr import Matrix, entries_above, ranking_of, stack_estimates
from xmlc.models.base import SparseProbabilityEstimator

FILES = "program"  # folder with the program's files, next to xmlc's JSON file
# Number of ranked labels of each instance, then the labels in order of rank and their scores
Answers = tuple[np.ndarray, np.ndarray, np.ndarray]


def imported(module: str) -> Any:
    """Import a module of a program, or raise an `XmlcError` if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise needs_extra(f"{name} is not installed", "baselines") from error


class ProgramModel(SparseProbabilityEstimator, ABC):
    """Base class of estimators that wrap a program whose models are files.

    A subclass trains into the folder ``_files``, which `_new_folder` creates, loads these files in
    `_load_program`, and returns labels in `_answers`. ``SAVED`` lists learned arrays that are saved
    next to the files. Programs do not report inner products.
    """

    MODEL_FORMAT = 2
    SAVED: ClassVar[tuple[str, ...]] = ()
    model_: Any = None  # the model object of the program
    _files: Path

    def predict_proba(self, X: Matrix, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the program's estimates above ``threshold`` as float32 CSR of shape (n, m)."""
        X = self._instances(X)
        limits = self._label_thresholds(threshold)
        answers = self._answers(X, self.n_labels_, float(limits.min()))
        return entries_above(stack_estimates(*answers, limits.size), limits)

    def predict_top_k(
        self, X: Matrix, k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return k labels of each instance and their estimates, in the program's order, best first.

        Places for which the program has no label are -1. Label weights multiply the estimates as in
        `SparseProbabilityEstimator.predict_top_k`.
        """
        if label_weights is not None:
            return super().predict_top_k(X, k, label_weights)
        k = self._check_k(k)
        return ranking_of(*self._answers(self._instances(X), min(k, self.n_labels_), 0.0), k)

    def _write(self, folder: Path) -> None:
        super()._write(folder)
        self._write_files(folder / FILES)

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> Self:
        """Read a model that `save` wrote."""
        model = super().load(path)
        model._files = Path(path) / FILES
        model._load_program()
        return model

    @abstractmethod
    def _answers(self, X: sparse.csr_array, k: int, least: float) -> Answers:
        """Return the k best labels of each instance, possibly only those above ``least``."""

    @abstractmethod
    def _load_program(self) -> None:
        """Load the program's model from its files."""

    def _new_folder(self) -> None:
        """Create the folder for the program's files, which is deleted with ``_folder``."""
        self._folder = tempfile.TemporaryDirectory(prefix="xmlc-")
        self._files = Path(self._folder.name)

    def _write_files(self, folder: Path) -> None:
        shutil.copytree(self._files, folder)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {name: np.asarray(getattr(self, name)) for name in self.SAVED}, {}


def flattened(rows: Sequence[Sequence[tuple[int, float]]]) -> Answers:
    """Convert lists of (label, score), one per instance, to `Answers`."""
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    pairs = list(chain.from_iterable(rows))
    labels = np.array([label for label, _ in pairs], dtype=np.int32)
    scores = np.array([score for _, score in pairs], dtype=np.float32)
    return counts, labels, scores


@contextmanager
def silenced_output() -> Iterator[None]:
    """Discard what this process prints, such as progress displays, but no exceptions.

    Programs in other languages write to the file descriptors rather than to ``sys.stdout``, so the
    output of all threads is discarded.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
    with open(os.devnull, "wb") as nowhere:
        for descriptor, _ in saved:
            os.dup2(nowhere.fileno(), descriptor)
    try:
        yield
    finally:
        for descriptor, copy in saved:
            os.dup2(copy, descriptor)
            os.close(copy)
