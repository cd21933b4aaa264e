"""How long one tree of a forest takes to grow; the estimators say it before they start, and jobs are planned by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# Measured seconds of a tree for each level and each non-zero of X and Y.
FASTXML_VALUE = 4e-8
# Of LdSM, the first two for each pass and direction, and each node that an instance comes through.
LDSM_VALUE = 7e-9  # a non-zero of X
LDSM_LABEL = 6.8e-9  # a label of an instance
LDSM_NODE = 1.25e-5
# Chance that an instance goes in another direction of a node of LdSM, too; less where small weights are dropped.
LDSM_SENT, LDSM_SENT_PRUNED = 0.085, 0.03


class Level(NamedTuple):
    """Inner nodes of one level of a tree, and how many instances each of them has."""

    nodes: float
    instances: float


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


def ldsm_levels(n: float, max_nodes: float, arity: int, prune: bool) -> Iterator[Level]:
    """List the levels of one tree of LdSM that has all its nodes, as if each split were even.

    It has ``max_nodes`` nodes, inner ones and leaves, unless its leaves cannot be parted any more; of T nodes
    (T - 1) / M are inner. An instance goes in its best direction, and by chance in any of the others.

    Parameters
    ----------
    n : float
        Training instances.
    max_nodes : float
    arity : int
        M.
    prune : bool
        Whether small weights are dropped.
    """
    sent = 1 + (arity - 1) * (LDSM_SENT_PRUNED if prune else LDSM_SENT)
    left, nodes, instances = (max_nodes - 1) / arity, 1.0, float(n)
    while left > 0 and instances >= 2:
        yield Level(min(left, nodes), instances)
        left, nodes, instances = left - nodes, nodes * arity, instances * sent / arity


def ldsm_seconds(n: int, values: int, pairs: int, max_nodes: int, arity: int, epochs: int, prune: bool) -> float:
    """Return the seconds of one tree that has all its nodes, see `ldsm_levels`: too much for one that stops early.

    Parameters
    ----------
    n, values, pairs : int
        Training instances, their non-zeros, n d of them where features are standardised, and their labels.
    max_nodes, arity, epochs : int
    prune : bool
    """
    levels = list(ldsm_levels(n, max_nodes, int(arity), prune))
    passed = sum(level.nodes * level.instances for level in levels) / n  # nodes that an instance comes through
    in_pass = LDSM_VALUE * values + LDSM_LABEL * pairs
    return int(epochs) * int(arity) * passed * in_pass + LDSM_NODE * sum(level.nodes for level in levels)
