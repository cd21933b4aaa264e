"""The tree that a whole stream grows, found node by node, so that `OPLT.fit` need not learn the
stream.

Which child a node chooses for a new label depends only on the classifiers of its children and on
the instances and labels that reach it. The nodes of a level are therefore independent tasks, each
with the classifiers of one node's children in memory. By Definition 1 of oplt2021, these are the
same as if all children had existed from the beginning, so no auxiliary classifiers are needed, and
`OPLT.partial_fit` grows the same tree to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks, run_tasks
from xmlc.core.progress import Progress
from xmlc.kernels.arrays import row_of_csr
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores, padded_size
from xmlc.models.oplt.growth import fit_and_balance
from xmlc.models.oplt.tree import NONE, GrowthSettings
from xmlc.models.plt.solvers import logistic_derivatives
from xmlc.models.plt.training import count_nonzeros, gather_rows, list_features, reach_of
from xmlc.models.trees import LabelTree

BEFORE = -1  # arrival of a label that the tree has before the first instance
NEVER = np.iinfo(np.int64).max  # arrival of a label that no instance has
NONZEROS_PER_TASK = 1 << 20  # roughly, for a group of small nodes

# state of a node while it chooses children for its labels
CHOOSER = np.dtype(
    [
        ("depth", np.int64),
        ("n_children", np.int64),  # 0 while all labels are children of the node itself
        ("followed", np.int64),  # child for the instance's next new labels, or NONE
        # only for the authors' program
        ("degree", np.int64),  # number of children of a group, leaves included
        ("n_pushed", np.int64),  # labels pushed down below the first child
        # 1 if the instance begins a group, which may then exceed max_leaf
        ("is_first", np.int64),
        # 1 if the instance has extended ``followed`` by two nodes
        ("is_deep", np.int64),
    ]
)


class Level(NamedTuple):
    """The nodes of one level of the final tree, from left to right.

    Attributes
    ----------
    depth : int
    starts : int64 (n_nodes + 1,)
        Start of each node's labels in ``labels``.
    labels : int32
        Labels below each node, in the order of arrival.
    is_leaf : bool (n_nodes,)
    begins_group : bool (n_nodes,)
        Whether the node, in a tree of the authors' program, takes all new labels of its first
        instance as children, even more than max_leaf.
    """

    depth: int
    starts: np.ndarray
    labels: np.ndarray
    is_leaf: np.ndarray
    begins_group: np.ndarray


class Choices(NamedTuple):
    """The children that the nodes of one level choose for labels.

    Attributes
    ----------
    node_of : int32 (n_labels,)
        The node that chooses for each label, or NONE.
    child_of : int32 (n_labels,)
        The chosen child, counted within the node.
    n_children : int64 (n_nodes,)
        0 if the children are the node's labels.
    """

    node_of: np.ndarray
    child_of: np.ndarray
    n_children: np.ndarray


class Children(NamedTuple):
    """The children of one node.

    Attributes
    ----------
    sizes : int64
        Labels of each child. While all children are leaves, the first entry counts them.
    rooms : int64
        Degree of each child that is a group of the program, else NONE.
    scores : float32
        Linear scores for one instance, padded.
    """

    sizes: np.ndarray
    rooms: np.ndarray
    scores: np.ndarray


def final_tree(
    x: KernelCSR,
    y: KernelCSR,
    n_features: int,
    order: np.ndarray,
    settings: GrowthSettings,
    given: LabelTree | None,
    n_jobs: int | None,
) -> LabelTree:
    """Return the tree that grows if the rows ``order`` of ``x`` and ``y`` are learned one by one.

    At least one of these instances must have a label, and ``given``, the tree before the first of
    them, only labels that occur in ``y``. The time is linear in the number of non-zeros that reach
    the inner nodes. Peak memory is about 20 bytes per entry of ``order``, four bytes per positive
    node of an instance on one level, and the classifiers of one node's children for each thread.
    """
    # positions in ``order`` of the first visit to each row and the first instance of each label
    visited = np.full(y.indptr.size - 1, NEVER)
    np.minimum.at(visited, order, np.arange(order.size))
    arrival = np.full(int(y.indices.max()) + 1, NEVER)
    np.minimum.at(arrival, y.indices, np.repeat(visited, np.diff(y.indptr)))
    place = np.arange(arrival.size)
    if given is not None:  # its labels come first, in the order of its leaves
        leaves = np.flatnonzero(given.label != NONE)
        place[given.label[leaves]] = leaves
        arrival[given.label[leaves]] = BEFORE
    labels = np.flatnonzero(arrival != NEVER)
    labels = labels[np.lexsort((place[labels], arrival[labels]))].astype(np.int32)
    is_leaf = np.array([labels.size == 1 and not settings.program])
    level = Level(0, np.array([0, labels.size]), labels, is_leaf, np.zeros(1, dtype=bool))
    visits = np.arange(order.size)
    degrees = [np.ones(1, dtype=np.int64)]
    leaf_labels = []
    with Progress(0.0, "growing the tree", "nnz") as progress:  # the number of levels is unknown
        while level.is_leaf.size > 0:
            n_nodes = level.is_leaf.size
            zeros = np.zeros(arrival.size, dtype=np.int32)
            choices = Choices(np.full_like(zeros, NONE), zeros, np.zeros(n_nodes, dtype=np.int64))
            if given is not None:
                choose_given(choices, level, given)
            nodes = choosing_nodes(choices, level, settings)
            # block v + 1 has the positions in ``visits`` of the instances that reach node v
            reach = reach_of(
                y, order[visits], choices.node_of, np.full(n_nodes, NONE, dtype=np.int32)
            )
            nonzeros = count_nonzeros(x.indptr, reach)
            nodes = nodes[np.argsort(-nonzeros[nodes + 1], kind="stable")]  # costly nodes first
            tasks = []
            costs = []
            for begin, end in cost_blocks(nonzeros[nodes + 1], NONZEROS_PER_TASK):
                own = nodes[begin:end]
                tasks.append(
                    (
                        x,
                        y,
                        n_features,
                        nonzeros,
                        reach,
                        visits,
                        arrival,
                        level,
                        own,
                        settings,
                        choices,
                    )
                )
                costs.append(float(nonzeros[own + 1].sum()))
            run_tasks(choose_children, tasks, n_jobs, costs, progress=progress)
            visits = visits[np.unique(reach.block_positions[reach.block_starts[1] :])]
            leaf_labels.append(np.where(level.is_leaf, level.labels[level.starts[:-1]], NONE))
            node, level = next_level(level, choices, settings.program)
            degrees.append(np.bincount(node, minlength=n_nodes))
    return LabelTree.from_children(np.cumsum(np.concatenate(degrees)), np.concatenate(leaf_labels))


def choose_given(choices: Choices, level: Level, given: LabelTree) -> None:
    """Send the labels below nodes with inner children to the same children as in ``given``."""
    depth = given.depth
    node = np.flatnonzero(given.label != NONE)
    label = given.label[node]
    while (depth[node] > level.depth + 1).any():
        node = np.where(depth[node] > level.depth + 1, given.parent[node], node)
    has_inner = np.zeros(given.n_nodes, dtype=bool)
    has_inner[given.parent[1:][given.label[1:] == NONE]] = True
    known = (depth[node] == level.depth + 1) & has_inner[given.parent[node]]
    parent = np.full(choices.node_of.size, NONE)
    parent[label[known]] = given.parent[node[known]]
    choices.child_of[label[known]] = (node - given.children[given.parent[node]])[known]
    # labels of the given tree are the first of a node
    first = parent[level.labels[level.starts[:-1]]]
    choices.n_children[:] = np.where(first == NONE, 0, np.diff(given.children)[first])


def choosing_nodes(choices: Choices, level: Level, settings: GrowthSettings) -> np.ndarray:
    """Return the nodes with too many labels for leaves, and note them in ``choices``."""
    is_program_root = settings.program and level.depth == 0
    chooses = (
        (np.diff(level.starts) > settings.max_leaf) | (choices.n_children > 0) | is_program_root
    )
    nodes = np.flatnonzero(chooses & ~level.is_leaf)
    for node in nodes.tolist():
        choices.node_of[level.labels[level.starts[node] : level.starts[node + 1]]] = node
    return nodes


def next_level(level: Level, choices: Choices, is_program: bool) -> tuple[np.ndarray, Level]:
    """Return the parent of each node of the level below, and this level."""
    node = np.repeat(np.arange(level.is_leaf.size), np.diff(level.starts))
    child = choices.child_of[level.labels].astype(np.int64)
    is_label = choices.n_children[node] == 0
    child[is_label] = np.flatnonzero(is_label)
    below = np.flatnonzero(~level.is_leaf[node])
    below = below[np.lexsort((child[below], node[below]))]
    node = node[below]
    child = child[below]
    is_first = np.ones(below.size, dtype=bool)
    is_first[1:] = (node[1:] != node[:-1]) | (child[1:] != child[:-1])
    begins = np.flatnonzero(is_first)
    starts = np.append(begins, below.size)
    node = node[begins]
    child = child[begins]
    is_leaf = is_label[below[begins]]
    if is_program:  # a group of the program has at most two inner children, the first ones
        is_leaf |= (child >= 2) & (level.depth > 0)
    else:
        is_leaf |= np.diff(starts) == 1
    begins_group = (level.depth == 0) | (level.begins_group[node] & (child == 0))
    return node, Level(level.depth + 1, starts, level.labels[below], is_leaf, begins_group)


@njit
def choose_children(
    x, y, n_features, nonzeros, reach, visits, arrival, level, nodes, settings, choices
):
    """Choose a child for each label of some nodes, as the labels arrive (Algorithms 3 and 4).

    Parameters
    ----------
    x, y, n_features, settings
        As for `final_tree`.
    nonzeros : int64
        Non-zeros of each block of ``reach``.
    reach : Reach
        Block v + 1 has the instances that reach node v of the level.
    visits : int64
        Position in the stream of each instance of ``reach``.
    arrival : int64 (n_labels,)
        Position in the stream of each label's first instance, or ``BEFORE``.
    level : Level
    nodes : int64
    choices : Choices
        Written for these nodes and their labels, except those that arrived ``BEFORE``.
    """
    local = np.empty(n_features, dtype=np.uint32)
    # with b > 2, only the root of a tree of the program chooses between its children
    learns = not settings.random and not (
        settings.program and settings.arity > 2 and level.depth > 0
    )
    state = np.zeros(1, dtype=CHOOSER)
    for v in nodes:
        labels = level.labels[level.starts[v] : level.starts[v + 1]]
        positions = reach.block_positions[reach.block_starts[v + 1] : reach.block_starts[v + 2]]
        n_needed = 0  # classifiers are not needed after the arrival of the last label
        while n_needed < positions.size and visits[positions[n_needed]] <= arrival[labels[-1]]:
            n_needed += 1
        state[:] = np.zeros(1, dtype=CHOOSER)
        node = state[0]
        node.depth = level.depth
        node.n_children = choices.n_children[v]
        width = max(node.n_children, min(np.int64(settings.arity), labels.size))
        padded = padded_size(width)
        scores = np.zeros(padded, dtype=np.float32)
        children = Children(
            np.zeros(width, dtype=np.int64), np.full(width, NONE, dtype=np.int64), scores
        )
        if learns:
            _, features = list_features(x, reach, np.full(1, v + 1), nonzeros, n_features)
            rows = gather_rows(x, reach.order[positions[:n_needed]], features, local)
            # with sums of squared derivatives
            weights = np.zeros((1 + features.size) * 2 * padded, dtype=np.float32)
            targets = np.zeros(padded, dtype=np.uint8)
        done = 0
        while done < labels.size and arrival[labels[done]] == BEFORE:
            children.sizes[choices.child_of[labels[done]]] += 1
            done += 1
        for i in range(n_needed):  # line 1 of Algorithm 3
            place = visits[positions[i]]
            if learns:
                ids, values = row_of_csr(rows, i)
                scores[:] = 0
                dense_scores(ids, values, weights, 2 * padded, scores, scores)
            key = stream_key(settings.key, place)
            node.followed = NONE
            node.is_deep = 0
            node.is_first = level.begins_group[v] and arrival[labels[0]] == place
            while done < labels.size and arrival[labels[done]] == place:  # line 1 of Algorithm 4
                if settings.program:
                    child = child_by_program(node, children, key, done, settings)
                else:
                    child = child_by_paper(node, children, key, settings)
                choices.child_of[labels[done]] = child
                done += 1
            if learns:  # Algorithm 7, bit-identical to `xmlc.models.plt.solvers.adagrad`
                positives, _ = row_of_csr(y, reach.order[positions[i]])
                targets[:] = 0
                for label in positives:
                    if choices.node_of[label] == v:
                        targets[choices.child_of[label]] = 1
                logistic_derivatives(scores, targets)
                ids, values = row_of_csr(rows, i)
                adagrad_to_rows(
                    ids, values, scores, settings.rate, settings.eps, weights, 2 * padded
                )
        choices.child_of[labels[: node.n_pushed]] = 0
        choices.n_children[v] = node.n_children


@njit
def child_by_paper(node, children, key, settings):
    """Return the child for a new label by Algorithm 8 of oplt2021, and note it in the node.

    A node whose children are all leaves gets up to max_leaf of them. The next label pushes them
    down below a first inner child and begins a second one. Each further label extends the only
    child that is a leaf (line 8), or else begins a child until there are b, whereupon the policy
    chooses. Later labels of an instance follow its first one.
    """
    sizes = children.sizes
    if node.n_children == 0:
        if sizes[0] < settings.max_leaf:
            sizes[0] += 1
            return np.int64(0)
        node.n_children = 1
    if node.followed == NONE:
        last = node.n_children - 1
        if node.n_children >= settings.arity:
            node.followed = child_by_policy(node, children, key, settings)
        elif last > 0 and sizes[last] == 1:
            node.followed = last
        else:
            node.followed = node.n_children
            node.n_children += 1
    sizes[node.followed] += 1
    return np.int64(node.followed)


@njit
def child_by_program(node, children, key, n_labels, settings):
    """Return the child for a new label as `xmlc.models.oplt.growth.extend_by_program` chooses it.

    ``n_labels`` is the node's number of labels, of which a group keeps all as leaves until it is
    full and gets two inner children.
    """
    sizes = children.sizes
    rooms = children.rooms
    if node.depth > 0 and (node.n_children == 0 or settings.arity > 2):  # the node is a group
        if node.followed != NONE:
            return np.int64(node.followed)
        if node.degree < settings.max_leaf or (node.is_first and node.n_children == 0):
            node.degree += 1
            if node.n_children == 0:
                return np.int64(0)
            return np.int64(node.degree - 1)
        # the labels move below the first child, and the second gets the new label
        sizes[0] = n_labels
        rooms[0] = node.degree
        sizes[1] = 1
        rooms[1] = 1
        node.n_pushed = n_labels
        node.n_children = 2
        node.degree = 2
        node.followed = 1
        return np.int64(1)
    if node.followed == NONE:
        if node.n_children < settings.arity:  # only the root: the instance begins a group
            node.followed = node.n_children
            node.is_first = 1
            node.n_children += 1
            rooms[node.followed] = 0
        else:
            node.followed = child_by_policy(node, children, key, settings)
    child = np.int64(node.followed)
    if rooms[child] != NONE and not node.is_deep:
        if rooms[child] >= settings.max_leaf and not node.is_first:
            for other in range(node.n_children - 1, -1, -1):
                if rooms[other] != NONE and rooms[other] < settings.max_leaf:
                    child = np.int64(other)
        if rooms[child] < settings.max_leaf or node.is_first:
            rooms[child] += 1
        else:  # the child is full, and so are its siblings
            node.is_deep = 1
            rooms[child] = NONE
            if settings.arity > 2:
                rooms[child] = 2
    sizes[child] += 1
    return child


@njit
def child_by_policy(node, children, key, settings):
    """Return a random child, or the first with the largest score (Algorithm 8, lines 3 to 6)."""
    if settings.random:
        return random_below(key, node.depth, node.n_children)
    sizes = children.sizes
    n_leaves = sizes.sum()
    best = np.int64(0)
    best_score = -np.inf
    for child in range(node.n_children):
        score = fit_and_balance(
            children.scores[child], sizes[child], n_leaves, node.n_children, settings
        )
        if score > best_score:
            best = np.int64(child)
            best_score = score
    return best
