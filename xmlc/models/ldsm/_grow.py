"""Grow one tree (ldsm2020, Algorithms 1 and 4): the order of nodes here, the work on a node in a kernel."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.kernels.arrays import borrowed
from xmlc.kernels.counter_random import shuffle_stream, stream_key
from xmlc.kernels.sibling_rows import aligned_buffer
from xmlc.kernels.streams import Stream
from xmlc.models.ldsm._forest import Forest
from xmlc.models.ldsm._node import gather_labels, gather_scaled, gather_standardised, new_node_data
from xmlc.models.ldsm._pairs import SLOT
from xmlc.models.ldsm._regressors import Settings, start_slots, train_regressors
from xmlc.models.ldsm._route import divides, route, sent_to
from xmlc.runtime.kernel_cache import njit


def grow_tree(
    x: KernelCSR, y: KernelCSR, d: int, m: int, seed: int, tree: int, enough: int, shuffled: bool, settings: Settings
) -> Forest:
    """Grow a tree, always splitting the leaf with the highest priority, the newest among equal ones.

    Parameters
    ----------
    x, y : KernelCSR
        Instances, n x d, and label sets, n x m.
    d, m : int
    seed, tree : int
        The random numbers of a node depend on the seed, the number of the tree and that of the node alone.
    enough : int
        The tree is split while it has fewer nodes than this, inner nodes and leaves together.
    shuffled : bool
        Stream the instances in a random order, drawn once for the tree.
    settings : Settings

    Notes
    -----
    Besides `NodeData`, a tree takes 12 d M bytes while it grows, and 4 for each pair of a leaf and an instance of it.
    """
    n, arity = x.indptr.size - 1, settings.arity
    key = int(stream_key(np.uint64(seed ^ Stream.LDSM_TREE), np.int64(tree)))
    root = np.arange(n, dtype=np.uint32)
    if shuffled:
        shuffle_stream(root, np.uint64(key), np.int64(Stream.LDSM_ORDER))
    data = new_node_data(n, d, m, x.indices.size + n if settings.adaptive else n * (d + 1), y.indices.size)
    scratch = [aligned_buffer((arity + 1) // 2 * SLOT * (d + 1))]
    scratch += [np.zeros(arity * d, np.float32), np.zeros(m, np.uint32)]
    members, depths = [root], [0]
    inner: list[int] = []  # nodes that are split, and what was learned in each
    first_children: list[int] = []
    learned: list[tuple[np.ndarray, ...]] = []
    queue = [(-priority_of(y, root, scratch[-1]), 0)]
    while queue and len(members) < enough:
        priority, negative = heapq.heappop(queue)
        node = members[-negative]
        if priority == 0 or node.size < 2:
            continue
        node_key = np.uint64(stream_key(np.uint64(key), np.int64(-negative)))
        sent, priorities, *regressors = split_node(x, y, node, d, data, settings, node_key, *scratch)
        if not priorities.size:
            continue
        inner.append(-negative)
        first_children.append(len(members))
        learned.append(tuple(regressors))
        end = 0
        for size, own_priority in zip(regressors[-1].tolist(), priorities.tolist()):
            heapq.heappush(queue, (-own_priority, -len(members)))
            members.append(sent[end : end + size].copy())
            depths.append(depths[-negative] + 1)
            end += size
        members[-negative] = node[:0]
    return _as_forest(y, members, depths, inner, first_children, learned, settings, scratch[-1])


def _as_forest(
    y: KernelCSR,
    members: Sequence[np.ndarray],
    depths: Sequence[int],
    inner: Sequence[int],
    first_children: Sequence[int],
    learned: Sequence[tuple[np.ndarray, ...]],
    settings: Settings,
    label_counts: np.ndarray,
) -> Forest:
    """Lay out a tree whose nodes are numbered in the order they were made."""
    n_inner, arity = len(inner), settings.arity
    leaves = np.setdiff1d(np.arange(len(members)), inner)
    codes = np.empty(len(members), dtype=np.int32)
    codes[inner], codes[leaves] = np.arange(n_inner), ~np.arange(leaves.size)
    features = [own[0] for own in learned]
    sizes = np.array([members[leaf].size for leaf in leaves], dtype=np.uint32)
    histograms = [count_labels(y, members[leaf], label_counts) for leaf in leaves]
    return Forest(
        inner_starts=np.array([0, n_inner]),
        tree_leaves=np.array([0, leaves.size]),
        children=codes[np.reshape(first_children, (n_inner, 1)).astype(np.int64) + np.arange(arity)],
        levels=np.array([depths[node] + 1 for node in inner], dtype=np.int32),
        objectives=np.array([own[3] for own in learned]).reshape(n_inner, settings.epochs),
        weight_starts=np.cumsum([0] + [own.size for own in features]),
        features=np.concatenate([np.zeros(0, np.uint32), *features]),
        weights=np.concatenate([np.zeros((0, arity), np.float32), *(own[1] for own in learned)]),
        biases=np.array([own[2] for own in learned], dtype=np.float32).reshape(n_inner, arity),
        leaf_starts=np.cumsum([0] + [labels.size for labels, _ in histograms]),
        labels=np.concatenate([labels for labels, _ in histograms]),
        counts=np.concatenate([counts for _, counts in histograms]),
        sizes=sizes,
    )


@njit(cache=True, nogil=True)
def split_node(x, y, node, d, data, settings, key, room, dense, label_counts):
    """Train the regressors of a node and send its instances on.

    Returns
    -------
    sent : uint32
        The instances of each child, child after child.
    priorities : int64 (M,)
        Of the children; empty if the node is not to be split, because a child is empty or has all instances.
    features : uint32 (p,), weights : float32 (p, M), biases : float32 (M,)
        The regressors.
    objectives : float64 (epochs,)
        J after each epoch.
    sizes : int64 (M,)
        Number of instances of each child.
    """
    arity = settings.arity
    objectives, sizes = np.zeros(settings.epochs, dtype=np.float64), np.zeros(arity, dtype=np.int64)
    features, weights, biases = fit_node(x, y, node, d, data, settings, key, room, objectives)
    chosen = np.empty(node.size, dtype=np.uint8)
    route(x, node, features, weights, biases, dense, chosen)
    if not divides(chosen, sizes):
        return node[:0].copy(), sizes[:0], features, weights, biases, objectives, sizes
    sent, priorities, end = np.empty(sizes.sum(), dtype=np.uint32), np.empty(arity, dtype=np.int64), 0
    for j in range(arity):
        child = sent[end : end + sizes[j]]
        sent_to(node, chosen, j, child)
        priorities[j] = priority_of(y, child, label_counts)
        end += sizes[j]
    return sent, priorities, features, weights, biases, objectives, sizes


@njit(cache=True, nogil=True)
def fit_node(x, y, node, d, data, settings, key, room, objectives):
    """Train the regressors of a node; return its features (uint32), weights (p, M) and biases (M,), float32.

    They are for features as they come, whatever the node's scales: w . (x - mean) / scale = (w / scale) . x + bias.
    """
    arity = settings.arity
    n_labels = gather_labels(y, node, data)
    p = gather_scaled(x, node, data) if settings.adaptive else gather_standardised(x, node, data)
    n_pairs = (arity + 1) // 2
    slots = room[: n_pairs * p * SLOT].reshape(n_pairs, p, SLOT)
    start_slots(slots, arity, d + 1 if settings.uniform_start else 0, ~key)
    train_regressors(data, node.size, n_labels, settings, key, slots, objectives)
    smallest = np.float32(1.0 / (d + 1)) if settings.prune else np.float32(0)
    features, weights = np.empty(p - 1, dtype=np.uint32), np.empty((p - 1, arity), dtype=np.float32)
    biases, n_kept = np.empty(arity, dtype=np.float32), 0
    for j in range(arity):
        biases[j] = slots[j // 2, p - 1, j % 2]
    for k in range(p - 1):
        kept = False
        for j in range(arity):
            weight = slots[j // 2, k, j % 2] / data.scales[k]
            if abs(weight) < smallest:
                weight = np.float32(0)
            weights[n_kept, j] = weight
            biases[j] -= weight * data.means[k]
            kept |= weight != 0
        features[n_kept] = data.features[k]
        n_kept += kept
    return features[:n_kept].copy(), weights[:n_kept].copy(), biases


@njit(cache=True, nogil=True)
def priority_of(y, node, label_counts):
    """Return the sum of a node's label histogram minus its maximum; ``label_counts`` is zero before and after."""
    total, largest, indptr, indices = 0, 0, y.indptr, y.indices
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            label_counts[label] += np.uint32(1)
            largest = max(largest, np.int64(label_counts[label]))
            total += 1
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            label_counts[label] = 0
    return total - largest


@njit(cache=True, nogil=True)
def count_labels(y, node, label_counts):
    """Return the labels of a node and how many of its instances carry each, uint32, in the order they appear."""
    n_found, indptr, indices = 0, y.indptr, y.indices
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            n_found += label_counts[label] == 0
            label_counts[label] += np.uint32(1)
    labels, counts = np.empty(n_found, dtype=np.uint32), np.empty(n_found, dtype=np.uint32)
    n_found = 0
    for i in node:
        for label in borrowed(indices, indptr[i], indptr[i + 1]):
            if label_counts[label] > 0:
                labels[n_found], counts[n_found] = label, label_counts[label]
                label_counts[label] = 0
                n_found += 1
    return labels, counts
