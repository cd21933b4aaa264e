"""Plots of macro-F against thresholds, and of precision and calibration by label frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xmlc.core.errors import needs_extra
from xmlc.kernels.csr import Matrix, as_estimates, as_labels, rounded
from xmlc.metrics.classification import groups_by_frequency, macro_f
from xmlc.metrics.hits import hits_at_k

CONVENTIONS: dict[str, dict[str, Any]] = {
    "0/0 = 1": {},
    "0/0 = 0": {"zero_division": 0.0},
    "labels present": {"average": "present"},
}
THRESHOLDS = tuple((10.0 ** np.arange(-3, -0.25, 0.125)).tolist())


def plot_macro_f(
    Y: Matrix, spe: Matrix, thresholds: Sequence[float] = THRESHOLDS, ax: Any = None
) -> Any:
    """Plot macro-F against a common threshold, with a curve for each ``zero_division``.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    spe : csr_array of float32, shape (n, m)
        Probability estimates.
    thresholds : sequence of float
        Thresholds above 0.
    ax : matplotlib Axes, optional
        Axes to draw on, by default of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    XmlcError
        If matplotlib is missing, or the arguments do not suit each other.

    See Also
    --------
    macro_f : Computes the values.
    xmlc.thresholds.CommonThreshold : Finds the best common threshold of other averages.

    Examples
    --------
    >>> from xmlc.metrics import plot_macro_f
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> ax = plot_macro_f([[1, 1], [1, 0], [0, 0]], spe, thresholds=[0.25, 0.5])
    >>> ax.lines[0].get_ydata().round(1)
    array([100. ,  33.3])
    """
    Y = as_labels(Y)
    spe = as_estimates(spe, np.float32)
    ax = ax or new_axes()
    sets = [spe > limit for limit in rounded(thresholds)]
    for title, convention in CONVENTIONS.items():
        ax.plot(
            thresholds,
            [100 * macro_f(Y, predicted, **convention) for predicted in sets],
            marker=".",
            label=title,
        )
    ax.set(xscale="log", xlabel="threshold", ylabel="macro-F, %")
    ax.legend()
    return ax


def plot_precision_by_frequency(
    Y_train: Matrix, Y: Matrix, labels: np.ndarray, ax: Any = None
) -> Any:
    """Plot precision and recall of ranked labels against label frequency.

    Precision is the share of ranked labels that are true, and recall the share of true labels that
    are ranked. Labels are grouped by their number of training instances, with groups that begin at
    powers of two: 0, 1, 2 and 3, 4 to 7, and so on.

    Parameters
    ----------
    Y_train : boolean CSR, shape (n_train, m)
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int, shape (n, k)
        The k best labels of each instance, padded with -1.
    ax : matplotlib Axes, optional
        Axes to draw on, by default of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    XmlcError
        If matplotlib is missing, or the arguments do not suit each other.

    See Also
    --------
    plot_reliability : Calibration by frequency.

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.metrics import plot_precision_by_frequency
    >>> Y_train, Y = [[1, 0, 1], [0, 1, 1], [0, 0, 1]], [[1, 0, 1], [0, 1, 0]]
    >>> ax = plot_precision_by_frequency(Y_train, Y, np.array([[2, 0], [2, 0]]))
    >>> ax.lines[0].get_ydata()  # labels 0 and 2 are each right once in two predictions
    array([50., 50.])
    """
    Y = as_labels(Y)
    labels = np.asarray(labels)
    ax = ax or new_axes()
    relevant, _ = hits_at_k(Y, labels, labels.shape[1])
    # Frequencies with equally many binary digits form a group
    group_of = np.frexp(as_labels(Y_train).sum(axis=0))[1]
    n_groups = group_of.max() + 1
    right = np.bincount(group_of[labels[relevant]], minlength=n_groups)
    tried = np.bincount(group_of[labels[labels >= 0]], minlength=n_groups)
    true = np.bincount(group_of[Y.indices], minlength=n_groups)
    fewest = 2 ** np.arange(right.size) // 2
    for title, of in {"precision": tried, "recall": true}.items():
        ax.plot(fewest[of > 0], 100 * right[of > 0] / of[of > 0], marker=".", label=title)
    ax.set_xscale("symlog", base=2)
    ax.set(xlabel="training instances per label (lower bound)", ylabel=f"%, k = {labels.shape[1]}")
    ax.legend()
    return ax


def plot_reliability(Y_train: Matrix, Y: Matrix, spe: Matrix, ax: Any = None) -> Any:
    """Plot a calibration curve for each group of labels with similar frequency.

    A point shows the share of true labels in a bin against its mean estimate, so calibrated
    estimates lie on the diagonal, and too low ones above it. The bins of a group have equal sums of
    estimates, of at least ten, and there are at most ten of them. The legend shows the sum of each
    group's estimates, divided by its number of true labels, also those without an estimate.

    Parameters
    ----------
    Y_train : boolean CSR, shape (n_train, m)
        Training labels, which determine the groups (`groups_by_frequency`). Frequencies in ``Y``
        would mislead: if a label is rare in ``Y`` by chance, its estimates look too high.
    Y : boolean CSR, shape (n, m)
    spe : csr_array of float32, shape (n, m)
        Probability estimates for instances that the model was not trained on.
    ax : matplotlib Axes, optional
        Axes to draw on, by default of a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    XmlcError
        If matplotlib is missing, or the arguments do not suit each other.

    See Also
    --------
    ece_at_k : The calibration error in a number.
    xmlc.thresholds.IsotonicCalibration : Calibrates estimates.

    Examples
    --------
    >>> from xmlc.metrics import plot_reliability
    >>> Y_train, Y, spe = [[1, 0], [1, 1]], [[1, 1], [0, 0]], [[0.75, 0.5], [0.25, 0.5]]
    >>> ax = plot_reliability(Y_train, Y, spe)
    >>> ax.lines[0].get_xdata(), ax.lines[0].get_ydata(), ax.lines[0].get_label()
    (array([0.5]), array([0.5]), '1 to 9: 1.00')
    """
    Y = as_labels(Y)
    spe = as_estimates(spe, np.float32)
    ax = ax or new_axes()
    digits = groups_by_frequency(Y_train)
    true = np.asarray(Y[spe.nonzero()]).ravel() != 0
    for group in np.unique(digits[spe.indices]):
        of = np.flatnonzero(digits[spe.indices] == group)
        of = of[np.argsort(spe.data[of], kind="stable")]
        sums = np.cumsum(spe.data[of], dtype=float)
        bins = np.ceil(sums / sums[-1] * np.clip(sums[-1] // 10, 1, 10)).astype(int) - 1
        count = np.bincount(bins)
        estimated = np.bincount(bins, spe.data[of])
        right = np.bincount(bins, true[of])
        positives = np.count_nonzero(digits[Y.indices] == group)
        frequencies = "0"
        if group:
            frequencies = f"{10 ** (group - 1):,} to {10**group - 1:,}"
        ratio = "no true labels"
        if positives:
            ratio = f"{sums[-1] / positives:.2f}"
        ax.plot(estimated / count, right / count, marker=".", label=f"{frequencies}: {ratio}")
    ax.axline((0.1, 0.1), (1, 1), color="grey", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="mean estimate", ylabel="share of true labels")
    small = {"fontsize": "small", "title_fontsize": "small", "handlelength": 1}
    ax.legend(title="training instances:\nestimates / true", loc="upper left", **small)
    return ax


def new_axes() -> Any:
    """Return the axes of a new figure, or raise an error that asks for matplotlib."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise needs_extra("matplotlib is not installed", "workflow") from error
    return pyplot.subplots()[1]
