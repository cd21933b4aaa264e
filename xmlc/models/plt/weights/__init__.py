"""The weights of a label tree's nodes: how they lie in memory, how they are searched, saved and cut."""

from xmlc.models.plt.weights._compact import CompactNodeWeights
from xmlc.models.plt.weights._hashed import HashedWeights
from xmlc.models.plt.weights._nodes import NodeWeights
from xmlc.models.plt.weights._saved import weights_from_state
from xmlc.models.plt.weights._searches import SEARCHES, TreeWeights

__all__ = ["SEARCHES", "CompactNodeWeights", "HashedWeights", "NodeWeights", "TreeWeights", "weights_from_state"]
