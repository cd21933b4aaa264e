"""Synthetic multi-label data with power-law label frequencies and known posteriors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.data.synthetic.drawing import (
    VALUE_STEPS,
    check_sizes,
    draw_with_posteriors,
    popular_feature,
)
from xmlc.kernels import elementwise
from xmlc.kernels.arrays import sort, stable_order
from xmlc.kernels.counter_random import Stream, random_below, random_unit, stream_key
from xmlc.kernels.csr import CSR
from xmlc.kernels.sums import pairwise

POSTERIOR_FLOOR = 1e-3
# Labels that an instance triggers, per true label
CANDIDATES_PER_LABEL = 8
RANK_PENALTY = 0.35  # Times log(rank), it is subtracted from the logit of a label
SAMPLE_ROWS = 2000
MODIFIERS = 3


class SyntheticModel:
    """A model that draws instances and labels, and whose exact posteriors define the data.

    An instance has about ``nonzeros`` features, drawn in proportion to (f + 1) ** (-2/3) for
    feature f. Each label has a few trigger features and three modifier features. If x has at least
    one trigger of label j, its posterior is

        P(y_j = 1 | x) = sigmoid(sum of its triggers' and modifiers' weights times x - b_j - b)

    and otherwise, or if the formula gives less than 0.001, it is 0. Given x, labels are drawn
    independently. Their frequencies fall as a power of the rank, because labels with larger ranks
    have rarer features as triggers and larger constants b_j. Bisection finds the b, shared by all
    labels, for which the first 2000 instances have ``labels_per_instance`` labels on average.

    Every random number depends only on (seed, label) or (seed, row), so a row depends neither on
    its block nor on the number of threads. Time and memory are linear in the numbers of non-zeros
    and of stored posteriors.

    Parameters
    ----------
    n_features, n_labels : int
    labels_per_instance : float
        Average number of labels of an instance.
    nonzeros : int
        Average number of features drawn for an instance, of which repeated ones are stored once.
    seed : int
        From 0 to 2**63 - 1.
    posteriors : bool
        Whether to return posteriors, of which an instance has many more than labels.

    Raises
    ------
    XmlcError
        If a number is out of its range, or instances trigger too few labels for
        ``labels_per_instance``.

    See Also
    --------
    xmlc.data.synthetic.subjects.SubjectTexts

    Examples
    --------
    >>> from xmlc.data.synthetic.labels import SyntheticModel
    >>> X, Y, P = SyntheticModel(n_features=500, n_labels=50).draw(0, 10)
    >>> X.shape, Y.shape, bool(P.max() <= 1)
    ((10, 500), (10, 50), True)
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
        check_sizes(n_features, n_labels, nonzeros, labels_per_instance)
        if not 0 <= seed < 1 << 63:
            raise XmlcError(f"found seed={seed}, expected a number from 0 to 2**63 - 1")
        self.n_features = n_features
        self.n_labels = n_labels
        self.nonzeros = nonzeros
        self.seed = seed
        self.posteriors = posteriors
        skipped = min(20, n_features // 100)
        triggers = CANDIDATES_PER_LABEL * labels_per_instance * n_features / (nonzeros * n_labels)
        n_triggers = max(math.ceil(triggers), 1)
        drawn = draw_label_parameters(seed, n_features, n_labels, n_triggers, skipped)
        features, weights, modifier_features, modifier_weights = drawn
        order = np.argsort(features.ravel(), kind="stable")
        labels = (order // n_triggers).astype(np.int32)
        starts = np.concatenate(
            ([0], np.cumsum(np.bincount(features.ravel(), minlength=n_features)))
        )
        bias = RANK_PENALTY * elementwise.log(np.arange(1, n_labels + 1))
        self._model = LabelModel(
            starts, labels, weights.ravel()[order], modifier_features, modifier_weights, bias
        )
        scores = draw_scored_rows(seed, 0, SAMPLE_ROWS, nonzeros, n_features, self._model)[-1]
        self.intercept = _intercept(scores, labels_per_instance * SAMPLE_ROWS)

    def draw(self, start: int, end: int, n_jobs: int | None = None) -> tuple[CSR, CSR, CSR | None]:
        """Draw instances ``start .. end - 1``.

        Parameters
        ----------
        start, end : int
            Range of row numbers, such as ``0, a`` for a training set and ``a, b`` for a test set.
        n_jobs : int or None
            Number of threads (`xmlc.core.threads.resolve_threads`), which does not change the
            result.

        Returns
        -------
        X : csr_array of float32, shape (n, d)
            Values are multiples of 1e-4.
        Y : csr_array of bool, shape (n, m)
        P : csr_array of float32, shape (n, m), or None
            Posteriors, or None if ``posteriors`` is false. Those not stored are 0.

        Raises
        ------
        XmlcError
            If the range of rows is empty or starts below 0.

        See Also
        --------
        xmlc.data.synthetic.subjects.SubjectTexts
        """
        shape = (self.n_features, self.n_labels)
        X, Y, P = draw_with_posteriors(
            self._draw_rows, self.seed, (start, end), shape, n_jobs, "drawing instances"
        )
        if self.posteriors:
            return X, Y, P
        return X, Y, None

    def _draw_rows(self, start: int, end: int) -> tuple[np.ndarray, ...]:
        drawn = draw_scored_rows(self.seed, start, end, self.nonzeros, self.n_features, self._model)
        lengths, features, values, counts, labels, scores = drawn
        posteriors = elementwise.sigmoid(scores - self.intercept).astype(np.float32)
        kept = posteriors >= np.float32(POSTERIOR_FLOOR)
        rows = np.repeat(np.arange(end - start), counts)
        counts = np.bincount(rows[kept], minlength=end - start)
        return lengths, features, values, counts, labels[kept], posteriors[kept]


def _intercept(scores: np.ndarray, wanted: float) -> float:
    """Return by bisection the b for which the posteriors sigmoid(scores - b) sum to ``wanted``.

    Raises
    ------
    XmlcError
        If the instances have too few candidate labels.
    """
    if scores.size <= wanted:
        found = wanted / SAMPLE_ROWS
        least = scores.size / SAMPLE_ROWS
        expected = f"at most {least:.2f}. Increase n_labels or nonzeros."
        raise XmlcError(f"found labels_per_instance={found:g}, expected {expected}")
    low = float(scores.min()) - 50.0
    high = float(scores.max()) + 50.0
    for _ in range(80):
        middle = (low + high) / 2
        posteriors = elementwise.sigmoid(scores - middle)
        if pairwise(posteriors[posteriors >= POSTERIOR_FLOOR]) > wanted:
            low = middle
        else:
            high = middle
    return high


class LabelModel(NamedTuple):
    """Parameters from which labels are drawn.

    Attributes
    ----------
    trigger_starts : int64 (d + 1,), trigger_labels : int32, trigger_weights : float64
        Labels that each feature triggers, with weights.
    modifier_features : int32 (m, 3), modifier_weights : float64 (m, 3)
        Features that modify the score of each label, with weights.
    bias : float64 (m,)
        The constants b_j.
    """

    trigger_starts: np.ndarray
    trigger_labels: np.ndarray
    trigger_weights: np.ndarray
    modifier_features: np.ndarray
    modifier_weights: np.ndarray
    bias: np.ndarray


@njit
def draw_label_parameters(seed, n_features, n_labels, n_triggers, skipped):
    """Draw the triggers of each label, near the feature with its relative rank, and the modifiers.

    Label frequencies therefore follow a power law as feature frequencies do.

    Parameters
    ----------
    seed, n_features, n_labels : int64
    n_triggers : int64
        Of each label, t.
    skipped : int64
        Number of most popular features, which trigger no label.

    Returns
    -------
    features : int64 (m, t), weights : float64 (m, t)
        Triggers. The weights of a repeated feature add up.
    modifier_features : int32 (m, 3), modifier_weights : float64 (m, 3)
    """
    features = np.empty((n_labels, n_triggers), dtype=np.int64)
    weights = np.empty((n_labels, n_triggers), dtype=np.float64)
    modifier_features = np.empty((n_labels, MODIFIERS), dtype=np.int32)
    modifier_weights = np.empty((n_labels, MODIFIERS), dtype=np.float64)
    room = n_features - skipped
    for label in range(n_labels):
        key = stream_key(seed, Stream.SYNTHETIC_LABEL.value + label)
        for t in range(n_triggers):
            place = (label + random_unit(key, 2 * t)) / n_labels
            features[label, t] = skipped + min(np.int64(room * place), room - 1)
            weights[label, t] = 1.5 + 4.5 * random_unit(key, 2 * t + 1)
        for s in range(MODIFIERS):
            counter = 2 * (n_triggers + s)
            modifier_features[label, s] = popular_feature(random_unit(key, counter), n_features)
            modifier_weights[label, s] = 4.0 * random_unit(key, counter + 1) - 2.0
    return features, weights, modifier_features, modifier_weights


@njit
def draw_row(seed, row, nonzeros, n_features, features, values):
    """Draw one instance, and return its number of distinct features.

    From half to one and a half times ``nonzeros`` features are drawn, some of them repeatedly.

    Parameters
    ----------
    seed, row, nonzeros, n_features : int64
    features, values : uint32, float32
        Output: features in ascending order, and multiples of 1e-4 in [0.1, 1].
    """
    key = stream_key(seed, Stream.SYNTHETIC_ROW.value + row)
    draws = max(1, nonzeros // 2 + random_below(key, 0, nonzeros + 1))
    drawn = np.empty(draws, dtype=np.uint32)
    for i in range(draws):
        drawn[i] = popular_feature(random_unit(key, 1 + i), n_features)
    sort(drawn)
    count = 0
    for i in range(draws):
        if i == 0 or drawn[i] != drawn[i - 1]:
            steps = VALUE_STEPS // 10 + random_below(
                key, 1 + draws + i, VALUE_STEPS - VALUE_STEPS // 10 + 1
            )
            features[count] = drawn[i]
            values[count] = np.float32(steps / VALUE_STEPS)
            count += 1
    return count


@njit
def row_scores(features, values, model, dense, labels, scores):
    """Compute the scores of the labels that an instance triggers, and return their number.

    A score is the logit of the posterior without the intercept that all labels share.

    Parameters
    ----------
    features, values : uint32, float32
    model : LabelModel
    dense : float32 (d,)
        Scratch array, all zero at the start and at the end.
    labels, scores : int32, float64
        Output with ascending labels, of size `most_triggers`.
    """
    count = 0
    for k in range(features.size):
        dense[features[k]] = values[k]
        for t in range(model.trigger_starts[features[k]], model.trigger_starts[features[k] + 1]):
            labels[count] = model.trigger_labels[t]
            scores[count] = model.trigger_weights[t] * values[k]
            count += 1
    order = stable_order(labels[:count])
    sorted_labels = labels[:count][order]
    sorted_scores = scores[:count][order]
    merged = 0
    for i in range(count):
        if i > 0 and sorted_labels[i] == sorted_labels[i - 1]:
            scores[merged - 1] += sorted_scores[i]
        else:
            labels[merged] = sorted_labels[i]
            scores[merged] = sorted_scores[i]
            merged += 1
    for i in range(merged):
        scores[i] -= model.bias[labels[i]]
        for s in range(MODIFIERS):
            scores[i] += (
                model.modifier_weights[labels[i], s] * dense[model.modifier_features[labels[i], s]]
            )
    for k in range(features.size):
        dense[features[k]] = 0
    return merged


@njit
def most_triggers(features, model):
    """Return how many triggers the features of an instance have, uint32, for `row_scores`."""
    count = 0
    for feature in features:
        count += model.trigger_starts[feature + 1] - model.trigger_starts[feature]
    return count


@njit
def draw_scored_rows(seed, start, end, nonzeros, n_features, model):
    """Draw instances ``start .. end - 1``, with the scores of the labels that they trigger.

    Returns
    -------
    lengths : int64 (n,), features : uint32, values : float32
    counts : int64 (n,), labels : int32, scores : float64
    """
    n = end - start
    lengths = np.empty(n, dtype=np.int64)
    features = np.empty(n * (nonzeros // 2 + nonzeros + 1), dtype=np.uint32)
    values = np.empty(features.size, dtype=np.float32)
    counts = np.empty(n, dtype=np.int64)
    labels = np.empty(1024, dtype=np.int32)
    scores = np.empty(1024, dtype=np.float64)
    dense = np.zeros(n_features, dtype=np.float32)
    filled = stored = 0
    for i in range(n):
        lengths[i] = draw_row(
            seed, start + i, nonzeros, n_features, features[filled:], values[filled:]
        )
        own = slice(filled, filled + lengths[i])
        while stored + most_triggers(features[own], model) > labels.size:
            labels = np.concatenate((labels, np.empty_like(labels)))
            scores = np.concatenate((scores, np.empty_like(scores)))
        counts[i] = row_scores(
            features[own], values[own], model, dense, labels[stored:], scores[stored:]
        )
        filled += lengths[i]
        stored += counts[i]
    return (
        lengths,
        features[:filled].copy(),
        values[:filled].copy(),
        counts,
        labels[:stored].copy(),
        scores[:stored].copy(),
    )
