"""The weights of a label tree's nodes: how they lie in memory, how they are summed, updated and cut."""

from xmlc.models.plt.weights._hashed import HashedWeights
from xmlc.models.plt.weights._nodes import CompactNodeWeights, NodeWeights

__all__ = ["CompactNodeWeights", "HashedWeights", "NodeWeights"]
