"""Figures of what no table says: F by threshold, precision by the frequency of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.kernels.csr import as_estimates, as_labels
from xmlc.metrics.classification import macro_f

CONVENTIONS: dict[str, dict[str, Any]] = {"0/0 = 1": {}, "0/0 = 0": {"zero_division": 0.0}}
CONVENTIONS |= {"labels present": {"average": "present"}}
THRESHOLDS = tuple((10.0 ** np.arange(-3, -0.25, 0.125)).tolist())


def plot_macro_f(Y: object, spe: object, thresholds: Sequence[float] = THRESHOLDS, ax: Any = None) -> Any:
    """Draw macro-F against one threshold for all labels, by the conventions for 0/0.

    Parameters
    ----------
    Y : boolean CSR, shape (n, m)
    spe : csr_array of float32, shape (n, m)
        Estimates.
    thresholds : sequence of float
        Above 0.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from xmlc.metrics import plot_macro_f
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> ax = plot_macro_f([[1, 1], [1, 0], [0, 0]], spe, thresholds=[0.25, 0.5])
    >>> ax.lines[0].get_ydata().round(1)
    array([100. ,  33.3])
    """
    Y, spe, ax = as_labels(Y), as_estimates(spe), ax or new_axes()
    sets = [spe > np.float32(threshold) for threshold in thresholds]
    for title, convention in CONVENTIONS.items():
        ax.plot(thresholds, [100 * macro_f(Y, predicted, **convention) for predicted in sets], marker=".", label=title)
    ax.set(xscale="log", xlabel="threshold", ylabel="macro-F, %")
    ax.legend()
    return ax


def plot_precision_by_frequency(Y_train: object, Y: object, labels: np.ndarray, ax: Any = None) -> Any:
    """Draw how many of the labels ranked are right, and how many of the true ones are ranked, by their frequency.

    Labels are taken together whose numbers of training instances have the same power of two: 0, 1, 2 and 3, 4 to 7.

    Parameters
    ----------
    Y_train : boolean CSR, shape (n_train, m)
    Y : boolean CSR, shape (n, m)
    labels : ndarray of int, shape (n, k)
        The k best labels of each instance; -1 for none.
    ax : matplotlib Axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from xmlc.metrics import plot_precision_by_frequency
    >>> Y_train, Y = [[1, 0, 1], [0, 1, 1], [0, 0, 1]], [[1, 0, 1], [0, 1, 0]]
    >>> ax = plot_precision_by_frequency(Y_train, Y, np.array([[2, 0], [2, 0]]))
    >>> ax.lines[0].get_ydata()  # label 0 is right once of two times, label 2 too
    array([50., 50.])
    """
    Y, ax = as_labels(Y), ax or new_axes()
    group_of = np.frexp(as_labels(Y_train).sum(axis=0))[1]  # the number of binary digits
    rows = np.repeat(np.arange(labels.shape[0]), labels.shape[1])[labels.ravel() >= 0]
    ranked = labels[labels >= 0]
    hits = ranked[np.asarray(Y[rows, ranked]).ravel() != 0]
    right, tried, true = (np.bincount(group_of[one], minlength=group_of.max() + 1) for one in (hits, ranked, Y.indices))
    fewest = 2 ** np.arange(right.size) // 2
    for title, of in {"right of those ranked": tried, "ranked of those true": true}.items():
        ax.plot(fewest[of > 0], 100 * right[of > 0] / of[of > 0], marker=".", label=title)
    ax.set_xscale("symlog", base=2)
    ax.set(xlabel="training instances of the label, at least", ylabel=f"%, k = {labels.shape[1]}")
    ax.legend()
    return ax


def new_axes() -> Any:
    """Return the axes of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise XmlcError("figures need matplotlib; install the extra: pip install 'xmlc[workflow]'") from error
    return pyplot.subplots()[1]
