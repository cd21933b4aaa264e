"""What the estimators share whose models are files of a program of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

import numpy as np

from xmlc.files import atomic_folder
from xmlc.models.base import SparseProbabilityEstimator


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
