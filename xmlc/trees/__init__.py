"""Label trees as arrays.

``xmlc.trees.kmeans`` stays apart: it needs the modules for threads, which are not imported where only a tree's
shape is needed.
"""

from xmlc.trees.complete import complete_tree, random_complete_tree
from xmlc.trees.huffman import huffman_tree
from xmlc.trees.label_tree import LabelTree

__all__ = ["LabelTree", "complete_tree", "huffman_tree", "random_complete_tree"]
