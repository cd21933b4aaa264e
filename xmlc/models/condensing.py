"""A smaller training set for nearest neighbours: near-duplicates with the same label set stand for each other.

The open point of swnn2018 (Conclusion): a compression of the training set that keeps what it says about labels. An
instance is left out where another one with exactly its label set is kept whose cosine similarity to it is at least
``similarity``, in the spirit of condensed nearest neighbours (Hart, IEEE Transactions on Information Theory 1968). No
label set is lost, and for unit vectors x, a left out and b that stands for it, x's similarities to both differ by at
most |a - b| = sqrt(2 - 2 cos(a, b)) <= sqrt(2 - 2 similarity).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import as_features, as_labels, unit_rows
from xmlc.errors import XmlcError

BLOCK = 256  # instances of one label set that are compared at a time; changes no result
ROUNDING = 1e-6  # of a cosine in float32: an exact copy has similarity 1


def kept_instances(X: object, Y: object, similarity: float) -> np.ndarray:
    """Choose the instances that stand for all others, one after the other in their order.

    Takes time and, for BLOCK of them at once, memory in proportion to instances times kept instances of a label set.

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
    unit, labels = unit_rows(as_features(X)), as_labels(Y)
    groups: dict[bytes, list[int]] = {}
    for i in range(labels.shape[0]):
        groups.setdefault(labels.indices[labels.indptr[i] : labels.indptr[i + 1]].tobytes(), []).append(i)
    kept = [_kept_of_group(unit, np.array(group), similarity - ROUNDING) for group in groups.values()]
    return np.sort(np.concatenate([*kept, np.empty(0, dtype=np.int64)]))


def _kept_of_group(unit: sparse.csr_array, group: np.ndarray, bound: float) -> np.ndarray:
    """Choose among the instances of one label set."""
    kept = group[:1]
    for start in range(1, group.size, BLOCK):
        block = group[start : start + BLOCK]
        new = block[(unit[block] @ unit[kept].T).max(axis=1).toarray().ravel() < bound]
        among = (unit[new] @ unit[new].T).toarray()
        own: list[int] = []
        for i in range(new.size):
            if not (among[i, own] >= bound).any():
                own.append(i)
        kept = np.concatenate([kept, new[own]])
    return kept
