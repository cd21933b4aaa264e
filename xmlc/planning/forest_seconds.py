"""How long one tree of a forest takes to grow; the estimators say it before they start, and jobs are planned by it."""

from __future__ import annotations

# Measured seconds of a tree for each level and each non-zero of X and Y.
FASTXML_VALUE = 4e-8
# Of LdSM, the first two for each level, pass and direction.
LDSM_VALUE = 5e-9  # a non-zero of X
LDSM_LABEL = 1e-8  # a label of an instance
LDSM_NODE = 3e-5


def fastxml_seconds(n: int, values: int, pairs: int, max_leaf: int) -> float:
    """Return the seconds of one tree, as if each split were even: every level goes through all non-zeros and labels.

    Parameters
    ----------
    n, values, pairs : int
        Training instances, their non-zeros and their labels.
    max_leaf : int
    """
    levels = (int(n) // int(max_leaf)).bit_length()
    return FASTXML_VALUE * levels * (values + pairs)


def ldsm_seconds(n: int, values: int, pairs: int, max_nodes: int, arity: int, epochs: int) -> float:
    """Return the seconds of one tree, as if it had all its nodes and each instance passed one of each level.

    That is too much for a tree that stops early, and too little for instances that are sent in several directions.

    Parameters
    ----------
    n, values, pairs : int
        Training instances, their non-zeros, n d of them where features are standardised, and their labels.
    max_nodes, arity, epochs : int
    """
    nodes = min(int(max_nodes), 2 * int(n))
    levels = nodes.bit_length() / (int(arity).bit_length() - 1)
    in_pass = LDSM_VALUE * values + LDSM_LABEL * pairs
    return int(epochs) * int(arity) * levels * in_pass + LDSM_NODE * nodes
