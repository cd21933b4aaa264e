"""Test synthetic texts about subjects: a plain twin draws the same texts, with any blocks and
threads.
"""

import math
from collections import Counter

import numpy as np
import pytest

from xmlc.data.synthetic import subjects as made
from xmlc.data.synthetic.subjects import SubjectTexts
from xmlc.kernels import counter_random
from xmlc.kernels.counter_random import Stream, random_unit

SHAPE = {"n_features": 400, "n_labels": 80, "labels_per_instance": 2.5, "nonzeros": 40, "seed": 7}


def stream_key(seed, task):
    return np.uint64(counter_random.stream_key(seed, task))


def rank(u, n, offset):
    return min(int(offset * (math.exp(u * math.log1p(n / offset)) - 1)), n - 1)


def count(key, counter, mean):
    slope = math.log(mean / (mean + 2))
    return sum(int(math.log(1 - random_unit(key, counter + i)) / slope) for i in range(2))


def text_of(row, d, m, labels_per_instance, nonzeros, seed):
    """Return the counts of words and the probabilities of labels of one text, computed as the
    docstrings say.
    """
    key = stream_key(seed, Stream.SYNTHETIC_ROW + row)
    n_areas = m // made.AREA
    subjects = []
    for s in range(1 + count(key, 0, made.SUBJECTS_PER_LABEL * labels_per_instance - 1)):
        subject = rank(random_unit(key, 4 + 2 * s), m, made.SUBJECT_OFFSET)
        if s > 0 and random_unit(key, 5 + 2 * s) < made.SAME_AREA:
            subject = subject // n_areas * n_areas + subjects[0] % n_areas
            subject -= n_areas * (subject >= m)
        subjects.append(subject)
    missing = dict.fromkeys(range(m), 1.0)
    for s, subject in enumerate(subjects):
        missing[subject] *= 1 - (made.FURTHER if s else made.FIRST)
        if subject >= n_areas:
            parent = (subject // n_areas - 1) // 2
            missing[parent * n_areas + subject % n_areas] *= 1 - made.BROADER
    words = []
    rarest = min(made.FUNCTION_WORDS, d // 10)
    for w in range(1 + count(key, 2, nonzeros - 1)):
        source, u = (random_unit(key, made.WORD_COUNTER + 2 * w + i) for i in range(2))
        if source >= made.AREA_SHARE + made.SUBJECT_SHARE:
            words.append(rank(u, d, made.WORD_OFFSET))
            continue
        topic = m + subjects[0] % n_areas
        n_typical = made.AREA_WORDS
        if source >= made.AREA_SHARE:
            share = (source - made.AREA_SHARE) / made.SUBJECT_SHARE
            topic = subjects[int(len(subjects) * share**2)]
            n_typical = made.SUBJECT_WORDS
        typical = random_unit(
            stream_key(seed, Stream.SYNTHETIC_LABEL + topic), int(n_typical * u**3)
        )
        words.append(rarest + rank(typical, d - rarest, made.WORD_OFFSET + rarest))
    return Counter(words), {label: 1 - share for label, share in missing.items() if share < 1}


def test_texts_equal_plain_twin():
    X, _, P = SubjectTexts(**SHAPE).draw(5, 65)
    for i, (x, p) in enumerate(zip(X.toarray(), P.toarray())):
        words, probabilities = text_of(5 + i, *SHAPE.values())
        weights = np.zeros(X.shape[1])
        for word, n in words.items():
            rarity = 1 + math.log((word + made.WORD_OFFSET) / made.WORD_OFFSET)
            weights[word] = (1 + math.log(n)) * rarity
        np.testing.assert_array_equal(x > 0, weights > 0)
        np.testing.assert_allclose(x, weights / np.linalg.norm(weights), atol=0.51e-4)
        expected = np.zeros(P.shape[1])
        expected[list(probabilities)] = list(probabilities.values())
        np.testing.assert_allclose(p, expected, rtol=1e-6)


def test_labels_are_drawn_from_the_posteriors():
    _, Y, P = SubjectTexts(**SHAPE).draw(0, 4000)
    posteriors = P.toarray().ravel().astype(np.float64)
    truth = Y.toarray().ravel()
    assert not truth[posteriors == 0].any()
    for value in (made.FIRST, made.FURTHER, made.BROADER):
        chosen = np.isclose(posteriors, value)
        error = math.sqrt(value * (1 - value) / chosen.sum())
        assert abs(truth[chosen].mean() - value) < 4 * error


def test_sizes_are_about_those_asked_for_and_most_labels_are_rare():
    X, Y, _ = SubjectTexts(5000, 600, 3.0, 100).draw(0, 3000)
    assert Y.nnz / 3000 == pytest.approx(3.0, rel=0.1)
    assert 70 < X.nnz / 3000 < 100
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1, atol=1e-3)
    counts = np.sort(np.bincount(Y.indices, minlength=600))[::-1]
    assert counts[:60].sum() > 0.3 * counts.sum()
    assert np.median(counts) < 0.7 * counts.mean()


@pytest.mark.parametrize(
    "sizes", [{"n_features": 1, "n_labels": 1}, {"nonzeros": 1, "labels_per_instance": 0.1}]
)
def test_smallest_sizes(sizes):
    X, Y, P = SubjectTexts(**SHAPE | sizes).draw(0, 50)
    assert (np.diff(X.indptr) > 0).all()
    assert X.shape[0] == Y.shape[0] == P.shape[0] == 50
