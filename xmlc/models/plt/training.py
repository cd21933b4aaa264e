"""Training of a PLT (plt2016, Algorithm 3), siblings together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xmlc.core.appendable import Appendable, check_finite
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks, run_tasks
from xmlc.core.progress import Progress
from xmlc.kernels.arrays import copy_into, lowest_bit, row_of_csr, unchecked_view
from xmlc.kernels.csr import KernelCSR
from xmlc.kernels.sibling_rows import NUMBERS_PER_LINE, aligned_buffer, padded_size
from xmlc.models.plt.compact import (
    WEIGHT_THRESHOLD,
    Auto,
    DenseBlocks,
    append_rows,
    rows_are_smaller,
    sibling_type,
    starts_of,
)
from xmlc.models.plt.solvers import Solver, numbers_per_weight, solve
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.models.trees import LabelTree

# roughly, for a group of small blocks that are trained together
NONZEROS_PER_GROUP = 1 << 18
# a block with more than 1 / 32 of the work is split into tasks of some siblings each
SPLIT_SHARE = 32
# enough siblings in each of these tasks to fill a vector register
MIN_SIBLINGS = 8
# larger tasks have multiples of it, because the kernels process 64 siblings at a time
MANY_SIBLINGS = 64
TITLE = "training PLT nodes"
# roughly, for a batch of several blocks (128 MB)
WEIGHTS_PER_WAVE = 1 << 25
BITS_PER_WORD = np.uint64(64)


class Reach(NamedTuple):
    """The instances that reach each node, which are those with z_t = 1 for its parent t.

    Attributes
    ----------
    order : int64 (n,)
        Numbers of the instances, in the order of a pass.
    block_starts : int64 (n_nodes + 2,)
        Start of each block in ``block_positions``.
    block_positions : uint32
        Positions in ``order`` of the instances that reach each block. Block 0, which all instances
        reach, has only the root, and block t + 1 has the children of node t.
    """

    order: np.ndarray
    block_starts: np.ndarray
    block_positions: np.ndarray


def train_nodes(
    x: KernelCSR,
    y: KernelCSR,
    n_features: int,
    tree: LabelTree,
    order: np.ndarray,
    solver: Solver,
    threshold: float | Auto | None,
    n_jobs: int | None,
    appendable: Appendable | None = None,
    title: str = TITLE,
    importance: np.ndarray | None = None,
) -> tuple[NodeWeights | CompactNodeWeights, float | None]:
    """Train all node classifiers of a tree (plt2016, Algorithm 3).

    A block, which has the children of one node, stores weights only for the features of the
    instances that reach it, because all others would stay zero. Blocks are trained in batches, so
    the peak memory is the result, unless ``appendable`` writes it into a folder, plus the weights
    of one batch and, for each thread, the instances and weights of one block.

    Parameters
    ----------
    x, y, n_features, tree
    order : int64 (rows,)
        Numbers of the instances, in the order of each pass.
    solver : Sgd, AdaGrad or DualDescent
    threshold : "auto", float or None
        Weights w with abs(w) <= threshold are dropped, and the others are stored sparse. None keeps
        all. "auto" is ``WEIGHT_THRESHOLD`` if this saves bytes in the only batch, or if there are
        several: the first alone would be misleading, because the top of a binary tree keeps all
        weights, although most are in the wide nodes at the bottom.
    n_jobs : int or None
    appendable : Appendable, optional
    title : str
    importance : float32 (order.size,), optional
        Positive weight of each instance's loss, by default 1.

    Returns
    -------
    nodes : NodeWeights or CompactNodeWeights
    threshold : float or None
        The one used.

    Raises
    ------
    InvalidDataError
        A weight is not finite.
    """
    if appendable is None:
        appendable = Appendable()
    if importance is None:
        importance = np.ones(order.size, dtype=np.float32)
    reach = reach_of(y, order, tree.leaf, tree.parent)  # for all nodes, lines 3 to 5 of Algorithm 3
    nonzeros = count_nonzeros(x.indptr, reach)
    firsts = np.append(0, tree.children)  # first node of each block
    degrees = np.diff(firsts)
    trained = (degrees > 0) & (np.diff(reach.block_starts) > 0)
    pairs = max(int((nonzeros * degrees).sum()), 1)
    largest_task = max(pairs // SPLIT_SHARE, NONZEROS_PER_GROUP)
    waves = cost_blocks(np.minimum(nonzeros, n_features) * degrees, WEIGHTS_PER_WAVE)
    bias = np.zeros(tree.n_nodes, dtype=np.float32)
    counts = list[tuple[np.ndarray, np.ndarray]]()
    with Progress(float(pairs), title, "nnz") as progress:
        for begin, end in waves:  # line 2, for all nodes whose weights fit into memory at once
            blocks = begin + np.flatnonzero(trained[begin:end])
            dense = new_blocks(
                x, reach, begin, blocks, degrees[begin:end], nonzeros, n_features, n_jobs
            )
            groups = groups_of_tasks(blocks, degrees, nonzeros, largest_task)
            common = (firsts, begin, dense, bias, solver, numbers_per_weight(solver), n_features)
            costs = [float((nonzeros[tasks[:, 0]] * tasks[:, 2]).sum()) for tasks in groups]
            calls = [(tasks, x, importance, reach, *common) for tasks in groups]
            run_tasks(train_siblings, calls, n_jobs, costs, progress=progress)  # lines 5 to 8
            if threshold == "auto":
                is_smaller = len(waves) > 1 or rows_are_smaller(
                    dense, degrees[begin:end], WEIGHT_THRESHOLD
                )
                threshold = WEIGHT_THRESHOLD if is_smaller else None
            if threshold is None:
                appendable.append(features=dense.features, weights=dense.weights)
                counts.append((np.diff(dense.feature_starts), np.diff(dense.weight_starts)))
            else:
                counts += append_rows(
                    appendable, dense, degrees[begin:end], threshold, sibling_type(degrees), n_jobs
                )
    check_finite([bias])
    feature_starts, starts = (starts_of(np.concatenate(part)) for part in zip(*counts, strict=True))
    known = {
        "children": tree.children,
        "label": tree.label,
        "bias": bias,
        "feature_starts": feature_starts,
    }
    if threshold is None:
        return NodeWeights(**known, weight_starts=starts, **appendable.finished()), None
    return CompactNodeWeights(**known, entry_starts=starts, **appendable.finished()), float(
        threshold
    )


def new_blocks(
    x: KernelCSR,
    reach: Reach,
    begin: int,
    trained: np.ndarray,
    degrees: np.ndarray,
    nonzeros: np.ndarray,
    n_features: int,
    n_jobs: int | None,
) -> DenseBlocks:
    """Return blocks from ``begin`` on, of these ``degrees``, before the training of some of them.

    A trained block has the features of the instances that reach it, and the others have none.
    """
    parts = cost_blocks(nonzeros[trained], NONZEROS_PER_GROUP)
    lists = [(x, reach, trained[first:last], nonzeros, n_features) for first, last in parts]
    distinct, features = zip(*run_tasks(list_features, lists, n_jobs), strict=True)
    n_own = np.zeros(degrees.size, dtype=np.int64)
    n_own[trained - begin] = np.concatenate(distinct)
    weight_starts = starts_of(n_own * degrees)
    weights = np.empty(weight_starts[-1], dtype=np.float32)
    return DenseBlocks(starts_of(n_own), np.concatenate(features), weight_starts, weights)


def groups_of_tasks(
    blocks: np.ndarray, degrees: np.ndarray, nonzeros: np.ndarray, largest: int
) -> list[np.ndarray]:
    """Divide the training of blocks into groups of tasks of about equal cost, most expensive first.

    A block with more work than ``largest`` is split by siblings. The time of a task is estimated
    from the vector registers that its siblings fill, a partly filled one counting like a full one.

    Returns
    -------
    list of ndarray of int64, shape (tasks, 3)
        The block, the first sibling, counted within the block, and the number of siblings.
    """
    parts = []
    for block in blocks.tolist():
        degree = int(degrees[block])
        width = degree
        if nonzeros[block] * degree > largest:
            width = max(MIN_SIBLINGS, largest // int(nonzeros[block]))
        if MIN_SIBLINGS < width < degree:
            width = -(-width // MANY_SIBLINGS) * MANY_SIBLINGS
        for base in range(0, degree, width):
            parts.append((block, base, min(width, degree - base)))
    tasks = np.array(parts, dtype=np.int64).reshape(-1, 3)
    time = nonzeros[tasks[:, 0]] * -(-tasks[:, 2] // NUMBERS_PER_LINE)
    costly_first = np.argsort(-time, kind="stable")
    groups = cost_blocks(NUMBERS_PER_LINE * time[costly_first], NONZEROS_PER_GROUP)
    return [tasks[costly_first[start:end]] for start, end in groups]


@njit
def train_siblings(
    tasks, x, importance, reach, firsts, begin, dense, bias, solver, per_weight, n_features
):
    """Train the classifiers of some siblings t together (plt2016, Algorithm 3, lines 2 to 8).

    The instances that reach the block are copied with renumbered features, so that the solver reads
    contiguous memory, and the cache has only data of one task.

    Parameters
    ----------
    tasks : int64 (tasks, 3)
        See `groups_of_tasks`.
    x, importance, solver, n_features
        As for `train_nodes`.
    reach : Reach
    firsts : int64 (n_nodes + 2,)
        First node of each block.
    begin : int
        First block of ``dense``.
    dense : DenseBlocks
        Written for the nodes of the tasks.
    bias : float32 (n_nodes,)
        Likewise.
    per_weight : int
        From `numbers_per_weight`.
    """
    weights = dense.weights
    local = np.empty(n_features, dtype=np.uint32)
    places = np.empty(reach.order.size, dtype=np.uint32)
    for i in range(tasks.shape[0]):
        block = tasks[i, 0]
        base = tasks[i, 1]
        width = tasks[i, 2]
        features = dense.features[
            dense.feature_starts[block - begin] : dense.feature_starts[block - begin + 1]
        ]
        first = firsts[block] + base
        padded = padded_size(width)
        # lines 5 to 7: the training set D', the instances with z = 1 for the parent
        positions = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]]
        rows = gather_rows(x, reach.order[positions], features, local)
        targets = np.zeros((positions.size, padded), dtype=np.uint8)
        sibling_targets(reach, positions, first, targets[:, :width], places)
        # line 8: the classifiers A(D') of all siblings
        length = per_weight * padded
        state = aligned_buffer((1 + features.size) * length)
        state[:] = 0
        solve(solver, rows, importance[positions], targets, state, width, block)
        copy_into(bias[first:], state[:width])
        degree = firsts[block + 1] - firsts[block]
        start = dense.weight_starts[block - begin] + base
        for f in range(features.size):
            row = unchecked_view(weights, start + f * degree, start + f * degree + width)
            copy_into(row, unchecked_view(state, (f + 1) * length, (f + 1) * length + width))


@njit
def reach_of(y, order, leaf, parent):
    """Return the instances that reach each node of a tree (plt2016, Section 5.2)."""
    stamp = np.full(parent.size, -1, dtype=np.int64)
    positives = np.empty(parent.size, dtype=np.int32)
    starts = np.zeros(parent.size + 2, dtype=np.int64)
    starts[1] = order.size
    for position in range(order.size):
        labels, _ = row_of_csr(y, order[position])
        for k in range(positive_nodes(labels, leaf, parent, position, stamp, positives)):
            starts[positives[k] + 2] += 1
    for block in range(1, starts.size):
        starts[block] += starts[block - 1]
    places = starts[1:].copy()
    positions = np.empty(starts[-1], dtype=np.uint32)
    stamp[:] = -1
    for position in range(order.size):
        positions[position] = position
        labels, _ = row_of_csr(y, order[position])
        for k in range(positive_nodes(labels, leaf, parent, position, stamp, positives)):
            positions[places[positives[k]]] = position
            places[positives[k]] += 1
    return Reach(order, starts, positions)


@njit
def positive_nodes(labels, leaf, parent, mark, stamp, positives):
    """Write the nodes with z_t = 1 for one instance to the start of ``positives``, and return their
    number.

    For these nodes, ``stamp``, int64 (n_nodes,), is set to ``mark``, which no earlier instance had.
    """
    count = 0
    for label in labels:
        node = leaf[label]
        while node >= 0 and stamp[node] != mark:
            stamp[node] = mark
            positives[count] = node
            count += 1
            node = parent[node]
    return count


@njit
def count_nonzeros(indptr, reach):
    """Return the non-zeros of the instances that reach each block, int64 (n_nodes + 1,)."""
    order, starts, positions = reach
    nonzeros = np.zeros(starts.size - 1, dtype=np.int64)
    for block in range(nonzeros.size):
        for position in unchecked_view(positions, starts[block], starts[block + 1]):
            nonzeros[block] += indptr[order[position] + 1] - indptr[order[position]]
    return nonzeros


@njit
def list_features(x, reach, blocks, nonzeros, n_features):
    """List the distinct features of the instances that reach some blocks.

    The result is the number of features of each block, int64, and the features of one block after
    another, uint32, ascending within a block.
    """
    order, starts, positions = reach
    distinct = np.empty(blocks.size, dtype=np.int64)
    # one bit per feature, so that the array fits into the first-level cache
    marks = np.zeros(n_features // 64 + 1, dtype=np.uint64)
    total = np.int64(0)
    for block in blocks:
        total += min(nonzeros[block], n_features)
    features = np.empty(total, dtype=np.uint32)
    total = np.int64(0)
    for b in range(blocks.size):
        for position in unchecked_view(positions, starts[blocks[b]], starts[blocks[b] + 1]):
            ids, _ = row_of_csr(x, order[position])
            for feature in ids:
                wide = np.uint64(feature)
                marks[wide // BITS_PER_WORD] |= np.uint64(1) << (wide % BITS_PER_WORD)
        begin = total
        for w in range(marks.size):
            word = marks[w]
            marks[w] = 0
            while word != np.uint64(0):
                features[total] = np.uint64(w) * BITS_PER_WORD + lowest_bit(word)
                word &= word - np.uint64(1)
                total += 1
        distinct[b] = total - begin
    return distinct, features[:total].copy()


@njit
def gather_rows(x, rows, features, local):
    """Return contiguous copies of some instances, with renumbered features.

    Each copy begins with the constant feature 0 of value 1, and the feature ``features[f]`` gets
    the number f + 1. ``local``, uint32 (n_features,), is a scratch array.
    """
    for f in range(features.size):
        local[features[f]] = f + 1
    ends = np.zeros(rows.size + 1, dtype=np.int64)
    for i in range(rows.size):
        ends[i + 1] = ends[i] + 1 + x.indptr[rows[i] + 1] - x.indptr[rows[i]]
    ids = np.zeros(ends[-1], dtype=np.uint32)
    values = np.ones(ends[-1], dtype=np.float32)
    for i in range(rows.size):
        row_ids, row_values = row_of_csr(x, rows[i])
        copy_into(unchecked_view(values, ends[i] + 1, ends[i + 1]), row_values)
        numbered = unchecked_view(ids, ends[i] + 1, ends[i + 1])
        for k in range(np.uint64(row_ids.size)):
            numbered[k] = local[row_ids[k]]
    return KernelCSR(ends, ids, values)


@njit
def sibling_targets(reach, parent_positions, first, targets, places):
    """Set ``targets[i, c]`` to 1 if instance i of the parent has z = 1 for the sibling ``first +
    c``.

    The parent's instances are positions in ``reach.order``. ``targets``, uint8, is zero on entry,
    and ``places``, uint32, is a scratch array.
    """
    for i in range(parent_positions.size):
        places[parent_positions[i]] = i
    starts = reach.block_starts[first + 1 :]
    positions = reach.block_positions
    for c in range(targets.shape[1]):
        for position in positions[starts[c] : starts[c + 1]]:
            targets[places[position], c] = 1
