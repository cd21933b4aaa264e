"""The paper swnn2018, "Revisiting the Vector Space Model, the Sparse Weighted Nearest-Neighbor
Method".
"""
