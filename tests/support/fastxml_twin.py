"""Compute FastXML step by step in plain, slow Python."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from xmlc.models.fastxml._partition import FIXED_POINT, GAIN_TOLERANCE


def rank(sums, weights):
    """Return the labels in descending order of their weighted sums, rounded to integers.

    In ties, the smaller label is first.
    """
    scores = [math.floor(float(s) * float(w) + 0.5) for s, w in zip(sums, weights, strict=True)]
    return sorted(range(len(sums)), key=lambda label: (-scores[label], label))


def partition(label_sets, weights, side, normalised=True):
    """Rank labels and move instances in turns until nDCG (or DCG) increases by less than the
    tolerance.

    Return the side of each instance and the last value of nDCG (or DCG).
    """
    n_labels = len(weights)
    side = list(side)
    ideal = []
    for labels in label_sets:
        best = 1
        if normalised:
            best = sum(1 / math.log2(2 + r) for r in range(len(labels)))
        ideal.append(round(FIXED_POINT / best) if labels else 0)
    previous = -1.0
    while True:
        gains = {}
        for sign in (1, -1):
            sums = [0] * n_labels
            for own, labels, gain in zip(side, label_sets, ideal):
                if own == sign:
                    for label in labels:
                        sums[label] += gain
            gains[sign] = {}
            for r, label in enumerate(rank(sums, weights)):
                gain = float(weights[label]) / math.log2(2 + r) * FIXED_POINT
                gains[sign][label] = math.floor(gain + 0.5)
        value = 0
        for i, labels in enumerate(label_sets):
            on = {sign: sum(gains[sign][label] for label in labels) for sign in (1, -1)}
            if on[1] != on[-1]:
                side[i] = max(on, key=on.get)
            value += ideal[i] * on[side[i]]
        value /= FIXED_POINT * FIXED_POINT * max(1, len(side))
        if value - previous < GAIN_TOLERANCE:
            return side, value
        previous = value


def objective(X, side, costs, weights):
    """Return sum |w| + sum of cost * logistic loss.

    X is dense and includes the constant feature.
    """
    margins = X @ weights
    own = np.where(side > 0, costs[0], costs[1])
    return np.abs(weights).sum() + (own * np.logaddexp(0, -side * margins)).sum()


def estimates_of(forest, x):
    """Return each label's exact mean share over the leaves that x reaches, and the number of inner
    nodes passed.
    """
    shares = {}
    passed = 0
    for root in forest.roots:
        node = int(root)
        while node >= 0:
            passed += 1
            own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
            margin = forest.biases[node] + x[forest.features[own]] @ forest.weights[own].astype(
                float
            )
            node = int(forest.children[2 * node + (margin >= 0)])
        own = slice(forest.leaf_starts[~node], forest.leaf_starts[~node + 1])
        for label, count in zip(forest.labels[own].tolist(), forest.counts[own].tolist()):
            share = Fraction(count, int(forest.sizes[~node]))
            shares[label] = shares.get(label, 0) + share / len(forest.roots)
    return shares, passed
