"""What the estimators share whose models are files of a program of others."""

from __future__ import annotations

import numpy as np

from xmlc.models.base import SparseProbabilityEstimator


class ProgramModel(SparseProbabilityEstimator):
    """Base of estimators that wrap a program: it writes and reads its model itself, and no arrays are saved."""

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        return {}, {}

    def _restore(self, arrays: dict[str, np.ndarray], meta: dict[str, float]) -> None:
        pass
