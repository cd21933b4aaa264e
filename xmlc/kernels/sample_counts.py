"""The kernel of `xmlc.estimates`."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def count_labels(indptr, labels, m, n_samples):
    """Count how often each label occurs among each instance's samples, in one pass: 8 bytes read per entry.

    Parameters
    ----------
    indptr : int64 (n * n_samples + 1,), labels : uint32
        The samples, the first at entry 0.
    m, n_samples : int

    Returns
    -------
    starts : int64 (n + 1,), ids : uint32, counts : float64
        Instance by instance, labels in the order in which they first occurred.
    """
    starts = np.zeros((indptr.size - 1) // n_samples + 1, dtype=np.int64)
    ids, counts, place = np.empty(labels.size, dtype=np.uint32), np.empty(labels.size), np.full(m, -1)
    end = 0
    for i in range(starts.size - 1):
        for e in range(indptr[i * n_samples], indptr[(i + 1) * n_samples]):
            if place[labels[e]] < starts[i]:  # not yet seen in this instance
                place[labels[e]] = end
                ids[end], counts[end] = labels[e], 0.0
                end += 1
            counts[place[labels[e]]] += 1.0
        starts[i + 1] = end
    return starts, ids[:end], counts[:end]
