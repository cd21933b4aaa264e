"""Synthetic texts about several subjects, similar to the texts of library catalogues.

The numbers of words and labels of a text, their frequencies and the share of words that are typical
of a label are distributed as in real datasets (bibtex, tib-core-26k), but nothing else comes from
these.
"""

from __future__ import annotations

import math

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.data.synthetic.drawing import VALUE_STEPS, check_sizes, draw_with_posteriors
from xmlc.kernels.arrays import sort, stable_order
from xmlc.kernels.counter_random import Stream, random_unit, stream_key
from xmlc.kernels.csr import CSR
from xmlc.kernels.float64 import exp, log, log1p

# A word or subject with rank r from 0 has a probability proportional to about 1 / (r + offset)
WORD_OFFSET = 10.0
SUBJECT_OFFSET = 20.0
# Mean number of subjects of a text per label
SUBJECTS_PER_LABEL = 1.4
AREA = 25  # Subjects in an area
SAME_AREA = 0.8  # Share of further subjects from the area of the first
# Probabilities of a label for the first subject, each other subject and a broader subject
FIRST = 0.9
FURTHER = 0.6
BROADER = 0.2
# Shares of the words that are typical of the area and of the subjects
AREA_SHARE = 0.1
SUBJECT_SHARE = 0.3
# Numbers of typical words
AREA_WORDS = 200
SUBJECT_WORDS = 60
# Number of most frequent words, such as "the", which are typical of no subject
FUNCTION_WORDS = 50
# A row's random numbers below this counter determine sizes and subjects, the others words
WORD_COUNTER = 1 << 31


class SubjectTexts:
    """Texts about several subjects, as tf-idf weights, with labels that a cataloguer assigns.

    Each subject has a label, and most labels are rare because the subject with rank r has a
    probability proportional to 1 / (r + 20). Every 25 subjects make up an area, in which they form
    a tree whose parents are broader and more frequent than their children.

    A text has a first subject, and more that are mostly from the same area. Each of its words is
    typical of one of the subjects (probability 0.3), typical of the area (0.1), or drawn from all
    words in proportion to 1 / (r + 10). Typical words are drawn once for each subject and area. A
    word weighs (1 + log count) (1 + log((r + 10) / 10)), and rows are scaled to length 1.

    The cataloguer assigns labels independently: that for the first subject with probability 0.9,
    for each other subject with 0.6, and for each parent with 0.2. These define the posteriors, so a
    classifier, which sees only words, cannot reach them. Every random number depends only on (seed,
    row), (seed, subject) or (seed, area).

    Parameters
    ----------
    n_features, n_labels : int
        Numbers of different words and of subjects.
    labels_per_instance : float
        Average number of labels of a text, approximate because its subjects can coincide.
    nonzeros : int
        Average number of words of a text, of which repeated ones are stored once.
    seed : int
        At least 0.

    See Also
    --------
    xmlc.data.synthetic.labels.SyntheticModel : A model with known features of each label.

    Examples
    --------
    >>> from xmlc.data.synthetic.subjects import SubjectTexts
    >>> X, Y, P = SubjectTexts(n_features=500, n_labels=50).draw(0, 10)
    >>> X.shape, Y.shape, bool(P.max() <= 1)
    ((10, 500), (10, 50), True)
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        labels_per_instance: float = 3.0,
        nonzeros: int = 100,
        seed: int = 0,
    ):
        check_sizes(n_features, n_labels, nonzeros, labels_per_instance)
        self.n_features = n_features
        self.n_labels = n_labels
        self.seed = seed
        self.nonzeros = nonzeros
        self.labels_per_instance = labels_per_instance

    def draw(self, start: int, end: int, n_jobs: int | None = None) -> tuple[CSR, CSR, CSR]:
        """Draw texts ``start .. end - 1``.

        Parameters
        ----------
        start, end : int
        n_jobs : int or None
            Number of threads, which does not change the result.

        Returns
        -------
        X : csr_array of float32, shape (n, d)
            Rows of length 1, with multiples of 1e-4.
        Y : csr_array of bool, shape (n, m)
        P : csr_array of float32, shape (n, m)
            Posteriors. Those not stored are 0.

        Raises
        ------
        XmlcError
            If the range of rows is empty or starts below 0.

        See Also
        --------
        xmlc.data.synthetic.labels.SyntheticModel
        """
        further_subjects = max(SUBJECTS_PER_LABEL * self.labels_per_instance - 1, 0.1)
        shape = (self.n_features, self.n_labels)

        def draw_rows(first: int, last: int) -> tuple[np.ndarray, ...]:
            return draw_texts(
                self.seed, first, last, *shape, further_subjects, float(self.nonzeros)
            )

        return draw_with_posteriors(
            draw_rows, self.seed, (start, end), shape, n_jobs, "drawing texts"
        )


@njit
def frequent_rank(u, n, offset):
    """Map a uniform number u < 1 to a rank below n, with probability about 1 / (rank + offset)."""
    return min(np.int64(offset * (exp(u * log1p(n / offset)) - 1.0)), n - 1)


@njit
def random_count(key, counter, mean):
    """Return the sum of two geometric random numbers from 0, with the given mean.

    It is distributed as the numbers of words and of labels of real texts. The two numbers have the
    counters ``counter`` and ``counter + 1`` of the ``key`` (uint64).
    """
    slope = log(mean / (mean + 2.0))
    first = log(1.0 - random_unit(key, counter)) / slope
    second = log(1.0 - random_unit(key, counter + 1)) / slope
    return np.int64(first) + np.int64(second)


@njit
def draw_subjects(key, count, n_labels, n_areas):
    """Draw the subjects of a text. Those of an area differ by multiples of ``n_areas``.

    Parameters
    ----------
    key : uint64
        Of the text's random numbers.
    count, n_labels, n_areas : int64

    Returns
    -------
    int64 (count,)
        The first subject, then the others, possibly repeated.
    """
    subjects = np.empty(count, dtype=np.int64)
    for s in range(count):
        subject = frequent_rank(random_unit(key, 4 + 2 * s), n_labels, SUBJECT_OFFSET)
        if s > 0 and random_unit(key, 5 + 2 * s) < SAME_AREA:
            subject += subjects[0] % n_areas - subject % n_areas
            if subject >= n_labels:
                subject -= n_areas
        subjects[s] = subject
    return subjects


@njit
def assign_labels(subjects, n_areas, labels, posteriors):
    """Compute the probabilities of a text's labels, and return the number that are above 0.

    Parameters
    ----------
    subjects : int64
    n_areas : int64
    labels, posteriors : int32, float32
        Output with ascending labels, at most two for each subject.
    """
    candidates = np.empty(2 * subjects.size, dtype=np.int64)
    probabilities = np.empty(2 * subjects.size, dtype=np.float64)
    count = 0
    for s in range(subjects.size):
        candidates[count] = subjects[s]
        probabilities[count] = FURTHER
        if s == 0:
            probabilities[count] = FIRST
        count += 1
        place = subjects[s] // n_areas
        if place > 0:
            candidates[count] = (place - 1) // 2 * n_areas + subjects[s] % n_areas
            probabilities[count] = BROADER
            count += 1
    merged = 0
    missing = 1.0  # Probability that the text does not have the label
    for c in stable_order(candidates[:count]):
        if merged > 0 and labels[merged - 1] == candidates[c]:
            missing *= 1.0 - probabilities[c]
        else:
            labels[merged] = candidates[c]
            missing = 1.0 - probabilities[c]
            merged += 1
        posteriors[merged - 1] = 1.0 - missing
    return merged


@njit
def draw_words(seed, key, subjects, n_areas, n_labels, n_features, words):
    """Draw the words of a text, in ascending order.

    Parameters
    ----------
    seed : int64
    key : uint64
        Of the text's random numbers.
    subjects : int64
    n_areas, n_labels, n_features : int64
    words : int64
        Output.
    """
    rarest = min(FUNCTION_WORDS, n_features // 10)
    for w in range(words.size):
        source = random_unit(key, WORD_COUNTER + 2 * w)
        u = random_unit(key, WORD_COUNTER + 2 * w + 1)
        if source >= AREA_SHARE + SUBJECT_SHARE:
            words[w] = frequent_rank(u, n_features, WORD_OFFSET)
            continue
        if source < AREA_SHARE:
            topic = n_labels + subjects[0] % n_areas
            n_typical = AREA_WORDS
        else:
            # The first subjects have more words than the last ones
            position = (source - AREA_SHARE) / SUBJECT_SHARE
            topic = subjects[min(np.int64(subjects.size * position * position), subjects.size - 1)]
            n_typical = SUBJECT_WORDS
        typical = random_unit(
            stream_key(seed, Stream.SYNTHETIC_LABEL.value + topic), np.int64(n_typical * u * u * u)
        )
        words[w] = rarest + frequent_rank(typical, n_features - rarest, WORD_OFFSET + rarest)
    sort(words)


@njit
def weigh_words(words, features, values):
    """Compute a text's tf-idf weights, scaled to length 1, and return its number of distinct words.

    Parameters
    ----------
    words : int64
        In ascending order.
    features, values : int32, float32
        Output for distinct words, with the size of ``words``.
    """
    weights = np.zeros(words.size, dtype=np.float64)
    count = 0
    for w in range(words.size):
        if count == 0 or features[count - 1] != words[w]:
            features[count] = words[w]
            count += 1
        weights[count - 1] += 1.0
    squares = 0.0
    for f in range(count):
        weights[f] = (1.0 + log(weights[f])) * (
            1.0 + log((features[f] + WORD_OFFSET) / WORD_OFFSET)
        )
        squares += weights[f] * weights[f]
    for f in range(count):
        values[f] = np.float32(np.rint(weights[f] / math.sqrt(squares) * VALUE_STEPS) / VALUE_STEPS)
    return count


@njit
def draw_texts(seed, start, end, n_features, n_labels, further_subjects, mean_words):
    """Draw texts ``start .. end - 1`` with the posteriors of their labels.

    Texts have ``1 + further_subjects`` subjects and ``mean_words`` words on average.

    Returns
    -------
    lengths : int64 (n,), words : int32, values : float32
    candidates : int64 (n,), labels : int32, posteriors : float32
        Number of labels that each text can have, these labels and their probabilities.
    """
    n = end - start
    n_words = np.empty(n, dtype=np.int64)
    n_subjects = np.empty(n, dtype=np.int64)
    for i in range(n):
        key = stream_key(seed, Stream.SYNTHETIC_ROW.value + start + i)
        n_subjects[i] = 1 + random_count(key, 0, further_subjects)
        n_words[i] = 1 + random_count(key, 2, mean_words - 1.0 + 1e-9)
    features = np.empty(n_words.sum(), dtype=np.int32)
    values = np.empty(features.size, dtype=np.float32)
    labels = np.empty(2 * n_subjects.sum(), dtype=np.int32)
    posteriors = np.empty(labels.size, dtype=np.float32)
    lengths = np.empty(n, dtype=np.int64)
    candidates = np.empty(n, dtype=np.int64)
    n_areas = max(n_labels // AREA, 1)
    filled = 0
    stored = 0
    for i in range(n):
        key = stream_key(seed, Stream.SYNTHETIC_ROW.value + start + i)
        subjects = draw_subjects(key, n_subjects[i], n_labels, n_areas)
        candidates[i] = assign_labels(subjects, n_areas, labels[stored:], posteriors[stored:])
        stored += candidates[i]
        words = np.empty(n_words[i], dtype=np.int64)
        draw_words(seed, key, subjects, n_areas, n_labels, n_features, words)
        lengths[i] = weigh_words(words, features[filled:], values[filled:])
        filled += lengths[i]
    return (
        lengths,
        features[:filled].copy(),
        values[:filled].copy(),
        candidates,
        labels[:stored].copy(),
        posteriors[:stored].copy(),
    )
