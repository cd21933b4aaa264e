"""How much the true and the predicted set overlap: F_beta and Jaccard as one family.

A set is that of a label's instances, of an instance's labels, or of all pairs; the averages over them are in
``xmlc.metrics.classification``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from xmlc.errors import XmlcError


class Overlap(NamedTuple):
    """The measure gain * TP / (recall * P + predicted - shared * TP) of two sets; 1 where they are equal.

    F_beta has gain 1 + beta^2, recall beta^2 and shared 0 (van Rijsbergen, 1979; beta = 1 is plt2016, equation (1)),
    Jaccard's ``|intersection| / |union|`` is 1, 1, 1. All of them grow with TP / (recall * P + predicted), so of
    several predictions of one set those with the same ``recall`` prefer the same; in particular Jaccard = F / (2 - F).

    Attributes
    ----------
    gain, recall, shared : float
    """

    gain: float
    recall: float
    shared: float

    def of(
        self, hits: np.ndarray, positives: np.ndarray, predicted: np.ndarray, zero_division: float = 1.0
    ) -> np.ndarray:
        """Return the measure elementwise, float64 of the arguments' common shape.

        Parameters
        ----------
        hits, positives, predicted : ndarray of int
            Sizes of the intersection (TP), of the true set (P) and of the predicted set.
        zero_division : float
            The value of two empty sets.
        """
        total = self.recall * positives + predicted - self.shared * hits
        return np.where(total > 0, self.gain * hits / np.where(total > 0, total, 1.0), zero_division)


def f_beta(beta: float) -> Overlap:
    """Return F_beta, in which recall counts beta times as much as precision.

    Raises
    ------
    XmlcError
        ``beta`` is not a finite number above 0.
    """
    if not (beta > 0 and math.isfinite(beta)):
        raise XmlcError(f"beta={beta}: expected a finite number above 0; 1 is the F-measure, 2 prefers recall")
    return Overlap(1.0 + beta * beta, float(beta * beta), 0.0)


F1 = f_beta(1.0)
JACCARD = Overlap(1.0, 1.0, 1.0)
