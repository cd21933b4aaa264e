"""Tail classifiers: re-ranking of a forest's candidate labels by their distance to the labels' centroids."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.growing import Growing
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_pieces
from xmlc.kernels import elementwise
from xmlc.kernels.csr import (
    KernelCSR,
    as_csr,
    as_features,
    as_labels,
    kernel_csr,
    unit_rows,
    with_values,
    without_zeros,
)
from xmlc.kernels.estimator import Estimator, not_fitted
from xmlc.kernels.float64 import exp, log1p
from xmlc.kernels.stored import Field
from xmlc.models.trees.representations import item_blocks, label_sums

NONZEROS_PER_PIECE = 1 << 20  # of instances, counted once for each of their labels
ROWS_PER_BLOCK = 256
LOWEST = -3e38  # of a score; a product of 0 and infinity would be NaN
TAIL_FIELDS = (  # of a stored forest, if it has tail classifiers
    Field("tail_indptr", np.int64, ("n_labels + 1",), starts="centroids", optional=True),
    Field("tail_features", np.uint32, ("centroids",), below="n_features", optional=True),
    Field("tail_weights", np.float32, ("centroids",), optional=True),
    Field("tail_squared_lengths", np.float64, ("n_labels",), optional=True),
)


class TailClassifiers(Estimator):
    """One classifier per label that uses only the mean of the label's instances (PfastreXML).

    Trees seldom rank a rare label high: the labels around it outnumber it in every leaf. A label's tail classifier
    measures the distance of an instance x from the centroid mu of the label's training instances::

        B_l(x) = 1 / (1 + exp(gamma / 2 * |x - mu_l|^2)),

    so that B is at most 1/2, reached at the centroid. It is no classifier on its own, but re-ranks the labels that a
    forest gives: Jain, Prabhu and Varma, Extreme Multi-label Loss Functions for Recommendation, Tagging, Ranking and
    Other Missing Label Applications, KDD 2016. ldsm2020 re-ranks its largest datasets in this way (Supplement,
    experimental setup).

    Parameters
    ----------
    gamma : float
        Steepness, at least 0. The published program of PfastreXML leaves the half out and has the default 30: its
        scores are those of ``gamma=60`` here. The program of LdSM has the half.
    unit_norm : bool
        Scale each instance to Euclidean length 1 first, in training and in scoring, as PfastreXML does whatever its
        trees are given. LdSM takes the features as they come.
    n_jobs : int or None
        Threads; the result is the same bits on any number. None: as many as numba is given; -1: all cores.

    Attributes
    ----------
    centroids_ : KernelCSR
        One row per label (m x d), float32. A label without instances has an empty row: its centroid is the origin.
    squared_lengths_ : ndarray of float64, shape (m,)
        Squared Euclidean lengths of the centroids.
    n_features_in_, n_labels_ : int

    Notes
    -----
    Centroids take 8 bytes for each pair of a label and a feature of one of its instances, and 16 per label: 1.7 GB at
    the shape of Amazon-670K (490,449 instances with 75 non-zeros and 6 labels, 670,091 labels; synthetic). Fitting
    takes 8 more for each non-zero of the instances, and a block of labels in each thread.
    """

    def __init__(self, gamma: float = 30.0, unit_norm: bool = True, n_jobs: int | None = None):
        if not (np.isfinite(gamma) and gamma >= 0):
            raise XmlcError(f"gamma={gamma}: expected a finite number of at least 0")
        self.gamma, self.unit_norm, self.n_jobs = float(gamma), unit_norm, n_jobs

    def fit(self, X: object, Y: object, into: Path | None = None) -> Self:
        """Compute the centroid of each label.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        Y : sparse or dense boolean array, shape (n, m)
        into : Path or None
            Folder where the arrays are written, block by block, and then mapped; None keeps them in memory.

        Raises
        ------
        XmlcError
            ``X`` and ``Y`` differ in their number of instances, or ``X`` holds a value that is not finite.
        """
        given, X, Y = X, as_features(X), as_labels(Y)
        if X.shape[0] != Y.shape[0]:
            raise XmlcError(f"X has {X.shape[0]} instances but Y has {Y.shape[0]}")
        self._remember_names(given)
        self.n_features_in_, self.n_labels_ = X.shape[1], Y.shape[1]
        x = unit_rows(X) if self.unit_norm else X
        x = with_values(x, x.data.astype(np.float64))
        by_label, nonzeros = sparse.csr_array(Y.T).astype(np.float64), 1 + x.nnz // max(X.shape[0], 1)
        blocks = item_blocks(np.diff(by_label.indptr) * nonzeros, NONZEROS_PER_PIECE)
        centroids, n_pairs = Growing(into), 0
        centroids.append(tail_indptr=np.zeros(1, dtype=np.int64))

        def append(block: dict[str, np.ndarray]) -> None:
            nonlocal n_pairs
            centroids.append(**block | {"tail_indptr": block["tail_indptr"] + n_pairs})
            n_pairs += block["tail_features"].size

        pieces = [(by_label, x, *block) for block in blocks]
        run_pieces(_centroids, pieces, self.n_jobs, title="averaging", then=append)
        self._set_arrays(centroids.finished())
        return self

    def log_scores(self, X: object, candidates: sparse.csr_array) -> sparse.csr_array:
        """Return log B of each instance's candidate labels.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        candidates : csr_array, shape (n, m)
            Stored entries are the candidates, whatever their value.

        Returns
        -------
        csr_array of float32, shape (n, m)
            Stored entries as in ``candidates``; each is at most -log 2, because B is at most 1/2.

        Raises
        ------
        XmlcError
            A shape does not fit what was seen in ``fit``.
        """
        if not hasattr(self, "centroids_"):
            raise not_fitted(self)
        self._check_names(X)
        X = as_features(X)
        if X.shape[1] != self.n_features_in_:
            raise XmlcError(f"X has {X.shape[1]} features, the centroids have {self.n_features_in_}")
        expected = (X.shape[0], self.n_labels_)
        if candidates.shape != expected:
            raise XmlcError(f"candidates have shape {candidates.shape}, expected {expected}")
        candidates = as_csr(candidates, np.float32, "candidates")
        scores = np.empty(candidates.nnz, dtype=np.float32)
        blocks = row_blocks(X.shape[0], ROWS_PER_BLOCK)
        costs = [int(candidates.indptr[last] - candidates.indptr[first]) for first, last in blocks]
        x, labels = kernel_csr(unit_rows(X) if self.unit_norm else X), kernel_csr(candidates)
        arguments = (x, labels, self.centroids_, self.squared_lengths_, self.gamma, self.n_features_in_, scores)
        pieces = [(*block, *arguments) for block in blocks]
        run_pieces(log_scores_of_rows, pieces, self.n_jobs, costs, title="measuring distances")
        return with_values(candidates, scores)

    def rerank(self, X: object, estimates: sparse.csr_array, alpha: float) -> sparse.csr_array:
        """Blend a forest's estimates P with the tail classifiers: ``P**alpha * B**(1 - alpha)``.

        This ranks like the paper's ``alpha * log P + (1 - alpha) * log B`` and is positive, so that a score that is not
        stored still means a label that is no candidate. The published program returns the same product, of the 1000
        best labels of each instance only; keep those of ``estimates`` beforehand to do as it does.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        estimates : csr_array, shape (n, m)
            The forest's scores; the positive ones are the candidates, zeros are left out.
        alpha : float
            Weight of the forest, from 0 to 1; 0.8 is the program's default.

        Returns
        -------
        csr_array of float32, shape (n, m)
            Positive scores, higher is better. A score too small for a normal float32 is raised to the smallest one.

        Raises
        ------
        XmlcError
            ``alpha`` or an estimate is out of its range, or a shape does not fit.
        """
        if not 0 <= alpha <= 1:
            raise XmlcError(f"alpha={alpha}: expected a weight from 0 to 1")
        estimates = without_zeros(as_csr(estimates, np.float32, "estimates"))
        # A NaN makes the comparison fail too.
        if estimates.nnz and not (estimates.data.min() > 0 and np.isfinite(estimates.data.max())):
            raise XmlcError("estimates hold a value that is negative or not finite; expected a forest's scores")
        scores = self.log_scores(X, estimates)
        for first, last in row_blocks(scores.shape[0], ROWS_PER_BLOCK):
            part = slice(scores.indptr[first], scores.indptr[last])
            forest = elementwise.log(estimates.data[part])
            blend = elementwise.exp(alpha * forest + (1 - alpha) * scores.data[part].astype(np.float64))
            scores.data[part] = np.maximum(blend, np.finfo(np.float32).tiny)
        return scores

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the learned arrays by name, for the state of the estimator that owns the classifiers."""
        indptr, features, weights = self.centroids_
        return {
            "tail_indptr": indptr,
            "tail_features": features,
            "tail_weights": weights,
            "tail_squared_lengths": self.squared_lengths_,
        }

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], n_features: int, n_labels: int, **hyperparameters: Any
    ) -> Self:
        """Make fitted classifiers of the result of `arrays`; other names in ``arrays`` are left alone.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            Memory-mapped ones are used in place.
        n_features, n_labels : int
            Numbers of features d and labels m.
        **hyperparameters
            As in the constructor.
        """
        result = cls(**hyperparameters)
        result.n_features_in_, result.n_labels_ = int(n_features), int(n_labels)
        result._set_arrays(arrays)
        return result

    def _set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.centroids_ = KernelCSR(*(arrays[f"tail_{name}"] for name in ("indptr", "features", "weights")))
        self.squared_lengths_ = arrays["tail_squared_lengths"]


def _centroids(by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int) -> dict[str, np.ndarray]:
    """Compute the centroids of the labels ``start .. end - 1``: the mean of their instances, rounded once.

    Returns
    -------
    dict
        Of ndarrays, as in `TAIL_FIELDS` but for ``tail_indptr``, int64 (end - start,): where each centroid ends among
        these. Features ascend; squares are those of the lengths of the rounded centroids.
    """
    sums = label_sums(by_label, x, start, end)
    rows = np.repeat(np.arange(end - start), np.diff(sums.indptr))
    weights = (sums.data / np.diff(by_label.indptr)[start:end][rows]).astype(np.float32)
    exact = weights.astype(np.float64)
    squares = np.bincount(rows, weights=exact * exact, minlength=end - start)  # adds a centroid's in their order
    return {
        "tail_indptr": sums.indptr[1:].astype(np.int64),
        "tail_features": sums.indices.astype(np.uint32),
        "tail_weights": weights,
        "tail_squared_lengths": squares.astype(np.float64),  # of nothing at all they are whole numbers
    }


@njit(cache=True, nogil=True)
def gathered_product(dense_instance, features, weights):
    """Inner product of a dense instance (float32, (d,)) and a centroid, all of which is read."""
    product = 0.0
    for k in range(features.size):
        product += np.float64(dense_instance[features[k]]) * np.float64(weights[k])
    return product


@njit(cache=True, nogil=True)
def log_scores_of_rows(first, last, x, candidates, centroids, squares, gamma, n_features, scores):
    """Write log B of every candidate label of the instances ``first .. last - 1``.

    log B = -log(1 + exp(z)) with z = gamma / 2 * ||x - mu||^2 >= 0, written so that no exponential overflows.
    Scratch: 4 bytes per feature. Moves 12 bytes per candidate and non-zero of its centroid.

    Parameters
    ----------
    first, last : int
    x, candidates : KernelCSR
        Instances, and their candidate labels.
    centroids : KernelCSR, squares : float64 (m,)
        Centroids and their squared lengths.
    gamma : float
    n_features : int
    scores : float32
        One per candidate, written for the instances of this block.
    """
    dense = np.zeros(n_features, dtype=np.float32)
    for i in range(first, last):
        ids = x.indices[x.indptr[i] : x.indptr[i + 1]]
        values = x.data[x.indptr[i] : x.indptr[i + 1]]
        square = 0.0
        for j in range(ids.size):
            dense[ids[j]] = values[j]
            square += np.float64(values[j]) * np.float64(values[j])
        for c in range(candidates.indptr[i], candidates.indptr[i + 1]):
            label = candidates.indices[c]
            start, stop = centroids.indptr[label], centroids.indptr[label + 1]
            product = gathered_product(dense, centroids.indices[start:stop], centroids.data[start:stop])
            # Rounding can push the square of a distance of 0 just below 0.
            z = 0.5 * gamma * max(0.0, square + squares[label] - 2.0 * product)
            scores[c] = max(-(z + log1p(exp(-z))), LOWEST)
        for feature in ids:
            dense[feature] = 0.0
