"""Abilities of some estimators beside ``fit`` and ``predict_proba``: a class that has the members has the ability.

================  ========================================  ===========================================================
ability           members                                   steps that ask for it
================  ========================================  ===========================================================
`Forest`          ``trees``                                 sweep over the number of trees
`Streaming`       ``unfitted``, ``progressive_top_k``       progressive validation
`DrawsSamples`    ``sample``                                inference from samples of the joint distribution
`looks_up`        ``look_up``                               estimation: estimates are read, and none is timed
================  ========================================  ===========================================================

No member is a property, since whether ``isinstance`` evaluates properties depends on the version of Python.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from scipy import sparse

from xmlc.kernels.csr import Matrix


@runtime_checkable
class Forest(Protocol):
    """An ensemble whose first trees predict alone."""

    n_trees: int

    def trees(self, n: int, /) -> Self:
        """Return the model of the first ``n`` trees: the result of ``fit`` with ``n_trees=n``."""


@runtime_checkable
class Streaming(Protocol):
    """An online estimator that can rank the labels of each instance of a stream before it learns it."""

    def unfitted(self) -> Self:
        """Return a copy that has learned nothing."""

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn a stream; return the labels ranked before each instance and their scores."""


@runtime_checkable
class DrawsSamples(Protocol):
    """An estimator of the joint distribution of the labels: label sets can be drawn from it."""

    def sample(self, X: Matrix, n_samples: int, /) -> sparse.csr_array:
        """Draw for each instance ``n_samples`` label sets, boolean CSR of shape (n * n_samples, m)."""


def looks_up(model: object) -> TypeGuard[Any]:
    """Tell whether an estimator, or its class, returns what it is given and computes nothing that could be timed."""
    return hasattr(model, "look_up")
