"""Find the tree that a whole stream grows, one node after the other.

`OPLT.fit` does so instead of learning the stream.

Each node sends new labels to its children. Its choices depend on the classifiers of its children
and on the instances and labels that reach the node, but not on other nodes. The nodes of a level
are therefore treated one by one, or on several threads, and memory holds only the classifiers of
the children of one node per thread. By Definition 1 of oplt2021, these classifiers are the same as
if all children had existed from the beginning, so auxiliary classifiers are not needed. The tree is
bit-identical to the tree that `OPLT.partial_fit` grows.

`choose_children` is the loop over the instances (Algorithms 3 and 4). `child_by_paper` chooses as
Algorithm 8 of oplt2021 does, and `child_by_program` as the authors' program does.
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

BEFORE = -1  # Arrival of a label that the tree has before the first instance.
NEVER = np.iinfo(np.int64).max  # Arrival of a label that no instance has.
NONZEROS_PER_TASK = 1 << 20  # Approximate number of non-zeros in a group of small nodes.

# The state of a node while it chooses children for its labels.
CHOOSER = np.dtype(
    [
        ("depth", np.int64),  # The root has depth 0.
        # Number of children, or 0 while all labels are children of the node itself.
        ("n_children", np.int64),
        ("followed", np.int64),  # The child that the instance's next new labels follow, or NONE.
        # The following fields are only used for the authors' program.
        ("degree", np.int64),  # The number of children of a group, leaves included.
        # The number of labels that have been pushed down below the first child.
        ("n_pushed", np.int64),
        # Has the value 1 if the instance begins a group, which may then exceed max_leaf.
        ("is_first", np.int64),
        # Has the value 1 if the instance has extended ``followed`` by two nodes.
        ("is_deep", np.int64),
    ]
)


class Level(NamedTuple):
    """List the nodes of one level of the final tree, from left to right.

    Attributes
    ----------
    depth : int
        Depth of the level. The root has depth 0.
    starts : int64 (n_nodes + 1,)
        Start of each node's labels in ``labels``.
    labels : int32
        Labels below each node, in the order in which they arrive.
    is_leaf : bool (n_nodes,)
        Whether a node is a leaf.
    begins_group : bool (n_nodes,)
        Whether all new labels of the first instance become children of the node, even if they are
        more than max_leaf. Only trees of the authors' program have such nodes.
    """

    depth: int
    starts: np.ndarray
    labels: np.ndarray
    is_leaf: np.ndarray
    begins_group: np.ndarray


class Choices(NamedTuple):
    """Hold the choices of the nodes of one level.

    Attributes
    ----------
    node_of : int32 (n_labels,)
        The node that chooses a child for each label, or NONE.
    child_of : int32 (n_labels,)
        The chosen child of each label, a number from 0 to the number of children - 1.
    n_children : int64 (n_nodes,)
        Number of children of each node, or 0 if the children of the node are its labels.
    """

    node_of: np.ndarray
    child_of: np.ndarray
    n_children: np.ndarray


class Children(NamedTuple):
    """Hold the children of one node.

    Attributes
    ----------
    sizes : int64
        Number of labels of each child. While all children are leaves, the first entry counts them.
    rooms : int64
        Number of children of each child that is a group of the program, or NONE.
    scores : float32
        Linear scores of the children for one instance, padded.
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
    """Return the tree that grows if the rows with the numbers ``order`` are learned one by one.

    The time is linear in the number of non-zeros that reach the inner nodes. Peak memory is about
    20 bytes for each entry of ``order``, four bytes for each positive node of its instance on one
    level, and for each thread the classifiers of the children of one node.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and label sets. At least one instance in ``order`` has a label.
    n_features : int
        Number of features.
    order : int64
        Numbers of the rows, in the order in which they are learned.
    settings : GrowthSettings
        Settings that determine how the tree grows.
    given : LabelTree or None
        The tree before the first instance. Its labels occur in ``y``.
    n_jobs : int or None
        Number of threads, see `xmlc.core.threads.resolve_threads`.
    """
    # position in ``order`` of the first visit to each row
    visited = np.full(y.indptr.size - 1, NEVER)
    np.minimum.at(visited, order, np.arange(order.size))
    # position in ``order`` of the first instance of each label
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
            # Block v + 1 contains the positions in ``visits`` of the instances that reach node v.
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
    """Send the labels of the given tree to the same children as there, below nodes that have inner
    children there.
    """
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
    """Return the nodes of a level whose labels are too many to be children of the node, and note
    them as choosing.
    """
    is_program_root = settings.program and level.depth == 0
    chooses = (
        (np.diff(level.starts) > settings.max_leaf) | (choices.n_children > 0) | is_program_root
    )
    nodes = np.flatnonzero(chooses & ~level.is_leaf)
    for node in nodes.tolist():
        choices.node_of[level.labels[level.starts[node] : level.starts[node + 1]]] = node
    return nodes


def next_level(level: Level, choices: Choices, is_program: bool) -> tuple[np.ndarray, Level]:
    """Return the parent of each node of the level below, and the level."""
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
    """Choose a child for each label of the given nodes, in the order in which the labels arrive.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and label sets.
    n_features : int
        Number of features.
    nonzeros : int64
        Number of non-zeros of the instances in each block of ``reach``.
    reach : Reach
        Block v + 1 contains the instances that reach node v of the level.
    visits : int64
        Position of each instance of ``reach`` in the stream.
    arrival : int64 (n_labels,)
        Position in the stream of the first instance of each label, or ``BEFORE`` for a label of the
        given tree.
    level : Level
        The nodes of the level.
    nodes : int64
        The nodes that choose.
    settings : GrowthSettings
        Settings that determine how the tree grows.
    choices : Choices
        The choices, which the function writes for the given nodes and their labels. The choices for
        labels of the given tree are given.
    """
    local = np.empty(n_features, dtype=np.uint32)
    # With b > 2, only the root of a tree of the program chooses between its children.
    learns = not settings.random and not (
        settings.program and settings.arity > 2 and level.depth > 0
    )
    state = np.zeros(1, dtype=CHOOSER)
    for v in nodes:
        labels = level.labels[level.starts[v] : level.starts[v + 1]]
        positions = reach.block_positions[reach.block_starts[v + 1] : reach.block_starts[v + 2]]
        n_needed = 0  # the classifiers are not needed after the arrival of the last label
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
    """Return the child of a node that a new label goes to, by Algorithm 8 of oplt2021.

    A node whose children are all leaves gets up to max_leaf leaves. The next label pushes the
    leaves down below a first inner child, and begins a second child. Each further label extends the
    only child that is a leaf (line 8), or begins a new child, until there are b children. From then
    on, the policy chooses a child. All later labels of an instance follow the instance's first
    label.

    Parameters
    ----------
    node : CHOOSER
        The state of the node, updated.
    children : Children
        The children of the node. Their sizes are updated.
    key : uint64
        Key of the random numbers for the instance.
    settings : GrowthSettings
        Settings that determine how the tree grows.
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
    """Return the child of a node that a new label goes to, by
    `xmlc.models.oplt.growth.extend_by_program`.

    A group keeps its labels as leaves until it is full. Then it gets two inner children. With b >
    2, the node remains a group, and gets more leaves. A node that is no group chooses a child by
    the policy, as the root does once b instances have begun groups. If the chosen child is a full
    group, the label goes to its first sibling with space, if there is one.

    The parameters are as in `child_by_paper`, and ``n_labels`` is the number of labels that the
    node has.
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
        # The labels of the full group move below its first child. The second child gets the new
        # label.
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
        if node.n_children < settings.arity:  # only at the root: the instance begins a group
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
    """Return a random child, or the first child with the largest score (lines 3 to 6 of Algorithm 8
    of oplt2021).
    """
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
