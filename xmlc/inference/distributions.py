"""What inference starts from: samples of label sets, the matrix P of gfm2011's Theorem 3.1, or marginals.

`Samples` is the compact form of a joint distribution, `LabelsBySize` the paper's in full. Marginals alone, an SPE or
a dense array, stand for independent labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.estimates import Samples, as_estimates, check_probabilities, checked_samples


class LabelsBySize(NamedTuple):
    """The matrix P of Theorem 3.1 for n instances, with columns only for sizes that have mass in some of them.

    Attributes
    ----------
    P : ndarray of float64, shape (n, m, S)
        p(Y_i = 1, s_y = sizes[s]), where s_y is the number of positive labels.
    p_empty : ndarray of float64, shape (n,)
        p(Y = 0).
    sizes : ndarray of int64, shape (S,)
        Distinct values of s_y, ascending, in 1 .. m.
    """

    P: np.ndarray
    p_empty: np.ndarray
    sizes: np.ndarray


def checked_labels_by_size(P: object, p_empty: object, sizes: object = None) -> LabelsBySize:
    """Bring P, p(Y = 0) and the sizes into canonical form.

    Parameters
    ----------
    P : array-like, shape (n, m, S), or (m, S) for a single instance
    p_empty : float or array-like, shape (n,)
    sizes : array-like of int, shape (S,), optional
        1 .. S by default.

    Raises
    ------
    XmlcError
        The shapes contradict each other, sizes do not ascend within 1 .. m, an entry is no probability, or the mass
        of an instance, p(Y = 0) + sum_is p_is / s, exceeds 1.
    """
    P = np.ascontiguousarray(P, dtype=np.float64)
    P = P[None] if P.ndim == 2 else P
    p_empty = np.atleast_1d(np.asarray(p_empty, dtype=np.float64))
    if P.ndim != 3 or p_empty.shape != P.shape[:1]:
        raise XmlcError(
            f"P has shape {P.shape} and p_empty {p_empty.shape}; expected (n, m, S) and (n,): labels x sizes, and "
            "p(Y = 0), of every instance"
        )
    sizes = np.arange(1, P.shape[2] + 1) if sizes is None else np.asarray(sizes)
    if sizes.shape != P.shape[2:] or not np.issubdtype(sizes.dtype, np.integer):
        raise XmlcError(f"sizes: shape {sizes.shape} of {sizes.dtype}, expected {P.shape[2:]} whole numbers as P has")
    if sizes.size and not (sizes[0] >= 1 and sizes[-1] <= P.shape[1] and (np.diff(sizes) > 0).all()):
        raise XmlcError(f"sizes {sizes.tolist()} must ascend within 1 .. {P.shape[1]}, the number of labels")
    for name, values in (("P", P), ("p_empty", p_empty)):
        check_probabilities(values, name)
    total = p_empty + (P / sizes).sum(axis=(1, 2))
    if (total > 1 + 1e-6).any():
        i = int(total.argmax())
        raise XmlcError(
            f"instance {i}: p_empty + sum of P / s is {total[i]:.6g}, more than 1; P must hold p(Y_i = 1, s_y = s), "
            "not a conditional probability, and s must be the size that the column stands for"
        )
    return LabelsBySize(P, p_empty, sizes.astype(np.int64))


def as_marginals(marginals: Any) -> sparse.csr_array:
    """Return marginals p(Y_i = 1) as canonical CSR without explicit zeros, float32 or else float64, shape (n, m).

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or array-like, shape (n, m)

    Raises
    ------
    XmlcError
        An entry is no probability (see `xmlc.estimates.as_estimates`), or the shape is not (n, m).
    """
    has_dtype = isinstance(marginals, np.ndarray) or sparse.issparse(marginals)
    dtype = np.float32 if has_dtype and marginals.dtype == np.float32 else np.float64
    return as_estimates(marginals, dtype, "marginals")


def labels_by_size(samples: Samples) -> LabelsBySize:
    """Estimate P and p(Y = 0) of every instance by the relative frequencies in its samples.

    Dense, 8 n m S bytes: for few labels; inference itself reads `Samples` without it.

    Raises
    ------
    XmlcError
        The number of rows is no multiple of the number of samples per instance.
    """
    Y, n_samples = checked_samples(samples)
    n, m = Y.shape[0] // n_samples, Y.shape[1]
    of_row = np.diff(Y.indptr)
    sizes, column = np.unique(of_row[of_row > 0], return_inverse=True)
    P = np.zeros((n, m, sizes.size))
    of_entry = of_row[of_row > 0]
    instance = np.repeat(np.flatnonzero(of_row) // n_samples, of_entry)
    np.add.at(P, (instance, Y.indices, np.repeat(column, of_entry)), 1.0)
    p_empty = (of_row.reshape(n, n_samples) == 0).sum(axis=1) / n_samples
    return LabelsBySize(P / n_samples, p_empty, sizes.astype(np.int64))


def labels_by_size_from_marginals(marginals: object) -> LabelsBySize:
    """Compute P and p(Y = 0) of independent labels: p_is = p_i Pr(s - 1 of the others are positive).

    Dense, 8 n m S bytes: for few labels; inference from marginals does without it.

    Parameters
    ----------
    marginals : sparse matrix or array-like, shape (n, m)

    Raises
    ------
    XmlcError
        An entry is NaN, negative or above 1, or the shape is not (n, m).
    """
    from xmlc.inference._kernels.independent import leave_one_out_sizes

    p = as_marginals(marginals)
    n, m = p.shape
    P, p_empty = np.zeros((n, m, m)), np.ones(n)
    for i in range(n):
        entries = slice(p.indptr[i], p.indptr[i + 1])
        own = p.data[entries].astype(np.float64)
        by_size, sizes = leave_one_out_sizes(own, own)
        P[i][np.ix_(p.indices[entries], sizes.astype(np.int64) - 1)] = by_size.T
        p_empty[i] = np.prod(1.0 - own)
    with_mass = np.flatnonzero(P.any(axis=(0, 1)))
    return LabelsBySize(np.ascontiguousarray(P[:, :, with_mass]), p_empty, with_mass + 1)
