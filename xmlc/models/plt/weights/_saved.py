"""Weights as they are saved: which type has which arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from xmlc.errors import XmlcError
from xmlc.gate.stored import Field, check_fields
from xmlc.models.plt.weights._compact import CompactNodeWeights
from xmlc.models.plt.weights._hashed import HashedWeights
from xmlc.models.plt.weights._nodes import NodeWeights
from xmlc.models.plt.weights._searches import TreeWeights

TREE = (
    Field("children", np.int64, ("nodes + 1",)),
    Field("label", np.int32, ("nodes",), least=-1, below="n_labels"),
    Field("bias", np.float32, ("nodes",)),
)
OWN = (
    *TREE,
    Field("feature_starts", np.int64, ("nodes + 2",), starts="features"),
    Field("features", np.uint32, ("features",), below="n_features"),
    Field("weights", np.float32, ("weights",)),
)
FIELDS: dict[Any, tuple[Field, ...]] = {
    NodeWeights: (*OWN, Field("weight_starts", np.int64, ("nodes + 2",), starts="weights")),
    CompactNodeWeights: (
        *OWN,
        Field("entry_starts", np.int64, ("nodes + 2",), starts="weights"),
        Field("row_starts", np.uint32, (None,)),
        Field("siblings", None, ("weights",)),
    ),
    HashedWeights: (*TREE, Field("table", np.float32, (None,)), Field("scale", np.float64, ("nodes",))),
}


def weights_from_state(
    arrays: dict[str, np.ndarray], meta: dict[str, float], n_features: int, n_labels: int
) -> TreeWeights:
    """Return the weights whose `TreeWeights.state` this is, of the type that has these arrays and numbers.

    Raises
    ------
    XmlcError
        No type has them, or one of them is not what it must be.
    """
    for kind, fields in FIELDS.items():
        if set(kind._fields) == {*arrays, *meta}:
            check_fields(arrays, fields, n_features=n_features, n_labels=n_labels)
            weights: TreeWeights = kind.from_state(arrays, meta)
            return weights
    found = ", ".join(sorted({*arrays, *meta}))
    raise XmlcError(f"found the arrays and numbers {found}, expected those of weights of a label tree; train it anew")
