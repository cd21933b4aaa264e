"""Re-rank a forest's candidate labels by the distance of the instance to the labels' centroids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.appendable import Appendable
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import cost_blocks, row_blocks, run_tasks
from xmlc.kernels.csr import KernelCSR, kernel_csr, unit_rows, with_values
from xmlc.kernels.float64 import exp, log1p
from xmlc.kernels.stored import Field
from xmlc.models.trees.representations import label_sums

# A task has this many non-zeros. The non-zeros of an instance count once for each of its labels.
NONZEROS_PER_TASK = 1 << 20
ROWS_PER_BLOCK = 256
LOWEST = -3e38  # the lowest score is finite, because 0 times infinity would be NaN


class TailClassifiers(NamedTuple):
    """Score each label by the distance of an instance to the mean of the label's instances (PfastreXML).

    Trees seldom rank a rare label high, because other labels outnumber it in every leaf. A label's tail classifier
    measures the distance of an instance x from the centroid mu of the label's training instances::

        B_l(x) = 1 / (1 + exp(gamma / 2 * |x - mu_l|^2)),

    The score B is at most 1/2, its value at the centroid. B is not a classifier by itself, but re-ranks the labels that
    a forest returns. See Jain, Prabhu and Varma, Extreme Multi-label Loss Functions for Recommendation, Tagging,
    Ranking and Other Missing Label Applications, KDD 2016. The authors of ldsm2020 re-rank the labels of their largest
    datasets in this way (Supplement, experimental setup).

    The published program of PfastreXML omits the factor 1/2, and its default gamma is 30. The scores of the PfastreXML
    program equal the scores of this class with ``gamma=60``. The program of LdSM includes the factor. PfastreXML always
    scales each instance to Euclidean length 1 before it computes distances, even if its trees use unscaled instances.
    LdSM does not scale the features.

    Attributes
    ----------
    tail_indptr : int64 (m + 1,), tail_features : uint32, tail_weights : float32
        The centroids as a CSR matrix (m, d). A label without instances has an empty row, so its centroid is the origin.
    tail_squared_lengths : float64 (m,)
        Squared Euclidean lengths of the centroids.

    Notes
    -----
    Centroids take 16 bytes per label, and 8 bytes for each pair of a label and a feature of one of its instances. The
    centroids take 1.7 GB for synthetic data in the shape of Amazon-670K (490,449 instances with 75 non-zeros and 6
    labels, 670,091 labels). Training takes 8 more bytes for each non-zero of the instances, and memory for a block of
    labels in each thread.
    """

    tail_indptr: Annotated[np.ndarray, Field("tail_indptr", np.int64, ("n_labels + 1",), starts="centroids")]
    tail_features: Annotated[np.ndarray, Field("tail_features", np.uint32, ("centroids",), below="n_features")]
    tail_weights: Annotated[np.ndarray, Field("tail_weights", np.float32, ("centroids",))]
    tail_squared_lengths: Annotated[np.ndarray, Field("tail_squared_lengths", np.float64, ("n_labels",))]

    def log_scores(
        self, X: sparse.csr_array, candidates: sparse.csr_array, gamma: float, unit_norm: bool, n_jobs: int | None
    ) -> sparse.csr_array:
        """Return log B of each instance's candidate labels.

        Parameters
        ----------
        X : csr_array of float32, shape (n, d)
            Instances.
        candidates : csr_array of float32, shape (n, m)
            Candidate labels of each instance, given by the stored entries. The values of the entries are not read.
        gamma : float
            The factor gamma in B, at least 0.
        unit_norm : bool
            Scale each instance to Euclidean length 1 before the distances are computed, as in training.
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        csr_array of float32, shape (n, m)
            Scores in the stored entries of ``candidates``, at most -log 2, because B is at most 1/2.
        """
        scores = np.empty(candidates.nnz, dtype=np.float32)
        blocks = row_blocks(X.shape[0], ROWS_PER_BLOCK)
        costs = [int(candidates.indptr[last] - candidates.indptr[first]) for first, last in blocks]
        x, labels = kernel_csr(unit_rows(X) if unit_norm else X), kernel_csr(candidates)
        centroids = KernelCSR(self.tail_indptr, self.tail_features, self.tail_weights)
        arguments = (x, labels, centroids, self.tail_squared_lengths, float(gamma), X.shape[1], scores)
        tasks = [(*block, *arguments) for block in blocks]
        run_tasks(log_scores_of_rows, tasks, n_jobs, costs, title="measuring distances")
        return with_values(candidates, scores)


def fit_tail_classifiers(
    X: sparse.csr_array, Y: sparse.csr_array, unit_norm: bool, n_jobs: int | None, into: Path | None = None
) -> TailClassifiers:
    """Compute the tail classifiers, which are the centroids of all labels.

    Parameters
    ----------
    X : csr_array of float32, shape (n, d)
        Instances.
    Y : csr_array of bool, shape (n, m)
        Label sets of the instances.
    unit_norm : bool
        Scale each instance to Euclidean length 1 before the centroids are computed.
    n_jobs : int or None
        Number of threads. The result is bit-identical for any number of threads.
    into : Path or None
        Folder to which the arrays are written block by block, and then memory-mapped. None keeps the arrays in memory.
    """
    x = unit_rows(X) if unit_norm else X
    x = with_values(x, x.data.astype(np.float64))
    by_label, nonzeros = sparse.csr_array(Y.T).astype(np.float64), 1 + x.nnz // max(X.shape[0], 1)
    blocks = cost_blocks(np.diff(by_label.indptr) * nonzeros, NONZEROS_PER_TASK)
    centroids, n_pairs = Appendable(into), 0
    centroids.append(tail_indptr=np.zeros(1, dtype=np.int64))

    def append(block: dict[str, np.ndarray]) -> None:
        nonlocal n_pairs
        centroids.append(**block | {"tail_indptr": block["tail_indptr"] + n_pairs})
        n_pairs += block["tail_features"].size

    tasks = [(by_label, x, *block) for block in blocks]
    run_tasks(_centroids, tasks, n_jobs, title="averaging", then=append)
    return TailClassifiers(**centroids.finished())


def _centroids(by_label: sparse.csr_array, x: sparse.csr_array, start: int, end: int) -> dict[str, np.ndarray]:
    """Return the centroids of the labels ``start .. end - 1``, the means of their instances, rounded once.

    Returns
    -------
    dict of ndarray
        The arrays of `TailClassifiers`. Here ``tail_indptr``, int64 (end - start,), contains only the end of each
        centroid in this block. Features ascend. Squared lengths are computed from rounded centroids.
    """
    sums = label_sums(by_label, x, start, end)
    rows = np.repeat(np.arange(end - start), np.diff(sums.indptr))
    weights = (sums.data / np.diff(by_label.indptr)[start:end][rows]).astype(np.float32)
    exact = weights.astype(np.float64)
    squares = np.bincount(rows, weights=exact * exact, minlength=end - start)  # `bincount` adds in a fixed order
    return {
        "tail_indptr": sums.indptr[1:].astype(np.int64),
        "tail_features": sums.indices.astype(np.uint32),
        "tail_weights": weights,
        "tail_squared_lengths": squares.astype(np.float64),  # `bincount` of an empty array returns integers
    }


@njit(cache=True, nogil=True)
def gathered_product(dense_instance, features, weights):
    """Return the inner product of a dense instance, float32 (d,), and a sparse centroid."""
    product = 0.0
    for k in range(features.size):
        product += np.float64(dense_instance[features[k]]) * np.float64(weights[k])
    return product


@njit(cache=True, nogil=True)
def log_scores_of_rows(first, last, x, candidates, centroids, squares, gamma, n_features, scores):
    """Write log B of every candidate label of the instances ``first .. last - 1``.

    log B = -log(1 + exp(z)) with z = gamma / 2 * ||x - mu||^2 >= 0, computed so that no exponential overflows. The
    kernel needs 4 bytes of scratch memory per feature. The kernel moves 12 bytes per candidate and non-zero of the
    candidate's centroid.

    Parameters
    ----------
    first : int
        First instance.
    last : int
        Instance after the last one.
    x : KernelCSR
        Instances.
    candidates : KernelCSR
        Candidate labels of the instances.
    centroids : KernelCSR
        Centroids of the labels.
    squares : float64 (m,)
        Squared lengths of the centroids.
    gamma : float
        The factor gamma in B.
    n_features : int
        Number of features d.
    scores : float32
        Output, one score per candidate, written for the instances of this block.
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
