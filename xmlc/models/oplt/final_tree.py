"""Find the tree that a whole stream grows, one node after the other. `OPLT.fit` does so instead of learning the stream.

Each node sends new labels to its children. Its choices depend on the classifiers of its children and on the instances
and labels that reach the node, but not on other nodes. The nodes of a level are therefore treated one by one, or on
several threads, and memory holds only the classifiers of the children of one node per thread. By Definition 1 of
oplt2021, these classifiers are the same as if all children had existed from the beginning, so auxiliary classifiers are
not needed. The tree is bit-identical to the tree that `xmlc.models.oplt.learning.learn` grows.

`child_by_paper` chooses as Algorithm 8 of oplt2021 does, and `child_by_program` as the authors' program does. In
`xmlc.models.oplt.growth`, both algorithms have the form of the paper, as changes of a growing tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks, run_tasks
from xmlc.core.progress import Progress
from xmlc.kernels.arrays import row_of_csr, unchecked_view
from xmlc.kernels.counter_random import random_below, stream_key
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import adagrad_to_rows, dense_scores, padded_size
from xmlc.models.oplt.growth import fit_and_balance
from xmlc.models.oplt.tree import NONE, GrowthSettings
from xmlc.models.plt.solvers import logistic_derivatives
from xmlc.models.plt.training import count_nonzeros, reach_of
from xmlc.models.trees import LabelTree

BEFORE = -1  # Arrival of a label that the tree has before the first instance.
NEVER = np.iinfo(np.int64).max  # Arrival of a label that no instance has.
NONZEROS_PER_TASK = 1 << 20  # Approximate number of non-zeros in a group of small nodes.

# The state of a node while it chooses children for its labels.
CHOOSER = np.dtype(
    [
        ("depth", np.int64),  # The root has depth 0.
        ("n_children", np.int64),  # Number of children, or 1 while all labels are children of the node itself.
        ("followed", np.int64),  # The child that the instance's next new labels follow, or NONE.
        # The following fields are only used for the authors' program.
        ("degree", np.int64),  # The number of children of a group, leaves included.
        ("n_pushed", np.int64),  # The number of labels that have been pushed down below the first child.
        ("is_first", np.int64),  # Has the value 1 if the instance begins a group, which may then exceed max_leaf.
        ("is_deep", np.int64),  # Has the value 1 if the instance has extended ``followed`` by two nodes.
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
    given : int32 (n_nodes,)
        Number of the node in the given tree if it has inner children there, else NONE.
    given_degrees : int64 (n_nodes,)
        Number of children of the node in the given tree if it has inner children there, else 0.
    begins_group : bool (n_nodes,)
        Whether all new labels of the first instance become children of the node, even if they are more than max_leaf.
        Only trees of the authors' program have such nodes.
    """

    depth: int
    starts: np.ndarray
    labels: np.ndarray
    is_leaf: np.ndarray
    given: np.ndarray
    given_degrees: np.ndarray
    begins_group: np.ndarray


class Classifiers(NamedTuple):
    """Hold the classifiers of the children of one node.

    Attributes
    ----------
    row_of : int32 (n_features,)
        Row of weights of each feature, or NONE for a feature that the node has not seen.
    rows : float32
        Rows of ``2 * scores.size`` numbers: the weights of the children, and their sums of squared derivatives. Row 0
        belongs to the constant feature.
    n_rows : int64 (1,)
        Number of rows in use.
    ids : uint32
        Rows of the features of one instance.
    scores : float32
        Linear scores of the children for one instance, padded.
    targets : uint8
        Targets of the children for one instance, padded.
    """

    row_of: np.ndarray
    rows: np.ndarray
    n_rows: np.ndarray
    ids: np.ndarray
    scores: np.ndarray
    targets: np.ndarray


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

    The time is linear in the number of non-zeros that reach the inner nodes. Peak memory is about 20 bytes for each
    entry of ``order``, four bytes for each positive node of its instance on one level, and for each thread the
    classifiers of the children of one node.

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
    arrival = arrivals(y, order, int(y.indices.max()) + 1)
    if given is not None:
        arrival[given.label[given.label != NONE]] = BEFORE
    level = root_level(arrival, given, settings.program)
    visits = np.arange(order.size)
    degrees = list[np.ndarray]()
    labels = list[np.ndarray]()
    with Progress(0.0, "growing the tree", "nnz") as progress:  # the number of levels is unknown
        while level.is_leaf.size > 0:
            known = (x, y, n_features, order, arrival, given, settings, n_jobs)
            choices, visits = choices_of(level, visits, *known, progress)
            labels.append(np.where(level.is_leaf, level.labels[level.starts[:-1]], NONE))
            level, degree = next_level(level, choices, given, settings.program)
            degrees.append(degree)
    children = np.append(1, 1 + np.cumsum(np.concatenate(degrees)))
    return LabelTree.from_children(children, np.concatenate(labels))


def root_level(arrival: np.ndarray, given: LabelTree | None, is_program: bool) -> Level:
    """Return the level of the root, which has all labels below it."""
    labels = np.flatnonzero(arrival != NEVER)
    # Labels of the given tree come first, in the order of its leaves. Labels of the same instance are in their order.
    place = np.arange(arrival.size)
    if given is not None:
        leaves = np.flatnonzero(given.label != NONE)
        place[given.label[leaves]] = leaves
    labels = labels[np.lexsort((place[labels], arrival[labels]))].astype(np.int32)
    is_leaf = np.array([labels.size == 1 and not is_program])
    number = np.array([NONE if given is None else 0])
    return Level(0, np.array([0, labels.size]), labels, is_leaf, *inner_nodes(number, given), np.zeros(1, dtype=bool))


def inner_nodes(numbers: np.ndarray, given: LabelTree | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the fields ``given`` and ``given_degrees`` of a `Level`, from the nodes' numbers in the given tree."""
    if given is None:
        return np.full(numbers.size, NONE, dtype=np.int32), np.zeros(numbers.size, dtype=np.int64)
    inner = given.label == NONE
    above_inner = np.zeros(given.n_nodes, dtype=bool)
    above_inner[given.parent[1:][inner[1:]]] = True
    is_known = (numbers != NONE) & above_inner[numbers]
    degrees = np.where(is_known, np.diff(given.children)[numbers], 0)
    return np.where(is_known, numbers, NONE).astype(np.int32), degrees


def choices_of(
    level: Level,
    visits: np.ndarray,
    x: KernelCSR,
    y: KernelCSR,
    n_features: int,
    order: np.ndarray,
    arrival: np.ndarray,
    given: LabelTree | None,
    settings: GrowthSettings,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[Choices, np.ndarray]:
    """Return the choices of all nodes of a level, and the visits that reach the nodes which had a choice.

    ``visits`` contains the positions in ``order`` of the instances that may reach the level.
    """
    sizes = np.diff(level.starts)
    # The labels of a node are its children until they are too many.
    has_choice = (sizes > settings.max_leaf) | (level.given_degrees > 0) | (settings.program and level.depth == 0)
    nodes = np.flatnonzero(has_choice & ~level.is_leaf)
    node_of = np.full(arrival.size, NONE, dtype=np.int32)
    for node in nodes.tolist():
        node_of[level.labels[level.starts[node] : level.starts[node + 1]]] = node
    choices = Choices(node_of, np.full(arrival.size, NONE, dtype=np.int32), level.given_degrees.copy())
    if given is not None:
        choose_given(choices, level, given)
    if nodes.size == 0:
        return choices, visits[:0]
    # Block v + 1 contains the positions in ``visits`` of the instances that reach node v.
    reach = reach_of(y, order[visits], node_of, np.full(sizes.size, NONE, dtype=np.int32))
    nonzeros = count_nonzeros(x.indptr, reach)[nodes + 1]
    costly_first = np.argsort(-nonzeros, kind="stable")
    groups = cost_blocks(nonzeros[costly_first], NONZEROS_PER_TASK)
    tasks = []
    costs = []
    for begin, end in groups:
        own = costly_first[begin:end]
        tasks.append((x, y, n_features, reach, visits, arrival, level, nodes[own], settings, choices))
        costs.append(float(nonzeros[own].sum()))
    run_tasks(choose_children, tasks, n_jobs, costs, progress=progress)
    return choices, visits[np.unique(reach.block_positions[reach.block_starts[1] :])]


def choose_given(choices: Choices, level: Level, given: LabelTree) -> None:
    """Assign the labels of the given tree to the children that have these labels in the given tree."""
    leaf = given.leaf
    for node in np.flatnonzero(level.given != NONE).tolist():
        labels = level.labels[level.starts[node] : level.starts[node + 1]]
        labels = labels[labels < leaf.size]
        labels = labels[leaf[labels] != NONE]
        child = leaf[labels]
        while (is_below := given.parent[child] != level.given[node]).any():
            child = np.where(is_below, given.parent[child], child)
        choices.child_of[labels] = child - given.children[level.given[node]]


def next_level(level: Level, choices: Choices, given: LabelTree | None, is_program: bool) -> tuple[Level, np.ndarray]:
    """Return the level of the children, and the number of children of each node, int64 (n_nodes,)."""
    node = np.repeat(np.arange(level.is_leaf.size), np.diff(level.starts))
    place = np.arange(level.labels.size)
    child = np.where(choices.n_children[node] > 0, choices.child_of[level.labels], place)
    kept = np.flatnonzero(~level.is_leaf[node])
    kept = kept[np.lexsort((place[kept], child[kept], node[kept]))]
    node = node[kept]
    child = child[kept]
    labels = level.labels[kept]
    is_first = np.ones(kept.size, dtype=bool)
    is_first[1:] = (node[1:] != node[:-1]) | (child[1:] != child[:-1])
    begins = np.flatnonzero(is_first)
    starts = np.append(begins, kept.size)
    node = node[begins]
    child = child[begins]
    is_label = choices.n_children[node] == 0
    if is_program:  # a group of the program has at most two inner children, the first ones
        is_leaf = is_label | ((child >= 2) & (level.depth > 0))
    else:
        is_leaf = is_label | (np.diff(starts) == 1)
    numbers = np.full(node.size, NONE)
    if given is not None:
        is_given = child < level.given_degrees[node]
        numbers[is_given] = given.children[level.given[node[is_given]]] + child[is_given]
    begins_group = (level.depth == 0) | (level.begins_group[node] & (child == 0))
    below = Level(level.depth + 1, starts, labels, is_leaf, *inner_nodes(numbers, given), begins_group)
    return below, np.bincount(node, minlength=level.is_leaf.size)


@njit(cache=True, nogil=True)
def arrivals(y, order, n_labels):
    """Return the position in ``order`` of the first instance of each label, or ``NEVER``, int64 (n_labels,)."""
    arrival = np.full(n_labels, NEVER, dtype=np.int64)
    for position in range(order.size):
        labels, _ = row_of_csr(y, order[position])
        for label in labels:
            arrival[label] = min(arrival[label], position)
    return arrival


@njit(cache=True, nogil=True)
def choose_children(x, y, n_features, reach, visits, arrival, level, nodes, settings, choices):
    """Choose a child for each label of the given nodes, in the order in which the labels arrive.

    Parameters
    ----------
    x, y : KernelCSR
        Instances and label sets.
    n_features : int
        Number of features.
    reach : Reach
        Block v + 1 contains the instances that reach node v of the level.
    visits : int64
        Position of each instance of ``reach`` in the stream.
    arrival : int64 (n_labels,)
        Result of `arrivals`, or ``BEFORE`` for a label of the given tree.
    level : Level
        The nodes of the level.
    nodes : int64
        The nodes that choose.
    settings : GrowthSettings
        Settings that determine how the tree grows.
    choices : Choices
        The choices, which the function writes for the given nodes and their labels.
    """
    row_of = np.full(n_features, NONE, dtype=np.int32)
    # With b > 2, only the root of a tree of the program chooses between its children.
    learns = not settings.random and not (settings.program and settings.arity > 2 and level.depth > 0)
    for v in nodes:
        positions = reach.block_positions[reach.block_starts[v + 1] : reach.block_starts[v + 2]]
        labels = level.labels[level.starts[v] : level.starts[v + 1]]
        width = max(level.given_degrees[v], min(np.int64(settings.arity), labels.size))
        n_classifiers = width
        if not learns:
            n_classifiers = 1
        classifiers = new_classifiers(x, reach.order, positions, row_of, n_classifiers)
        sizes = np.zeros(width, dtype=np.int64)
        rooms = np.full(width, NONE, dtype=np.int64)
        state = np.zeros(1, dtype=CHOOSER)[0]
        state.depth = level.depth
        state.n_children = level.given_degrees[v]
        done = place_given_labels(labels, arrival, state, sizes, choices)
        for position in positions:  # line 1 of Algorithm 3
            if done == labels.size:  # The classifiers are not needed for any further choice.
                break
            features, values = row_of_csr(x, reach.order[position])
            if learns:
                score_children(classifiers, features, values)
            place = visits[position]
            key = stream_key(settings.key, place)
            state.followed = NONE
            state.is_deep = 0
            state.is_first = level.begins_group[v] and arrival[labels[0]] == place
            while done < labels.size and arrival[labels[done]] == place:  # line 1 of Algorithm 4
                if settings.program:
                    child = child_by_program(state, sizes, rooms, classifiers.scores, key, done, settings)
                else:
                    child = child_by_paper(state, sizes, classifiers.scores, key, settings)
                choices.child_of[labels[done]] = child
                done += 1
            if learns:
                positives, _ = row_of_csr(y, reach.order[position])
                classifiers.targets[:] = 0
                for label in positives:
                    if choices.node_of[label] == v:
                        classifiers.targets[choices.child_of[label]] = 1
                update_children(classifiers, features.size, values, settings)
        choices.child_of[labels[: state.n_pushed]] = 0
        if state.n_children == 1 and not settings.program:
            state.n_children = 0  # no label was pushed down below the first child
        choices.n_children[v] = state.n_children
        if learns:
            forget_rows(x, reach.order, positions, row_of)


@njit(cache=True, nogil=True)
def place_given_labels(labels, arrival, state, sizes, choices):
    """Count the labels of the given tree, which come first in ``labels``, and return their number.

    If the given tree has only leaves below the node, the labels are children of the node.
    """
    is_inner = state.n_children > 0
    n_given = 0
    while n_given < labels.size and arrival[labels[n_given]] == BEFORE:
        if not is_inner:
            state.n_children = 1
            choices.child_of[labels[n_given]] = 0
        sizes[choices.child_of[labels[n_given]]] += 1
        n_given += 1
    return n_given


@njit(cache=True, nogil=True)
def child_by_paper(state, sizes, scores, key, settings):
    """Return the child of a node that a new label goes to, by Algorithm 8 of oplt2021.

    A node whose children are all leaves gets up to max_leaf leaves. The next label pushes the leaves down below a first
    inner child, and begins a second child. Each further label extends the only child that is a leaf (line 8), or begins
    a new child, until there are b children. From then on, the policy chooses a child. All later labels of an instance
    follow the instance's first label.

    Parameters
    ----------
    state : CHOOSER
        The state of the node, updated.
    sizes : int64
        Number of labels of each child, updated. While all children are leaves, the first entry counts them.
    scores : float32
        Linear score of each child for the instance.
    key : uint64
        Key of the random numbers for the instance.
    settings : GrowthSettings
        Settings that determine how the tree grows.
    """
    if state.n_children <= 1 and sizes[0] < settings.max_leaf:
        state.n_children = 1
        sizes[0] += 1
        return np.int64(0)
    if state.followed == NONE:
        last = state.n_children - 1
        if state.n_children >= settings.arity:
            state.followed = child_by_policy(state, sizes, scores, key, settings)
        elif last > 0 and sizes[last] == 1:
            state.followed = last
        else:
            state.followed = state.n_children
            state.n_children += 1
    sizes[state.followed] += 1
    return np.int64(state.followed)


@njit(cache=True, nogil=True)
def child_by_program(state, sizes, rooms, scores, key, n_labels, settings):
    """Return the child of a node that a new label goes to, by `xmlc.models.oplt.growth.add_label_by_program`.

    A group keeps its labels as leaves until it is full. Then `push_down_group` gives it two inner children. With b > 2,
    the node remains a group, and gets more leaves. A node that is no group chooses a child by the policy, as the root
    does once b instances have begun groups. If the chosen child is a full group, the label goes to its first sibling
    with space, if there is one.

    The parameters are as in `child_by_paper`, and

    rooms : int64
        Number of children of each child that is a group, or NONE, updated.
    n_labels : int
        Number of labels that the node has.
    """
    is_group = state.depth > 0 and (state.n_children == 0 or settings.arity > 2)
    if is_group and state.followed != NONE:
        return np.int64(state.followed)
    if is_group and (state.degree < settings.max_leaf or (state.is_first and state.n_children == 0)):
        state.degree += 1
        if state.n_children == 0:
            return np.int64(0)
        return np.int64(state.degree - 1)
    if is_group:
        push_down_group(state, sizes, rooms, n_labels)
        return np.int64(1)
    if state.followed == NONE and state.n_children < settings.arity:  # only at the root: the instance begins a group
        state.followed = state.n_children
        state.is_first = 1
        state.n_children += 1
        rooms[state.followed] = 0
    elif state.followed == NONE:
        state.followed = child_by_policy(state, sizes, scores, key, settings)
    child = np.int64(state.followed)
    if rooms[child] != NONE and not state.is_deep:
        if rooms[child] >= settings.max_leaf and not state.is_first:
            child = group_with_room(state, rooms, child, settings)
        if rooms[child] < settings.max_leaf or state.is_first:
            rooms[child] += 1
        else:  # the child is full, and so are its siblings
            state.is_deep = 1
            rooms[child] = NONE
            if settings.arity > 2:
                rooms[child] = 2
    sizes[child] += 1
    return child


@njit(cache=True, nogil=True)
def push_down_group(state, sizes, rooms, n_labels):
    """Move all labels of a full group below its first child. The second child gets a new label."""
    sizes[0] = n_labels
    rooms[0] = state.degree
    sizes[1] = 1
    rooms[1] = 1
    state.n_pushed = n_labels
    state.n_children = 2
    state.degree = 2
    state.followed = 1


@njit(cache=True, nogil=True)
def group_with_room(state, rooms, child, settings):
    """Return the first child that is a group with space for one more leaf, or ``child`` if there is none."""
    for other in range(state.n_children):
        if rooms[other] != NONE and rooms[other] < settings.max_leaf:
            return np.int64(other)
    return child


@njit(cache=True, nogil=True)
def child_by_policy(state, sizes, scores, key, settings):
    """Return a random child, or the first child with the largest score (lines 3 to 6 of Algorithm 8 of oplt2021)."""
    if settings.random:
        return random_below(key, state.depth, state.n_children)
    n_leaves = np.int64(0)
    for child in range(state.n_children):
        n_leaves += sizes[child]
    best = np.int64(0)
    best_score = -np.inf
    for child in range(state.n_children):
        score = fit_and_balance(scores[child], sizes[child], n_leaves, state.n_children, settings)
        if score > best_score:
            best = np.int64(child)
            best_score = score
    return best


@njit(cache=True, nogil=True)
def new_classifiers(x, order, positions, row_of, width):
    """Return the classifiers of ``width`` children before learning. All entries of ``row_of`` must be NONE."""
    nonzeros = np.int64(0)
    longest = np.int64(0)
    for position in positions:
        row = order[position]
        length = x.indptr[row + 1] - x.indptr[row]
        nonzeros += length
        longest = max(longest, length)
    padded = padded_size(width)
    # The operating system provides memory only for the rows that are written.
    rows = np.empty((1 + min(nonzeros, row_of.size)) * 2 * padded, dtype=np.float32)
    rows[: 2 * padded] = 0
    n_rows = np.ones(1, dtype=np.int64)
    ids = np.empty(longest, dtype=np.uint32)
    scores = np.zeros(padded, dtype=np.float32)
    targets = np.zeros(padded, dtype=np.uint8)
    return Classifiers(row_of, rows, n_rows, ids, scores, targets)


@njit(cache=True, nogil=True)
def score_children(classifiers, features, values):
    """Write the linear scores of the children for an instance to ``scores``, and the rows of its features to ``ids``.

    A feature that the node has not seen gets a row of zeros.
    """
    row_of, rows, n_rows, ids, scores, _ = classifiers
    stride = 2 * scores.size
    for k in range(features.size):
        feature = features[k]
        if row_of[feature] == NONE:
            row_of[feature] = n_rows[0]
            rows[n_rows[0] * stride : (n_rows[0] + 1) * stride] = 0
            n_rows[0] += 1
        ids[k] = row_of[feature]
    own = unchecked_view(ids, 0, features.size)
    dense_scores(own, values, rows, stride, unchecked_view(rows, 0, scores.size), scores)


@njit(cache=True, nogil=True)
def update_children(classifiers, n_own, values, settings):
    """Update the classifiers of the children with the instance that `score_children` scored (Algorithm 7).

    The steps are bit-identical to those of `train_children_adagrad`.
    """
    _, rows, _, ids, scores, targets = classifiers
    constant = np.zeros(1, dtype=np.uint32)
    one = np.ones(1, dtype=np.float32)
    logistic_derivatives(scores, targets)
    adagrad_to_rows(constant, one, scores, settings.rate, settings.eps, rows, 2 * scores.size)
    adagrad_to_rows(unchecked_view(ids, 0, n_own), values, scores, settings.rate, settings.eps, rows, 2 * scores.size)


@njit(cache=True, nogil=True)
def forget_rows(x, order, positions, row_of):
    """Set the entries of ``row_of`` to NONE for all features of some instances."""
    for position in positions:
        features, _ = row_of_csr(x, order[position])
        for feature in features:
            row_of[feature] = NONE
