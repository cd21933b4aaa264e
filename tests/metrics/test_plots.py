"""Figures of measures: their lines, compared with counts label by label."""

import sys
from itertools import product

import numpy as np
import pytest
from facts import raises_with
from small_data import random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.metrics import macro_f, plot_macro_f, plot_precision_by_frequency, plot_reliability
from xmlc.metrics.plots import THRESHOLDS


def test_macro_f_plot_shows_three_conventions():
    _, Y = random_multilabel(30, 5, 6)
    spe = (np.random.default_rng(1).random((30, 6)) * (0.3 + 0.7 * Y.toarray())).astype(np.float32)
    ax = plot_macro_f(Y, spe)
    assert plot_macro_f(Y, spe, thresholds=[0.25, 0.5], ax=ax) is ax
    ways = [{"zero_division": 1}, {"zero_division": 0}, {"average": "present"}] * 2
    assert len(ax.lines) == len(ways)
    for i, (line, way) in enumerate(zip(ax.lines, ways)):
        thresholds = THRESHOLDS if i < 3 else (0.25, 0.5)
        expected = [
            100 * macro_f(Y, (spe > np.float32(threshold)).astype(int), **way)
            for threshold in thresholds
        ]
        np.testing.assert_allclose(line.get_ydata(), expected)
        np.testing.assert_allclose(line.get_xdata(), thresholds)


def test_precision_plot_groups_labels_by_frequency():
    _, Y_train = random_multilabel(40, 5, 9, seed=1)
    _, Y = random_multilabel(20, 5, 9, seed=2)
    Y_train = Y_train.toarray()
    Y = Y.toarray()
    Y_train[:, :3] = False
    Y_train[0, 1] = Y_train[:3, 2] = True
    rng = np.random.default_rng(3)
    labels = np.array([rng.permutation(9)[:3] for _ in range(20)])
    labels[4, 2] = -1
    precise, found = plot_precision_by_frequency(Y_train, Y, labels).lines
    ranked = {}
    right = {}
    true = {}
    for i in range(20):
        for j in range(9):
            group = 2 ** int(np.log2(Y_train[:, j].sum())) if Y_train[:, j].any() else 0
            ranked[group] = ranked.get(group, 0) + (j in labels[i])
            true[group] = true.get(group, 0) + Y[i, j]
            right[group] = right.get(group, 0) + (Y[i, j] and j in labels[i])
    assert {0, 1, 2} <= right.keys()
    for line, of in ((precise, ranked), (found, true)):
        assert dict(zip(line.get_xdata(), line.get_ydata())) == pytest.approx(
            {group: 100 * right[group] / count for group, count in of.items() if count}
        )


def test_reliability_plot_groups_labels_by_frequency():
    # the last label has no estimates but 10 % positives
    n = 400
    frequencies = [0, 1, 9, 10, 99, 100, 5]
    rng = np.random.default_rng(4)
    Y_train = np.arange(1000)[:, None] < frequencies
    spe = (rng.random((n, 7)) ** 2 * (rng.random((n, 7)) < 0.6) * (np.arange(7) < 6)).astype(
        np.float32
    )
    spe[:, 0] /= 3  # the sum suffices for few bins only
    Y = rng.random((n, 7)) < np.where(np.arange(7) < 6, spe, 0.1)
    lines = plot_reliability(Y_train, Y, spe).lines[:-1]  # The last line is the diagonal.
    groups = {"0": [0], "1 to 9": [1, 2, 6], "10 to 99": [3, 4], "100 to 999": [5]}
    assert [line.get_label().split(":")[0] for line in lines] == list(groups)
    assert len(lines[0].get_xdata()) < len(lines[1].get_xdata()) == 10
    for line, labels in zip(lines, groups.values()):
        pairs = sorted(
            (float(spe[i, j]), bool(Y[i, j])) for i, j in product(range(n), labels) if spe[i, j] > 0
        )
        total = sum(p for p, _ in pairs)
        assert line.get_label().endswith(f": {total / Y[:, labels].sum():.2f}")
        n_bins = min(10, max(1, int(total / 10)))
        bins = [[] for _ in range(n_bins)]
        below = 0.0
        for pair in pairs:
            below += pair[0]
            bins[next(b for b in range(n_bins) if below <= total * (b + 1) / n_bins + 1e-9)].append(
                pair
            )
        np.testing.assert_allclose(line.get_xydata(), [np.mean(pairs, axis=0) for pairs in bins])


def test_reliability_plot_shows_ties_and_groups_without_positives():
    one, other, _ = plot_reliability(
        [[0, 1]], [[0, 1]] * 5 + [[0, 0]] * 20, [[0.5, 1.0]] * 25
    ).lines
    assert (one.get_label(), other.get_label()) == ("0: no true labels", "1 to 9: 5.00")
    assert one.get_xydata().tolist() == [[0.5, 0.0]]
    # ties keep the order of instances
    assert other.get_xydata().tolist() == [[1.0, 5 / 12], [1.0, 0.0]]


def test_error_without_matplotlib_shows_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with raises_with(XmlcError, "pip install '.[workflow]'"):
        plot_macro_f([[1]], [[0.5]])
