"""OPLT: probabilistic label trees that grow with the stream of instances."""

from xmlc.models.oplt._plant import planted_as
from xmlc.models.oplt.estimator import OPLT

__all__ = ["OPLT", "planted_as"]
