"""Synthetic multi-label data with a power-law label distribution and known posteriors."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from xmlc.data.synthetic._labels import LabelModel, draw_label_parameters, draw_rows, sample_scores
from xmlc.data.synthetic.rows import check_rows
from xmlc.errors import XmlcError
from xmlc.kernels import elementwise
from xmlc.runtime.parallel import row_blocks, run_pieces

POSTERIOR_FLOOR = 1e-3
CANDIDATES_PER_LABEL = 8  # labels that an instance triggers, for each that it is to carry
RANK_PENALTY = 0.35  # by how much a label's logit falls with the logarithm of its rank
SAMPLE_ROWS = 2000
ROWS_PER_BLOCK = 1024


class SyntheticModel:
    """A true model from which instances, posteriors and labels are drawn.

    An instance has about ``nonzeros`` features; feature f occurs with probability proportional to (f + 1) ** (-2/3).
    A label has a few trigger features and three modifiers. Its posterior is

        P(y_j = 1 | x) = sigmoid(sum of its triggers' and modifiers' weights times x - b_j - b)

    if x has at least one of its triggers and the value is at least 0.001, and 0 otherwise; labels are then drawn
    independently. This is the definition of the data, so the posteriors are exact. Triggers get rarer and b_j grows
    with the label's rank, which makes frequencies fall as a power of the rank; b is set by bisection on the first
    2000 instances such that these carry ``labels_per_instance`` labels on average.

    Everything is drawn from (seed, label) or (seed, row): row i is the same in whatever block it is drawn, and on any
    number of threads. Time and memory are linear in the non-zeros and the stored posteriors.

    Parameters
    ----------
    n_features, n_labels : int
    labels_per_instance : float
    nonzeros : int
        Draws of features per instance, on average; repeated draws are one feature.
    seed : int
        Not negative.
    posteriors : bool
        Whether rows come with their posteriors, of which an instance has many more than labels.

    Raises
    ------
    XmlcError
        A number is out of range, or instances trigger too few labels for ``labels_per_instance``.
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        labels_per_instance: float = 4.0,
        nonzeros: int = 60,
        seed: int = 0,
        posteriors: bool = True,
    ):
        if min(n_features, n_labels, nonzeros) < 1 or labels_per_instance <= 0:
            raise XmlcError(
                f"n_features={n_features}, n_labels={n_labels}, nonzeros={nonzeros}, "
                f"labels_per_instance={labels_per_instance}: all must be positive"
            )
        if not 0 <= seed < 1 << 63:
            raise XmlcError(f"seed={seed}: expected a number from 0 to 2**63 - 1")
        self.n_features, self.n_labels = n_features, n_labels
        self.nonzeros, self.seed, self.posteriors = nonzeros, seed, posteriors
        skipped = min(20, n_features // 100)
        triggers = CANDIDATES_PER_LABEL * labels_per_instance * n_features / (nonzeros * n_labels)
        self._model = self._draw_model(max(math.ceil(triggers), 1), skipped)
        scores = sample_scores(seed, SAMPLE_ROWS, nonzeros, n_features, self._model)
        self.intercept = _intercept(scores, labels_per_instance * SAMPLE_ROWS)

    def draw(
        self, start: int, end: int, n_jobs: int | None = None
    ) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array | None]:
        """Draw instances ``start .. end - 1``.

        Parameters
        ----------
        start, end : int
            Row ids; a training set 0 .. a and a test set a .. b come from one true model.
        n_jobs : int or None
            Threads, see `xmlc.runtime.threads.resolve_threads`; the bits do not depend on it.

        Returns
        -------
        X : csr_array of float32, shape (n, d)
            Values are multiples of 1e-4.
        Y : csr_array of bool, shape (n, m)
        P : csr_array of float32, shape (n, m), or None
            The posteriors; those that are not stored are 0. None unless they are asked for.

        Raises
        ------
        XmlcError
            There is no row from ``start`` to ``end``.
        """
        check_rows(start, end)
        common = (self.nonzeros, self.n_features, self._model, self.intercept, np.float32(POSTERIOR_FLOOR))
        pieces = [(self.seed, start + a, start + b, *common) for a, b in row_blocks(end - start, ROWS_PER_BLOCK)]
        costs = [piece[2] - piece[1] for piece in pieces]
        parts = list(zip(*run_pieces(draw_rows, pieces, n_jobs, costs, title="drawing instances", unit="rows")))
        joined = [np.concatenate(part) for part in parts]
        X = _csr(joined[0], joined[1].view(np.int32), joined[2], self.n_features)
        P = _csr(joined[3], joined[4], joined[5], self.n_labels) if self.posteriors else None
        Y = _csr(joined[6], joined[7], np.ones(joined[7].size, dtype=bool), self.n_labels)
        return X, Y, P

    def _draw_model(self, n_triggers: int, skipped: int) -> LabelModel:
        features, weights, modifier_features, modifier_weights = draw_label_parameters(
            self.seed, self.n_features, self.n_labels, n_triggers, skipped
        )
        labels = np.repeat(np.arange(self.n_labels, dtype=np.int32), n_triggers)
        order = np.argsort(features.ravel(), kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(features.ravel(), minlength=self.n_features))))
        bias = RANK_PENALTY * elementwise.log1p(np.arange(self.n_labels))
        return LabelModel(starts, labels[order], weights.ravel()[order], modifier_features, modifier_weights, bias)


def _intercept(scores: np.ndarray, wanted: float) -> float:
    """Find b such that sigmoid(scores - b) sum to ``wanted``, by bisection.

    Raises
    ------
    XmlcError
        There are not enough candidates for so many labels.
    """
    if scores.size <= wanted:
        raise XmlcError(
            f"{wanted / SAMPLE_ROWS:g} labels per instance cannot be had: an instance triggers only "
            f"{scores.size / SAMPLE_ROWS:.2f}; take more labels or more non-zeros"
        )
    low, high = float(scores.min()) - 50.0, float(scores.max()) + 50.0
    for _ in range(80):
        middle = (low + high) / 2
        posteriors = elementwise.sigmoid(scores - middle)
        if posteriors[posteriors >= POSTERIOR_FLOOR].sum() > wanted:
            low = middle
        else:
            high = middle
    return high


def _csr(lengths: np.ndarray, indices: np.ndarray, data: np.ndarray, n_columns: int) -> sparse.csr_array:
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    matrix = sparse.csr_array((data, indices, indptr), shape=(lengths.size, n_columns))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
