"""A tree without its small weights: what is kept, and what that costs in P@k."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scipy import sparse

from xmlc.metrics.ranking import K, precision_at_k
from xmlc.models.plt import PLT


@dataclass(frozen=True)
class Compacted:
    """A tree without the weights up to a cut.

    Attributes
    ----------
    cut : float or None
        None: all are kept.
    weights, size : int
        Weights that are kept, and bytes of all arrays.
    precisions : list of float
        P@k for each k of `xmlc.metrics.ranking.K`, as shares.
    """

    cut: float | None
    weights: int
    size: int
    precisions: list[float]


def compacted(model: PLT, X: sparse.csr_array, Y: sparse.csr_array, cuts: Iterable[float]) -> Iterator[Compacted]:
    """Rank labels with all weights first, then with those that each cut keeps.

    Parameters
    ----------
    model : PLT
        With weights of its own for each node.
    X : csr_array, shape (n, d)
    Y : boolean csr_array, shape (n, m)
    cuts : iterable of float
        A weight w with ``|w| <= cut`` is dropped.

    Raises
    ------
    XmlcError
        A cut is negative, or the weights are hashed.
    """
    for cut in (None, *cuts):
        smaller = model if cut is None else model.drop_weights(cut)
        labels, _ = smaller.predict_top_k(X, max(K))
        nodes = smaller.nodes_
        size = sum(array.nbytes for array in nodes.state()[0].values())
        yield Compacted(cut, nodes.n_weights, size, [precision_at_k(Y, labels, k) for k in K])
