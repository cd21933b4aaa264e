"""The sparse weighted nearest-neighbour method (swnn2018)."""

from xmlc.models.nearest.estimator import (
    SparseWeightedNearestNeighbors as SparseWeightedNearestNeighbors,
)
