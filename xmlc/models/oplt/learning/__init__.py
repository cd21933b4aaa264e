"""How an OPLT learns a stream: the tree grows instance by instance, the classifiers learn block by block."""

from xmlc.models.oplt.learning.stream import learn, learn_with_thresholds
from xmlc.models.oplt.learning.thresholds import set_all_thresholds

__all__ = ["learn", "learn_with_thresholds", "set_all_thresholds"]
