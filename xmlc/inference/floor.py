"""What it costs to infer from an SPE, which holds only the labels whose estimate exceeds the floor kappa."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import as_labels
from xmlc.errors import XmlcError
from xmlc.inference.distributions import as_marginals
from xmlc.metrics.classification import agreement


def floor_bound(
    Y_hat: object, expected_f: np.ndarray, dropped: float | np.ndarray, kappa: float = 1.0, independent: bool = True
) -> np.ndarray:
    """Bound what the expected F-measure loses because labels below the floor were left out of the inference.

    Let y be distributed over all m labels, y' be y without the dropped labels and r their number of positives, with
    delta = E[r], the sum of the dropped marginals, none above kappa. Let h0 (k0 labels) maximise G(h) = E[F(y', h)]:
    it is what `gfm` or `meuf` finds when it knows the retained labels only. Let h* (k* labels) maximise
    E(h) = E[F(y, h)]. Then::

        E(h*) - E(h0) <= min(delta, 2 kappa) + delta / (k0 + 2)            k0 >= 1
                         min(delta, 2 kappa) + min(delta, G(h0))           k0 = 0

    and if r is independent of y'::

        E(h*) - E(h0) <= min(delta, 2 kappa) + G(h0) delta / (k0 + 2)      k0 >= 1
                         min(delta, 2 kappa) + G(h0) min(delta, 1)         k0 = 0

    Proof. Let h' be h* without its dropped labels and b the number of positives among these. E(h*) - E(h0) is the sum
    of [E(h*) - E(h')], [E(h') - G(h')], [G(h') - G(h0)] <= 0 and [G(h0) - E(h0)].

    1. F(y, h*) - F(y, h') <= 2b / (s + k*) <= 2b / (1 + k*), for b >= 1 makes s >= 1, and without b nothing is gained.
       E[b] is at most delta and at most kappa k*; with k* >= 1 the expectation is at most min(delta, 2 kappa).
    2. A dropped positive only lengthens y: F(y', h) - F(y, h) = F(y', h) r / (s' + r + k) >= 0 for h in the retained
       labels, h and y' not both empty. With a hit s' >= 1, so that this is at most F(y', h) r / (k + 2); F <= 1
       leaves delta / (k + 2), and independence the product of the expectations. For h0 empty it is
       Pr(y' = 0, r >= 1).

    Nothing is assumed of the labels' dependence except where ``independent`` says so.

    Parameters
    ----------
    Y_hat : boolean CSR, shape (n, m)
        The maximiser of each instance, from its retained labels.
    expected_f : ndarray of float64, shape (n,)
        G(h0), as returned beside it.
    dropped : float or ndarray, shape (n,)
        delta: at most kappa times the number of dropped labels (`dropped_at_most`). The bound is linear in it but for
        the minimum, so with the numbers of true labels below the floor (`labels_below_floor` on a validation set) its
        mean over the instances estimates the mean bound.
    kappa : float
        The floor: no dropped label's marginal exceeds it. 1 says nothing of it.
    independent : bool
        Whether the dropped labels are independent of the retained ones, as inference from marginals takes them to be.

    Returns
    -------
    ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        ``dropped`` is negative, NaN or of another shape, or kappa is not in 0 .. 1.
    """
    sizes = np.diff(as_labels(Y_hat).indptr)
    values, delta = np.asarray(expected_f, dtype=np.float64), np.asarray(dropped, dtype=np.float64)
    if values.shape != sizes.shape or delta.shape not in ((), sizes.shape) or not (delta >= 0).all():
        raise XmlcError(
            f"expected_f has shape {values.shape} and dropped {delta.shape}, smallest {delta.min(initial=np.inf)}; "
            f"expected {sizes.shape} for both, or one number for dropped, and none below 0"
        )
    if not 0 <= kappa <= 1:
        raise XmlcError(f"kappa={kappa}: expected the floor of the estimates, in 0 .. 1")
    longer = delta / (sizes + 2.0) * (values if independent else 1.0)
    never = np.minimum(delta, 1.0) * values if independent else np.minimum(delta, values)
    return np.minimum(delta, 2.0 * kappa) + np.where(sizes > 0, longer, never)


def dropped_at_most(spe: object, kappa: float) -> np.ndarray:
    """Return kappa times the number of labels that each instance's estimates leave out, float64 of shape (n,)."""
    p = as_marginals(spe)
    return kappa * (p.shape[1] - np.diff(p.indptr)).astype(np.float64)


def labels_below_floor(spe: object, Y: object) -> np.ndarray:
    """Count the true labels of each instance that have no estimate above the floor.

    Parameters
    ----------
    spe : sparse matrix, shape (n, m)
    Y : boolean CSR, shape (n, m)

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    XmlcError
        The shapes differ.
    """
    found = agreement(Y, as_marginals(spe).astype(bool))
    return found.row_positives - found.row_hits


def floor_loss(
    marginals: sparse.csr_array, floor: float, Y: sparse.csr_array, Y_hat: sparse.csr_array, expected_f: np.ndarray
) -> float:
    """Bound what the floor costs of the mean expected F, by the number of true labels that it left out.

    This number estimates the sum of their marginals, in which `floor_bound` is linear but for its first term,
    min(delta, 2 kappa). That is concave, so that its mean is at most its value at the mean.

    Parameters
    ----------
    marginals : csr_array, shape (n, m)
        The estimates above ``floor``.
    floor : float
    Y : boolean csr_array, shape (n, m)
        The truth.
    Y_hat : boolean csr_array, shape (n, m)
        What an exact maximiser infers from the estimates.
    expected_f : ndarray of float64, shape (n,)
        As returned beside it.
    """
    missed = labels_below_floor(marginals, Y)
    linear = floor_bound(Y_hat, expected_f, missed, kappa=0.0)
    return float(min(missed.mean(), 2 * floor) + linear.mean())
