"""Test synthetic few-shot data: kernels agree with their docstrings, and rows do not depend on
blocks or threads.
"""

import math

import numpy as np
import pytest
from facts import raises_with
from small_data import equal_bits

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.synthetic import drawing, few_shot
from xmlc.data.synthetic.drawing import popular_feature
from xmlc.data.synthetic.few_shot import (
    AZIMUTHS,
    BACKGROUND,
    COLOUR_SHIFT,
    COLOURS,
    DIRECTIONS,
    FROM_BEHIND,
    NOISE,
    NUMBERS,
    SURFACES,
    TOPIC_SHARE,
    TOPIC_WORDS,
    VIEWS,
    ObjectViews,
    ShortTexts,
)
from xmlc.data.synthetic.subjects import SubjectTexts
from xmlc.kernels import counter_random
from xmlc.kernels.counter_random import Stream, random_unit
from xmlc.suite.steps.synth import make_dataset


def stream_key(seed, task):
    return np.uint64(counter_random.stream_key(seed, task))


def view_of(seed, thing, view, d):
    """Return the histogram of one view, computed surface by surface."""
    key = stream_key(seed, Stream.SYNTHETIC_LABEL + thing)
    own = stream_key(seed, Stream.SYNTHETIC_ROW + VIEWS * thing + view)
    turned = 2 * math.pi * view / AZIMUTHS if view < AZIMUTHS else 0
    of_light = view - AZIMUTHS
    of_colour = view - AZIMUTHS - DIRECTIONS
    values = np.full(d, BACKGROUND)
    for s in range(SURFACES):
        centre, width, faces, size = (random_unit(key, NUMBERS * s + i) for i in range(NUMBERS))
        seen = (0.2 + size) * (FROM_BEHIND + max(math.cos(turned - 2 * math.pi * faces), 0))
        if 0 <= of_light < DIRECTIONS:
            seen *= 0.2 + max(math.cos(2 * math.pi * (of_light / DIRECTIONS - faces)), 0)
        if of_colour >= 0:
            centre += COLOUR_SHIFT * (2 * of_colour / (COLOURS - 1) - 1)
        middles = (np.arange(d) + 0.5) / d
        values += seen * np.exp(-(((middles - centre) / (0.01 + 0.05 * width)) ** 2) / 2)
    values *= [1 + NOISE * (2 * random_unit(own, f) - 1) for f in range(d)]
    return values / values.sum()


def test_view_equals_sum_of_surfaces():
    model = ObjectViews(32, 4, seed=5)
    X, Y, P = model.draw(0, 4 * VIEWS)
    assert P is None
    for i, pair in enumerate(model._pairs.tolist()):
        thing, view = divmod(pair, VIEWS)
        assert Y[[i]].indices.tolist() == [thing]
        np.testing.assert_allclose(X[[i]].toarray()[0], view_of(5, thing, view, 32), atol=0.51e-4)


def test_texts_count_common_words_and_topic_words():
    X, Y, _ = ShortTexts(500, 7, 25, seed=3).draw(0, 40)
    for i in range(40):
        topic = stream_key(3, Stream.SYNTHETIC_LABEL + i % 7)
        own = stream_key(3, Stream.SYNTHETIC_ROW + i)
        counts = np.zeros(500)
        for w in range(25):
            u = random_unit(own, 2 * w + 1)
            if random_unit(own, 2 * w) < TOPIC_SHARE:
                u = random_unit(topic, int(u * TOPIC_WORDS))
            counts[popular_feature(u, 500)] += 1
        np.testing.assert_array_equal(X[[i]].toarray()[0], counts)
        assert Y[[i]].indices.tolist() == [i % 7]
    assert X.has_sorted_indices


@pytest.mark.parametrize(
    "model",
    [
        ObjectViews(16, 3, seed=2),
        ShortTexts(200, 5, 12, seed=2),
        SubjectTexts(400, 80, 2.5, 40, seed=7),
    ],
)
def test_rows_do_not_depend_on_blocks_or_threads(model, monkeypatch):
    whole = [matrix for matrix in model.draw(0, 300, n_jobs=1) if matrix is not None]
    for module in (few_shot, drawing):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 64)
    assert all(map(equal_bits, whole, model.draw(0, 300, n_jobs=2)))
    assert all(map(equal_bits, [matrix[100:150] for matrix in whole], model.draw(100, 150)))


def test_missing_rows_are_refused():
    with raises_with(XmlcError, "200 to 216"):
        ObjectViews(16, 2).draw(200, 217)


def test_dataset_without_posteriors_is_written_as_drawn(tmp_path):
    sizes = {"n_train": 200, "n_test": 16, "n_features": 16, "n_labels": 2}
    make_dataset("few", "objects", sizes, tmp_path / "few", 1)
    for drawn, read in zip(ObjectViews(16, 2).draw(200, 216), load(tmp_path / "few/test.txt")):
        np.testing.assert_array_equal(read.toarray(), drawn.toarray())
    assert not list((tmp_path / "few").glob("*.P*"))
    with raises_with(XmlcError, "odd", "nonzeros", "objects", "seed"):
        make_dataset("odd", "objects", sizes | {"nonzeros": 4}, tmp_path / "odd", 1)
