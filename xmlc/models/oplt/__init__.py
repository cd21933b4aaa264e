"""OPLT: probabilistic label trees that grow with the stream of instances."""

from xmlc.models.oplt._blocks import ask_for_homes, find_rows, table_of
from xmlc.models.oplt._freeze import breadth_first
from xmlc.models.oplt._plant import planted_as
from xmlc.models.oplt.estimator import OPLT

__all__ = ["OPLT", "ask_for_homes", "breadth_first", "find_rows", "planted_as", "table_of"]
