"""Which instances reach which node of a label tree: kernels."""

from __future__ import annotations

import numpy as np

from xmlc.kernels.arrays import borrowed
from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def positive_nodes(labels, leaf, parent, mark, stamp, positives):
    """List the nodes with z_t = 1 for one instance: those on the paths from its labels to the root.

    Parameters
    ----------
    labels : uint32
        Labels of the instance.
    leaf : int32 (m,), parent : int32 (n_nodes,)
        The tree.
    mark : int
        A number that no instance before had.
    stamp : int64 (n_nodes,)
        ``mark`` is entered for each node listed.
    positives : int32 (n_nodes,)
        Overwritten from the beginning.

    Returns
    -------
    int
        How many there are.
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


@njit(cache=True, nogil=True)
def count_node_rows(y_indptr, y_indices, order, leaf, parent, start, end, counts):
    """Count some instances with z_t = 1 for each node t (plt2016, Section 5.2).

    Parameters
    ----------
    y_indptr : int64 (n + 1,), y_indices : uint32
        Label sets in CSR form.
    order : int64 (n,)
        Rows in the order of the pass.
    leaf : int32 (m,), parent : int32 (n_nodes,)
        The tree.
    start, end : int
        The positions in ``order`` of these instances.
    counts : int64 (n_nodes,)
        How many there are is added here.
    """
    stamp = np.full(parent.size, -1, dtype=np.int64)
    positives = np.empty(parent.size, dtype=np.int32)
    for position in range(start, end):
        labels = borrowed(y_indices, y_indptr[order[position]], y_indptr[order[position] + 1])
        count = positive_nodes(labels, leaf, parent, position, stamp, positives)
        for k in range(count):
            counts[positives[k]] += 1


@njit(cache=True, nogil=True)
def fill_node_rows(y_indptr, y_indices, order, leaf, parent, start, end, places, positions):
    """List, for each node t, the positions in ``order`` of some instances with z_t = 1, ascending.

    Parameters as for `count_node_rows`, and

    places : int64 (n_nodes,)
        Where those of each node begin in ``positions``; overwritten.
    positions : uint32
        Written here, the parts of these instances.
    """
    stamp = np.full(parent.size, -1, dtype=np.int64)
    positives = np.empty(parent.size, dtype=np.int32)
    for position in range(start, end):
        labels = borrowed(y_indices, y_indptr[order[position]], y_indptr[order[position] + 1])
        count = positive_nodes(labels, leaf, parent, position, stamp, positives)
        for k in range(count):
            positions[places[positives[k]]] = position
            places[positives[k]] += 1
