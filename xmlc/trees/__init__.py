"""Label trees as arrays."""

from xmlc.trees.complete import complete_tree, random_complete_tree
from xmlc.trees.huffman import huffman_tree
from xmlc.trees.kmeans import kmeans_tree, label_representations
from xmlc.trees.label_tree import LabelTree

__all__ = ["LabelTree", "complete_tree", "huffman_tree", "kmeans_tree", "label_representations", "random_complete_tree"]
