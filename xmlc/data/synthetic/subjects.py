"""Generate synthetic texts about several subjects, similar to the texts and labels of library
catalogues.

The shapes of the distributions are those of real datasets (bibtex, tib-core-26k): the numbers of
words and labels of a text, the frequencies of words and labels, and the share of words that are
typical of a label. No text or label of a real dataset is used.
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

# The word with rank r, counted from 0, has a probability proportional to about 1 / (r +
# WORD_OFFSET), and the subject with rank r one proportional to about 1 / (r + SUBJECT_OFFSET).
WORD_OFFSET = 10.0
SUBJECT_OFFSET = 20.0
# Mean number of subjects of a text, as a multiple of its mean number of labels.
SUBJECTS_PER_LABEL = 1.4
AREA = 25  # Number of subjects of an area.
SAME_AREA = 0.8  # Share of a text's further subjects that are in the area of its first subject.
# Probabilities that a text has a label for its first subject, for another subject, and for a
# broader subject.
FIRST = 0.9
FURTHER = 0.6
BROADER = 0.2
# Shares of the words in a text that are typical of its area and of its subjects. All other words
# are common words.
AREA_SHARE = 0.1
SUBJECT_SHARE = 0.3
# Numbers of typical words.
AREA_WORDS = 200
SUBJECT_WORDS = 60
# Number of most frequent words, such as "the", which are typical of no subject.
FUNCTION_WORDS = 50
# A row's random numbers with counters below WORD_COUNTER determine sizes and subjects. Those from
# WORD_COUNTER on determine words.
WORD_COUNTER = 1 << 31


class SubjectTexts:
    """Draw texts about several subjects, as weights of words, and labels that a cataloguer assigns
    to the subjects.

    Each subject has a label. The subject with rank r has a probability proportional to 1 / (r +
    20), so most labels are rare. Subjects belong to areas of 25 subjects. Within an area, the
    subjects form a tree, in which the parent of a subject is broader and more frequent.

    A text has a first subject, and more subjects that are mostly of the same area. A word of the
    text is typical of one of the subjects (probability 0.3) or of the area (0.1), or it is one of
    all words, of which word r has a probability proportional to 1 / (r + 10). Typical words are
    drawn once for each subject and area. The value of a word is (1 + log count) times (1 + log((r +
    10) / 10)), a tf-idf weight, and rows are scaled to length 1.

    The cataloguer assigns the label of the first subject with probability 0.9, of each other
    subject with 0.6, and of each subject's parent with 0.2, independently. The posteriors are the
    resulting probabilities of the labels, given the subjects. A classifier sees only words, so it
    cannot reach them.

    Every random number depends only on (seed, row), (seed, subject) or (seed, area).

    Parameters
    ----------
    n_features, n_labels : int
        Numbers of different words and of subjects.
    labels_per_instance : float
        Average number of labels of a text, approximately, because subjects of a text can coincide.
    nonzeros : int
        Average number of words of a text. A word that is drawn twice for a text is stored only
        once.
    seed : int
        Seed of all random numbers, not negative.
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
            Number of threads; see `xmlc.core.threads.resolve_threads`. The result does not depend
            on the number of threads.

        Returns
        -------
        X : csr_array of float32, shape (n, d)
            Rows have length 1. Values are multiples of 1e-4.
        Y : csr_array of bool, shape (n, m)
        P : csr_array of float32, shape (n, m)
            The posteriors. Posteriors that are not stored are 0.

        Raises
        ------
        XmlcError
            The range of rows is empty, or ``start`` is less than 0.
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
    """Map a uniform random number to a rank from 0 to n - 1, with probabilities of about 1 / (rank
    + offset).

    Parameters
    ----------
    u : float64
        Number in [0, 1).
    n : int64
    offset : float64
    """
    return min(np.int64(offset * (exp(u * log1p(n / offset)) - 1.0)), n - 1)


@njit
def random_count(key, counter, mean):
    """Return a random number from 0 with the given mean, the sum of two numbers of a geometric
    distribution.

    The numbers of words and of labels of real texts have this distribution.

    Parameters
    ----------
    key : uint64
    counter : int64
        Counter of the first of two random numbers.
    mean : float64
    """
    slope = log(mean / (mean + 2.0))
    first = log(1.0 - random_unit(key, counter)) / slope
    second = log(1.0 - random_unit(key, counter + 1)) / slope
    return np.int64(first) + np.int64(second)


@njit
def draw_subjects(key, count, n_labels, n_areas):
    """Draw the subjects of a text. The subjects of an area differ by multiples of ``n_areas``.

    Parameters
    ----------
    key : uint64
        Key of the text's random numbers.
    count, n_labels, n_areas : int64

    Returns
    -------
    int64 (count,)
        The first subject, then all others. A subject can occur twice.
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
    """Compute the probabilities of the labels of a text, and return the number of labels whose
    probability is not 0.

    Parameters
    ----------
    subjects : int64
    n_areas : int64
    labels, posteriors : int32, float32
        Output: labels in ascending order, and their probabilities. Both have room for two labels of
        each subject.
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
    missing = 1.0  # Probability that the text does not have the label.
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
        Key of the text's random numbers.
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
            # The first subjects have more words than the last ones.
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
    """Compute the tf-idf weights of a text, scaled to length 1, and return the number of different
    words.

    Parameters
    ----------
    words : int64
        Words of the text in ascending order.
    features, values : int32, float32
        Output: the different words and their weights. Both have room for all words.
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
    """Draw texts ``start .. end - 1`` with their posteriors and labels.

    Parameters
    ----------
    seed, start, end, n_features, n_labels : int64
    further_subjects : float64
        Average number of subjects of a text, without the first.
    mean_words : float64
        Average number of words of a text.

    Returns
    -------
    lengths : int64 (n,), words : int32, values : float32
    candidates : int64 (n,), labels : int32, posteriors : float32
        Number of labels of each text that have a positive probability, these labels, and their
        probabilities.
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
