"""Compute tail classifiers in plain, slow Python. xmlc.models.tail_classifiers must compute equal
values.
"""

import numpy as np


def unit(x):
    length = np.sqrt((x**2).sum())
    return x / length if length > 0 else x


def centroids(X, Y, unit_norm=True):
    """Return the mean instance of each label, dense and in double precision, or 0 for a label
    without instances.
    """
    instances = [unit(x) if unit_norm else x for x in X.toarray().astype(np.float64)]
    result = np.zeros((Y.shape[1], X.shape[1]))
    for label, members in enumerate(Y.toarray().T):
        if own := [instance for instance, member in zip(instances, members) if member]:
            result[label] = np.mean(own, axis=0)
    return result


def probabilities(X, means, gamma, unit_norm=True):
    """Return B of every instance and label, by the formula."""
    B = np.zeros((X.shape[0], means.shape[0]))
    for i, x in enumerate(X.toarray().astype(np.float64)):
        for label, mean in enumerate(means):
            difference = (unit(x) if unit_norm else x) - mean
            B[i, label] = 1 / (1 + np.exp(gamma / 2 * (difference @ difference)))
    return B
