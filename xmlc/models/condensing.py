"""A smaller training set for nearest neighbours: near-duplicates with the same label set stand for each other.

The open point of swnn2018 (Conclusion): a compression of the training set that keeps what it says about labels. An
instance is left out where another one with exactly its label set is kept whose cosine similarity to it is at least
``similarity``, in the spirit of condensed nearest neighbours (Hart, IEEE Transactions on Information Theory 1968). No
label set is lost, and for unit vectors x, a left out and b that stands for it, x's similarities to both differ by at
most |a - b| = sqrt(2 - 2 cos(a, b)) <= sqrt(2 - 2 similarity).
"""

from __future__ import annotations

import numpy as np

from xmlc.csr import as_features, as_labels, kernel_csr, unit_rows
from xmlc.errors import XmlcError
from xmlc.models._condensing import kept_of_group

ROUNDING = 1e-6  # of a cosine in float32: an exact copy has similarity 1


def kept_instances(X: object, Y: object, similarity: float) -> np.ndarray:
    """Choose the instances that stand for all others, one after the other in their order.

    Takes time in proportion to the pairs of a non-zero of an instance and one of a kept instance of its label set in
    the same feature, and 8 bytes of memory per feature.

    Parameters
    ----------
    X : CSR, shape (n, d)
        Instances; their lengths do not matter.
    Y : boolean CSR, shape (n, m)
    similarity : float
        Above 0 and at most 1; an instance is left out if one that is kept, and has its labels, is at least so similar.

    Returns
    -------
    ndarray of int64
        Numbers of the kept instances, ascending. An instance without features is like no other and is kept.

    Raises
    ------
    XmlcError
        The similarity is out of its range.
    """
    if not 0 < similarity <= 1:
        raise XmlcError(f"similarity {similarity:g}: expected a cosine above 0 and at most 1")
    unit, labels = kernel_csr(unit_rows(as_features(X))), as_labels(Y)
    groups: dict[bytes, list[int]] = {}
    for i in range(labels.shape[0]):
        groups.setdefault(labels.indices[labels.indptr[i] : labels.indptr[i + 1]].tobytes(), []).append(i)
    fronts = np.full(int(unit.indices.max(initial=0)) + 1, -1, dtype=np.int64)
    kept = [kept_of_group(unit, np.array(group), similarity - ROUNDING, fronts) for group in groups.values()]
    return np.sort(np.concatenate([*kept, np.empty(0, dtype=np.int64)]))
