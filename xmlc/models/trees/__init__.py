"""Label trees that are stored as arrays."""

from xmlc.models.trees.label_tree import LabelTree, complete_tree, random_complete_tree

__all__ = ["LabelTree", "complete_tree", "random_complete_tree"]
