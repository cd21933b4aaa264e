"""Optional abilities of estimators, which a class has if it has their members.

==============  =====================================  =================================
ability         members                                steps that need it
==============  =====================================  =================================
`Forest`        ``trees``                              sweep over the number of trees
`Streaming`     ``unfitted``, ``progressive_top_k``    progressive validation
`DrawsSamples`  ``sample``                             inference from samples
`looks_up`      ``look_up``                            estimation, which is then untimed
==============  =====================================  =================================

The members of the protocols are no properties, which only some versions of Python evaluate in
``isinstance``.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from scipy import sparse

from xmlc.kernels.csr import Matrix


@runtime_checkable
class Forest(Protocol):
    """An ensemble of trees whose first n trees can predict without the others.

    See Also
    --------
    xmlc.models.FastXML, xmlc.models.LdSM

    Examples
    --------
    >>> from xmlc.models import FastXML
    >>> from xmlc.models.abilities import Forest
    >>> isinstance(FastXML(), Forest)
    True
    """

    n_trees: int

    def trees(self, n: int, /) -> Self:
        """Return the model of the first ``n`` trees, the result of ``fit`` with ``n_trees=n``."""


@runtime_checkable
class Streaming(Protocol):
    """An online estimator that ranks each instance's labels before it learns the instance.

    See Also
    --------
    xmlc.models.OPLT

    Examples
    --------
    >>> from xmlc.models import OPLT
    >>> from xmlc.models.abilities import Streaming
    >>> isinstance(OPLT(), Streaming)
    True
    """

    def unfitted(self) -> Self:
        """Return an untrained copy of the estimator."""

    def progressive_top_k(self, X: Matrix, Y: Matrix, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the k best labels and their scores of each instance, before it was learned."""


@runtime_checkable
class DrawsSamples(Protocol):
    """An estimator of the joint distribution of the labels, from which label sets can be drawn.

    See Also
    --------
    xmlc.models.ProbabilisticClassifierChain, xmlc.inference.Samples

    Examples
    --------
    >>> from xmlc.models import ProbabilisticClassifierChain
    >>> from xmlc.models.abilities import DrawsSamples
    >>> isinstance(ProbabilisticClassifierChain(), DrawsSamples)
    True
    """

    def sample(self, X: Matrix, n_samples: int, /) -> sparse.csr_array:
        """Draw ``n_samples`` label sets for each instance, boolean CSR (n * n_samples, m)."""


def looks_up(model: object) -> TypeGuard[Any]:
    """Return whether an estimator only looks up given estimates, which is not worth timing.

    Parameters
    ----------
    model : object

    Returns
    -------
    bool

    See Also
    --------
    Forest, Streaming, DrawsSamples

    Examples
    --------
    >>> from xmlc.models import PLT
    >>> from xmlc.models.abilities import looks_up
    >>> looks_up(PLT())
    False
    """
    return hasattr(model, "look_up")
