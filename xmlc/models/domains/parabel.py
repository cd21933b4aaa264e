"""Define the domains of the hyperparameters of `Parabel`."""

from collections.abc import Mapping
from typing import Any

from xmlc.kernels.domains import EXCEPT_NONE, TREES, whole
from xmlc.models.domains.plt import NODES, check_kmeans_shape

# FEW contains Parabel's defaults if at most 1,000 labels have a training instance. MANY contains Parabel's defaults if
# more than 1,000 labels have a training instance (docs/models.md).
MANY_LABELS = 1000
FEW: Mapping[str, object] = {"arity": 2, "hinge_power": 2, "tol": 0.1, "weight_threshold": 0.1, "C": 1.0}
MANY: Mapping[str, object] = {"arity": 16, "hinge_power": 3, "tol": 0.03, "weight_threshold": 0.05, "C": 1.0}
DOMAINS = {**NODES, "n_trees": whole(1, TREES), "hinge_power": whole(1, 4, none=True), "tol": EXCEPT_NONE}


def usual(n_labels: float) -> Mapping[str, object]:
    """Return the default hyperparameters for ``n_labels`` labels."""
    return MANY if n_labels > MANY_LABELS else FEW


def check_together(given: Mapping[str, Any]) -> None:
    """Raise an InvalidParameterError if the trees of `Parabel` cannot have the given shape."""
    check_kmeans_shape(given.get("arity") or 2, given.get("max_leaf"))
