"""Define optional abilities of estimators.

A class has an ability if it has the attributes or methods that the table lists as members.

================  ========================================
=========================================================== ability           members
steps that need it ================  ========================================
=========================================================== `Forest`          ``trees``
sweep over the number of trees `Streaming`       ``unfitted``, ``progressive_top_k``
progressive validation `DrawsSamples`    ``sample``                                inference from
samples of the joint distribution `looks_up`        ``look_up``
estimation, which then reads estimates without timing ================
========================================
===========================================================

The members of these protocols are not properties, because only some versions of Python evaluate
properties in ``isinstance``.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from scipy import sparse

from xmlc.kernels.csr import Matrix


@runtime_checkable
class Forest(Protocol):
    """Describe an ensemble of trees whose first n trees can predict without the remaining trees."""

    n_trees: int

    def trees(self, n: int, /) -> Self:
        """Return the model of the first ``n`` trees, which is the result of ``fit`` with
        ``n_trees=n``.
        """


@runtime_checkable
class Streaming(Protocol):
    """Describe an online estimator that ranks the labels of each instance in a stream before it
    learns the instance.
    """

    def unfitted(self) -> Self:
        """Return an untrained copy of the estimator."""

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Learn from a stream.

        Return the k best labels of each instance and their scores, predicted before the instance
        was learned.
        """


@runtime_checkable
class DrawsSamples(Protocol):
    """Describe an estimator of the joint distribution of the labels, from which label sets can be
    drawn.
    """

    def sample(self, X: Matrix, n_samples: int, /) -> sparse.csr_array:
        """Draw ``n_samples`` label sets for each instance, boolean CSR of shape (n * n_samples,
        m).
        """


def looks_up(model: object) -> TypeGuard[Any]:
    """Return whether an estimator, or a class of estimators, only looks up given estimates.

    The workflow does not measure the time of a look-up.
    """
    return hasattr(model, "look_up")
