"""Synthetic multi-class data with few examples per class, similar to oplt2021's few-shot tasks.

ALOI has a thousand objects, each seen under 108 views, and WikiPara ten thousand pages with a few
paragraphs each. The generated data contain nothing of either, but resemble them in the numbers of
classes, examples and features, and in how much the examples of a class differ.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.data.synthetic.drawing import VALUE_STEPS, popular_feature
from xmlc.kernels.arrays import sort
from xmlc.kernels.counter_random import Stream, random_permutation, random_unit, stream_key
from xmlc.kernels.csr import CSR, stack_estimates
from xmlc.kernels.float64 import cos, exp
from xmlc.kernels.sums import in_turn

ROWS_PER_BLOCK = 4096
# Largest shift of a colour by the light in either direction, as a share of the colour scale
COLOUR_SHIFT = 0.01
# Each bin is its expected share times a uniform random number in 1 - NOISE .. 1 + NOISE
NOISE = 0.2
TOPIC_WORDS = 60
TOPIC_SHARE = 0.25
# Views of each object, as in ALOI: first the object turns, then the light, then its colour changes
VIEWS = 108
AZIMUTHS = 72
DIRECTIONS = 24
COLOURS = 12
SURFACES = 5  # Of an object, each with one colour
NUMBERS = 4  # Random numbers that describe a surface
# Visible share of a surface that faces away. One that faces the viewer has 1 more.
FROM_BEHIND = 0.4
BACKGROUND = 2e-3  # Minimum expected share of a bin, before the shares are scaled to the sum 1


class ObjectViews:
    """Colour histograms of objects, which are the classes, each under 108 views.

    An object has five surfaces with a colour, a width on the colour scale, a size and a direction
    each, and a histogram is the sum of their bumps. In 72 views the object is turned, in 24 the
    light, and in 12 all colours are shifted a little. Each bin is then multiplied by a random
    number. No value is negative, and most are positive.

    Every random number depends only on (seed, object) or (seed, object, view). The rows are all
    pairs of object and view in one random order, so training and test sets from disjoint ranges
    share no pair.

    Parameters
    ----------
    n_features : int
        Number of bins of a histogram.
    n_labels : int
        Number of objects. There are 108 rows for each.
    seed : int
        At least 0.
    """

    def __init__(self, n_features: int, n_labels: int, seed: int = 0):
        self.n_features = n_features
        self.n_labels = n_labels
        self.seed = seed
        self._pairs = random_permutation(VIEWS * n_labels, seed, Stream.FEW_SHOT_ORDER)

    def draw(self, start: int, end: int, n_jobs: int | None = None) -> tuple[CSR, CSR, None]:
        """Draw rows ``start .. end - 1`` as `xmlc.data.synthetic.labels.SyntheticModel.draw` does.

        Each row of X sums to about 1, and each row of Y has one label. The posteriors are unknown,
        so P is None. Rows that do not exist raise an `XmlcError`.
        """
        if not 0 <= start < end <= self._pairs.size:
            expected = f"rows from 0 to {self._pairs.size - 1} ({VIEWS} for each object)"
            raise XmlcError(f"found rows {start} to {end - 1}, expected {expected}")
        pairs = self._pairs[start:end]
        blocks = row_blocks(pairs.size, ROWS_PER_BLOCK)
        tasks = [(self.seed, pairs[first:last], self.n_features) for first, last in blocks]
        parts = run_tasks(draw_views, tasks, n_jobs, title="drawing views", unit="rows")
        return (
            sparse.csr_array(np.concatenate(parts)),
            _one_label(pairs // VIEWS, self.n_labels),
            None,
        )


class ShortTexts:
    """Short texts as counts of words, each text about one of many topics.

    Word f has a probability proportional to about (f + 1) ** (-2/3), as in
    `xmlc.data.synthetic.labels`. A quarter of the words in a text come from the 60 special words of
    its topic. Because these are drawn with the same probabilities as all words, most of them are
    frequent in all texts and only a few distinguish the topic. Text i is about topic i modulo m, so
    the rows need to be shuffled before they are streamed.

    Parameters
    ----------
    n_features : int
        Number of different words, d.
    n_labels : int
        Number of topics, m.
    nonzeros : int
        Number of words in a text, counted with repetitions.
    seed : int
        At least 0.
    """

    def __init__(self, n_features: int, n_labels: int, nonzeros: int = 70, seed: int = 0):
        self.n_features = n_features
        self.n_labels = n_labels
        self.nonzeros = nonzeros
        self.seed = seed

    def draw(self, start: int, end: int, n_jobs: int | None = None) -> tuple[CSR, CSR, None]:
        """Draw rows ``start .. end - 1`` as `ObjectViews.draw` does, but X counts words."""
        common = (self.n_features, self.n_labels, self.nonzeros)
        blocks = row_blocks(end - start, ROWS_PER_BLOCK)
        tasks = [(self.seed, start + first, start + last, *common) for first, last in blocks]
        parts = zip(*run_tasks(draw_texts, tasks, n_jobs, title="drawing texts", unit="rows"))
        lengths, words, counts = map(np.concatenate, parts)
        X = stack_estimates(lengths, words, counts, self.n_features)
        return X, _one_label(np.arange(start, end) % self.n_labels, self.n_labels), None


def _one_label(classes: np.ndarray, n_labels: int) -> CSR:
    lengths = np.ones(classes.size, dtype=np.int64)
    return stack_estimates(lengths, classes.astype(np.int32), lengths.astype(bool), n_labels)


@njit
def draw_views(seed, pairs, n_features):
    """Return a histogram with d bins of each pair of object and view, in O(n d SURFACES).

    A pair (int64) is the object's number times `VIEWS`, plus the view's number.
    """
    rows = np.zeros((pairs.size, n_features), dtype=np.float32)
    bins = np.empty(n_features, dtype=np.float64)
    for i in range(pairs.size):
        view = pairs[i] % VIEWS
        key = stream_key(seed, Stream.SYNTHETIC_LABEL.value + pairs[i] // VIEWS)
        azimuth = 0.0
        if view < AZIMUTHS:
            azimuth = 2 * math.pi * view / AZIMUTHS
        light = 2 * math.pi * (view - AZIMUTHS) / DIRECTIONS
        lit_from_a_side = AZIMUTHS <= view < AZIMUTHS + DIRECTIONS
        moved = 0.0
        if view >= AZIMUTHS + DIRECTIONS:
            moved = COLOUR_SHIFT * (2.0 * (view - AZIMUTHS - DIRECTIONS) / (COLOURS - 1) - 1.0)
        bins[:] = BACKGROUND
        for s in range(SURFACES):
            centre = random_unit(key, NUMBERS * s) + moved
            width = 0.01 + 0.05 * random_unit(key, NUMBERS * s + 1)
            faces = 2 * math.pi * random_unit(key, NUMBERS * s + 2)
            shown = (0.2 + random_unit(key, NUMBERS * s + 3)) * (
                FROM_BEHIND + max(cos(azimuth - faces), 0.0)
            )
            if lit_from_a_side:
                shown *= 0.2 + max(cos(light - faces), 0.0)
            for f in range(n_features):
                distance = ((f + 0.5) / n_features - centre) / width
                bins[f] += shown * exp(-0.5 * distance * distance)
        own = stream_key(seed, Stream.SYNTHETIC_ROW.value + pairs[i])
        for f in range(n_features):
            bins[f] *= 1.0 + NOISE * (2.0 * random_unit(own, f) - 1.0)
        total = in_turn(bins)
        for f in range(n_features):
            rows[i, f] = np.float32(np.rint(bins[f] / total * VALUE_STEPS) / VALUE_STEPS)
    return rows


@njit
def draw_texts(seed, start, end, n_features, n_labels, n_words):
    """Draw texts ``start .. end - 1`` as counts of words, in O(n_words log n_words) per text.

    Returns
    -------
    lengths : int64 (n,)
        Number of distinct words in each text.
    words : int32, counts : float32
        Words, in ascending order within a text, and their counts.
    """
    n = end - start
    lengths = np.zeros(n, dtype=np.int64)
    words = np.empty(n * n_words, dtype=np.int32)
    counts = np.empty(n * n_words, dtype=np.float32)
    drawn = np.empty(n_words, dtype=np.int64)
    filled = 0
    for i in range(n):
        topic = stream_key(seed, Stream.SYNTHETIC_LABEL.value + (start + i) % n_labels)
        own = stream_key(seed, Stream.SYNTHETIC_ROW.value + start + i)
        for w in range(n_words):
            u = random_unit(own, 2 * w + 1)
            if random_unit(own, 2 * w) < TOPIC_SHARE:
                u = random_unit(topic, np.int64(u * TOPIC_WORDS))
            drawn[w] = popular_feature(u, n_features)
        sort(drawn)
        first = filled
        for w in range(n_words):
            if filled == first or words[filled - 1] != drawn[w]:
                words[filled] = drawn[w]
                counts[filled] = 0
                filled += 1
            counts[filled - 1] += 1
        lengths[i] = filled - first
    return lengths, words[:filled], counts[:filled]
