"""OFO's sums while a model learns a stream, for every model that does so: kernel (plt2016, Section 4.3)."""

from __future__ import annotations

import numpy as np

from xmlc.runtime.kernel_cache import njit


@njit(cache=True, nogil=True)
def count_sets(labels, predicted, hits, sizes):
    """Count an instance in the sums (7): a_j += y_j p_j and b_j += y_j + p_j for its labels y and the predicted p.

    Parameters
    ----------
    labels, predicted : integers, each label once
    hits, sizes : float64 (labels,)
        a_j and b_j; updated.
    """
    for label in labels:
        sizes[label] += 1.0
    for label in predicted:
        sizes[label] += 1.0
        for true in labels:
            hits[label] += np.int64(true) == np.int64(label)
