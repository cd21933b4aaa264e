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
    for s in label_sets:
        ideal.append(
            round(FIXED_POINT / sum(1 / math.log2(2 + r) for r in range(len(s)))) if s else 0
        )
    if not normalised:
        ideal = [FIXED_POINT if s else 0 for s in label_sets]
    previous = -1.0
    while True:
        gains = {}
        for sign in (1, -1):
            sums = [0] * n_labels
            for s, own, gain in zip(side, label_sets, ideal):
                for label in own if s == sign else []:
                    sums[label] += gain
            gains[sign] = [0] * n_labels
            for r, label in enumerate(rank(sums, weights)):
                gains[sign][label] = math.floor(
                    float(weights[label]) / math.log2(2 + r) * FIXED_POINT + 0.5
                )
        for i, own in enumerate(label_sets):
            if (difference := sum(gains[1][label] - gains[-1][label] for label in own)) != 0:
                side[i] = 1 if difference > 0 else -1
        value = sum(
            ideal[i] * sum(gains[side[i]][label] for label in own)
            for i, own in enumerate(label_sets)
        )
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
            margin = float(forest.biases[node]) + float(
                x[forest.features[own]] @ forest.weights[own].astype(float)
            )
            node = int(forest.children[2 * node + (margin >= 0)])
        leaf = ~node
        for k in range(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1]):
            share = Fraction(int(forest.counts[k]), int(forest.sizes[leaf]))
            label = int(forest.labels[k])
            shares[label] = shares.get(label, Fraction(0)) + share / len(forest.roots)
    return shares, passed
