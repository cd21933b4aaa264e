"""Synthetic multi-class data: kernels. See `xmlc.data.synthetic.few_shot` for the models."""

from __future__ import annotations

import math

import numpy as np

from xmlc.data.synthetic._labels import popular_feature
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.float64 import cos, exp
from xmlc.kernels.streams import Stream
from xmlc.runtime.kernel_cache import njit

VIEWS = 108  # of each object, as in ALOI: so many azimuths, then directions and then colours of the light
AZIMUTHS, DIRECTIONS, COLOURS = 72, 24, 12
SURFACES = 5  # of an object, each of one colour
NUMBERS = 4  # that describe a surface
FROM_BEHIND = 0.4  # of a surface is seen from any side; what faces the viewer adds 1
BACKGROUND = 2e-3  # a bin's least expected share, before all are brought to the sum 1
VALUE_STEPS = 10000  # values are multiples of 1e-4, which short text represents


@njit(cache=True, nogil=True)
def draw_views(seed, pairs, n_features, shift, noise):
    """Draw histograms of objects under views.

    Parameters
    ----------
    seed : int64
    pairs : int64 (n,)
        Object times `VIEWS` plus view.
    n_features : int64
        Bins d.
    shift : float64
        By how much of the scale of colours the light's colour moves a surface's, at most, to either side.
    noise : float64
        A bin is its expected share times a number uniform in 1 - noise .. 1 + noise.

    Returns
    -------
    float32 (n, d)
        Rows sum to about 1. O(n d SURFACES).
    """
    rows = np.zeros((pairs.size, n_features), dtype=np.float32)
    bins = np.empty(n_features, dtype=np.float64)
    for i in range(pairs.size):
        view = pairs[i] % VIEWS
        key = stream_key(seed, Stream.SYNTHETIC_LABEL.value + pairs[i] // VIEWS)
        azimuth = 2 * math.pi * view / AZIMUTHS if view < AZIMUTHS else 0.0
        light = 2 * math.pi * (view - AZIMUTHS) / DIRECTIONS
        lit_from_a_side = AZIMUTHS <= view < AZIMUTHS + DIRECTIONS
        moved = 0.0
        if view >= AZIMUTHS + DIRECTIONS:
            moved = shift * (2.0 * (view - AZIMUTHS - DIRECTIONS) / (COLOURS - 1) - 1.0)
        bins[:] = BACKGROUND
        for s in range(SURFACES):
            centre = random_unit(key, NUMBERS * s) + moved
            width = 0.01 + 0.05 * random_unit(key, NUMBERS * s + 1)
            faces = 2 * math.pi * random_unit(key, NUMBERS * s + 2)
            shown = (0.2 + random_unit(key, NUMBERS * s + 3)) * (FROM_BEHIND + max(cos(azimuth - faces), 0.0))
            if lit_from_a_side:
                shown *= 0.2 + max(cos(light - faces), 0.0)
            for f in range(n_features):
                distance = ((f + 0.5) / n_features - centre) / width
                bins[f] += shown * exp(-0.5 * distance * distance)
        own = stream_key(seed, Stream.SYNTHETIC_ROW.value + pairs[i])
        for f in range(n_features):
            bins[f] *= 1.0 + noise * (2.0 * random_unit(own, f) - 1.0)
        total = bins.sum()
        for f in range(n_features):
            rows[i, f] = np.float32(np.rint(bins[f] / total * VALUE_STEPS) / VALUE_STEPS)
    return rows


@njit(cache=True, nogil=True)
def draw_texts(seed, start, end, n_features, n_labels, n_words, topic_words, topic_share):
    """Draw texts ``start .. end - 1`` as counts of words; text i is about topic i modulo ``n_labels``.

    Parameters
    ----------
    seed, start, end, n_features, n_labels : int64
    n_words : int64
        Words of a text.
    topic_words : int64
        Words that a topic has of its own, drawn like all words: common ones are other topics' too.
    topic_share : float64
        Share of a text's words that are its topic's.

    Returns
    -------
    lengths : int64 (n,)
        Distinct words of each text.
    words : int32, counts : float32
        Text after text, ascending; O(n_words log n_words) each.
    """
    n = end - start
    lengths = np.zeros(n, dtype=np.int64)
    words, counts = np.empty(n * n_words, dtype=np.int32), np.empty(n * n_words, dtype=np.float32)
    drawn = np.empty(n_words, dtype=np.int64)
    filled = 0
    for i in range(n):
        topic = stream_key(seed, Stream.SYNTHETIC_LABEL.value + (start + i) % n_labels)
        own = stream_key(seed, Stream.SYNTHETIC_ROW.value + start + i)
        for w in range(n_words):
            u = random_unit(own, 2 * w + 1)
            if random_unit(own, 2 * w) < topic_share:
                u = random_unit(topic, np.int64(u * topic_words))
            drawn[w] = popular_feature(u, n_features)
        drawn.sort()
        first = filled
        for w in range(n_words):
            if filled == first or words[filled - 1] != drawn[w]:
                words[filled], counts[filled] = drawn[w], 0
                filled += 1
            counts[filled - 1] += 1
        lengths[i] = filled - first
    return lengths, words[:filled], counts[:filled]
