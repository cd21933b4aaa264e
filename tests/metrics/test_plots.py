"""Figures of measures: their lines, compared with counts label by label."""

import sys

import numpy as np
from facts import raises_with
from small_data import random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.metrics import macro_f, plot_macro_f, plot_precision_by_frequency, plot_reliability
from xmlc.metrics.plots import THRESHOLDS
from xmlc.thresholds import apply_thresholds


def test_macro_f_plot_shows_three_conventions():
    _, Y = random_multilabel(30, 5, 6)
    spe = np.random.default_rng(1).random((30, 6)) * (0.3 + 0.7 * Y.toarray())
    ax = plot_macro_f(Y, spe)
    assert plot_macro_f(Y, spe, thresholds=[0.25, 0.5], ax=ax) is ax
    ways = [{"zero_division": 1}, {"zero_division": 0}, {"average": "present"}] * 2
    thresholds = [THRESHOLDS] * 3 + [(0.25, 0.5)] * 3
    for line, way, values in zip(ax.lines, ways, thresholds, strict=True):
        expected = [100 * macro_f(Y, apply_thresholds(spe, value), **way) for value in values]
        np.testing.assert_allclose(line.get_ydata(), expected)
        np.testing.assert_allclose(line.get_xdata(), values)


def test_precision_plot_groups_labels_by_frequency():
    Y_train = np.arange(30)[:, None] < [0, 1, 3, 2, 4, 7, 8, 20, 30]
    Y = random_multilabel(20, 5, 9, seed=2)[1].toarray()
    labels = np.argsort(np.random.default_rng(3).random((20, 9)))[:, :3]
    labels[4, 2] = -1
    ranked = (labels[:, :, None] == np.arange(9)).any(axis=1)
    groups = {0: [0], 1: [1], 2: [2, 3], 4: [4, 5], 8: [6], 16: [7, 8]}
    lines = plot_precision_by_frequency(Y_train, Y, labels).lines
    for line, of in zip(lines, (ranked, Y), strict=True):
        assert line.get_xdata().tolist() == [*groups]
        expected = [100 * (ranked & Y)[:, g].sum() / of[:, g].sum() for g in groups.values()]
        np.testing.assert_allclose(line.get_ydata(), expected)


def test_reliability_plot_groups_labels_by_frequency():
    rng = np.random.default_rng(4)
    Y_train = np.arange(1000)[:, None] < [0, 1, 9, 10, 99, 100, 5]
    spe = (rng.random((400, 7)) ** 2 * (rng.random((400, 7)) < 0.6)).astype(np.float32)
    spe[:, 0] /= 3  # the sum suffices for few bins only
    Y = rng.random((400, 7)) < spe
    # the last label has no estimates but 10 % positives
    spe[:, 6] = 0
    Y[:40, 6] = True
    lines = plot_reliability(Y_train, Y, spe).lines[:-1]  # The last line is the diagonal.
    groups = {"0": [0], "1 to 9": [1, 2, 6], "10 to 99": [3, 4], "100 to 999": [5]}
    for line, (name, labels) in zip(lines, groups.items(), strict=True):
        pairs = np.column_stack([spe[:, labels].ravel(), Y[:, labels].ravel()]).astype(float)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        pairs = pairs[pairs[:, 0] > 0]
        sums = np.cumsum(pairs[:, 0])
        assert line.get_label() == f"{name}: {sums[-1] / Y[:, labels].sum():.2f}"
        n_bins = min(10, max(1, int(sums[-1] / 10)))
        ends = np.searchsorted(sums, sums[-1] * np.arange(1, n_bins) / n_bins + 1e-9)
        expected = [part.mean(axis=0) for part in np.split(pairs, ends)]
        np.testing.assert_allclose(line.get_xydata(), expected)
    assert len(lines[0].get_xdata()) < len(lines[1].get_xdata()) == 10


def test_reliability_plot_shows_ties_and_groups_without_positives():
    Y = [[0, 1]] * 5 + [[0, 0]] * 20
    one, other, _ = plot_reliability([[0, 1]], Y, [[0.5, 1.0]] * 25).lines
    assert one.get_label() == "0: no true labels"
    assert one.get_xydata().tolist() == [[0.5, 0.0]]
    assert other.get_label() == "1 to 9: 5.00"
    # ties keep the order of instances
    assert other.get_xydata().tolist() == [[1.0, 5 / 12], [1.0, 0.0]]


def test_error_without_matplotlib_shows_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with raises_with(XmlcError, "pip install '.[workflow]'"):
        plot_macro_f([[1]], [[0.5]])
