"""Weights as they are saved: which type has which arrays."""

from __future__ import annotations

import numpy as np

from xmlc.errors import XmlcError
from xmlc.models.plt.weights._compact import CompactNodeWeights
from xmlc.models.plt.weights._hashed import HashedWeights
from xmlc.models.plt.weights._nodes import NodeWeights
from xmlc.models.plt.weights._proof import check_weights
from xmlc.models.plt.weights._searches import TreeWeights

KINDS = (NodeWeights, CompactNodeWeights, HashedWeights)


def weights_from_state(arrays: dict[str, np.ndarray], meta: dict[str, float], n_features: int) -> TreeWeights:
    """Return the weights whose `TreeWeights.state` this is, proven, of the type that has these arrays and numbers.

    Raises
    ------
    XmlcError
        No type has them, or one of them is not what it must be.
    """
    # Plain views of the mapped files: numba takes long to recognise numpy's class for them.
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    for kind in KINDS:
        if set(kind._fields) == {*plain, *meta}:
            check_weights(plain, n_features)
            return kind.from_state(plain, meta)
    found = ", ".join(sorted({*plain, *meta}))
    raise XmlcError(f"found the arrays and numbers {found}, expected those of weights of a label tree; train it anew")
