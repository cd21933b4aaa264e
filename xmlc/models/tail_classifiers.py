"""Tail classifiers: a forest's candidate labels, re-ranked by the distance to their centroids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.kernels.arrays import row_of_csr
from xmlc.kernels.csr import KernelCSR, kernel_csr, with_values
from xmlc.kernels.float64 import exp, log1p
from xmlc.kernels.stored import FINITE, Field
from xmlc.kernels.unit_length import unit_rows
from xmlc.models.trees.representations import label_blocks, label_sums

ROWS_PER_BLOCK = 256
# finite, because the product of 0 and an infinite score would be NaN
LOWEST = -3e38


class TailClassifiers(NamedTuple):
    """Scores of labels by an instance's distance to the mean of the label's instances (PfastreXML).

    Trees seldom rank a rare label high, because other labels outnumber it in every leaf. Its tail
    classifier measures the distance of an instance x from the centroid mu of its training
    instances::

        B_l(x) = 1 / (1 + exp(gamma / 2 * |x - mu_l|^2)),

    which is at most 1/2, at the centroid, and only re-ranks the labels that a forest returns (Jain,
    Prabhu and Varma, Extreme Multi-label Loss Functions for Recommendation, Tagging, Ranking and
    Other Missing Label Applications, KDD 2016). The authors of ldsm2020 use it on their largest
    datasets (Supplement, experimental setup).

    The program of PfastreXML omits the factor 1/2, so its default gamma, 30, is ``gamma=60`` here.
    It also scales each instance to Euclidean length 1 for distances, even if its trees do not. The
    program of LdSM includes the factor, and scales nothing.

    Attributes
    ----------
    tail_indptr : int64 (m + 1,), tail_features : uint32, tail_weights : float32
        The centroids of all labels as a CSR matrix (m, d). A label without instances has an empty
        row, so its centroid is the origin.
    tail_squared_lengths : float64 (m,)
        Squared Euclidean lengths of the centroids.

    Notes
    -----
    The centroids take 16 bytes per label and 8 bytes per non-zero, which is 1.7 GB for synthetic
    data in the shape of Amazon-670K. Training needs 8 more bytes for each non-zero of the
    instances, and a block of labels per thread.

    See Also
    --------
    xmlc.models.FastXML, xmlc.models.LdSM

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from xmlc.models import FastXML
    >>> X, Y = [[1, 0], [0, 1]] * 3, [[1, 0, 1], [0, 1, 0]] * 3
    >>> forest = FastXML(n_trees=1, propensity_weighted=True, alpha=0.8).fit(X, Y)
    >>> x, candidates = csr_array([[1.0, 0.0]]), csr_array([[0.5, 0.0, 0.5]])
    >>> forest.tail_.log_scores(x, candidates, gamma=1.0, unit_norm=True, n_jobs=1).data
    array([-0.6931472, -0.6931472], dtype=float32)
    """

    tail_indptr: Annotated[
        np.ndarray, Field("tail_indptr", np.int64, ("n_labels + 1",), starts="centroids")
    ]
    tail_features: Annotated[
        np.ndarray, Field("tail_features", np.uint32, ("centroids",), below="n_features")
    ]
    tail_weights: Annotated[
        np.ndarray, Field("tail_weights", np.float32, ("centroids",), within=FINITE)
    ]
    tail_squared_lengths: Annotated[
        np.ndarray, Field("tail_squared_lengths", np.float64, ("n_labels",), within=FINITE)
    ]

    def log_scores(
        self,
        X: sparse.csr_array,
        candidates: sparse.csr_array,
        gamma: float,
        unit_norm: bool,
        n_jobs: int | None,
    ) -> sparse.csr_array:
        """Return log B for each candidate label of each instance.

        Parameters
        ----------
        X : csr_array of float32, shape (n, d)
        candidates : csr_array of float32, shape (n, m)
            The stored entries, whatever their values, are the candidate labels.
        gamma : float
            The factor in B, at least 0.
        unit_norm : bool
            Scale each instance to Euclidean length 1 first, as in training.
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        csr_array of float32, shape (n, m)
            Scores of at most -log 2, at the entries of ``candidates``.

        Raises
        ------
        ValueError
            The arrays differ in their shapes.

        See Also
        --------
        xmlc.kernels.float64
        """
        scores = np.empty(candidates.nnz, dtype=np.float32)
        blocks = row_blocks(X.shape[0], ROWS_PER_BLOCK)
        costs = [int(candidates.indptr[last] - candidates.indptr[first]) for first, last in blocks]
        x = kernel_csr(unit_rows(X) if unit_norm else X)
        labels = kernel_csr(candidates)
        centroids = KernelCSR(self.tail_indptr, self.tail_features, self.tail_weights)
        arguments = (
            x,
            labels,
            centroids,
            self.tail_squared_lengths,
            float(gamma),
            X.shape[1],
            scores,
        )
        tasks = [(*block, *arguments) for block in blocks]
        run_tasks(log_scores_of_rows, tasks, n_jobs, costs, title="measuring distances")
        return with_values(candidates, scores)


def fit_tail_classifiers(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    unit_norm: bool,
    n_jobs: int | None,
    into: Path | None = None,
) -> TailClassifiers:
    """Compute the centroids of all labels.

    Arrays are written block by block to a folder ``into``, if given, and then memory-mapped.
    """
    x = X
    if unit_norm:
        x = unit_rows(X)
    x = with_values(x, x.data.astype(np.float64))
    by_label = sparse.csr_array(Y.T).astype(np.float64)
    blocks = label_blocks(by_label, x)
    centroids = Appendable(into)
    n_pairs = 0
    centroids.append(tail_indptr=np.zeros(1, dtype=np.int64))

    def append(block: dict[str, np.ndarray]) -> None:
        nonlocal n_pairs
        centroids.append(**block | {"tail_indptr": block["tail_indptr"] + n_pairs})
        n_pairs += block["tail_features"].size

    run_tasks(
        _centroids,
        [(by_label, x, *block) for block in blocks],
        n_jobs,
        title="averaging",
        then=append,
    )
    return TailClassifiers(**centroids.finished())


def _centroids(
    by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int
) -> dict[str, np.ndarray]:
    """Return the arrays of `TailClassifiers` for the labels ``start .. end - 1``.

    A centroid is rounded once, with ascending features, before its squared length is computed.
    ``tail_indptr``, int64 (end - start,), has only the ends of these centroids.
    """
    sums = label_sums(by_label, x, start, end)
    rows = np.repeat(np.arange(end - start), np.diff(sums.indptr))
    weights = (sums.data / np.diff(by_label.indptr)[start:end][rows]).astype(np.float32)
    exact = weights.astype(np.float64)
    # `bincount` adds the values in a fixed order
    squares = np.bincount(rows, weights=exact * exact, minlength=end - start)
    return {
        "tail_indptr": sums.indptr[1:].astype(np.int64),
        "tail_features": sums.indices.astype(np.uint32),
        "tail_weights": weights,
        # `bincount` of an empty array returns integers
        "tail_squared_lengths": squares.astype(np.float64),
    }


@njit
def log_scores_of_rows(first, last, x, candidates, centroids, squares, gamma, n_features, scores):
    """Write log B of every candidate label of the instances ``first .. last - 1`` to ``scores``.

    It is -log(1 + exp(z)) with z = gamma / 2 * ||x - mu||^2 >= 0, evaluated so that no exponential
    overflows. ``squares``, float64 (m,), are the squared lengths of the centroids.
    """
    dense = np.zeros(n_features, dtype=np.float32)
    for i in range(first, last):
        ids, values = row_of_csr(x, i)
        square = 0.0
        for k in range(ids.size):
            dense[ids[k]] = values[k]
            square += np.float64(values[k]) * np.float64(values[k])
        for c in range(candidates.indptr[i], candidates.indptr[i + 1]):
            label = candidates.indices[c]
            features, weights = row_of_csr(centroids, label)
            product = 0.0
            for k in range(features.size):
                product += np.float64(dense[features[k]]) * np.float64(weights[k])
            # Rounding errors can make a squared distance slightly negative.
            z = 0.5 * gamma * max(0.0, square + squares[label] - 2.0 * product)
            scores[c] = max(-(z + log1p(exp(-z))), LOWEST)
        for feature in ids:
            dense[feature] = 0.0
