"""How often features or labels occur, and how many different ones a part of the instances is expected to have."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

POINTS = 400  # at which a distribution is held
BISECTIONS = 40


class Summary(Protocol):
    """A five-number summary of counts, and their mean."""

    @property
    def min(self) -> float:
        """The smallest."""

    @property
    def lower_quartile(self) -> float:
        """A quarter is at most this."""

    @property
    def median(self) -> float:
        """Half is at most this."""

    @property
    def upper_quartile(self) -> float:
        """Three quarters are at most this."""

    @property
    def max(self) -> float:
        """The largest."""

    @property
    def mean(self) -> float:
        """The average."""


class Occurrences(NamedTuple):
    """How many instances each of some features, or labels, occurs in.

    Attributes
    ----------
    kinds : float
        How many features occur.
    counts : ndarray of float64, shape (k,)
        Numbers of instances, at as many quantiles of equal weight.
    """

    kinds: float
    counts: np.ndarray

    @classmethod
    def of_summary(cls, kinds: float, summary: Summary) -> Self:
        """Draw a distribution through its quartiles, geometric between them; its upper quarter is a power of the rank.

        The power is the one with which the mean is right.
        """
        quantiles = (np.arange(POINTS) + 0.5) / POINTS
        known = [summary.min, summary.lower_quartile, summary.median, summary.upper_quartile]
        counts = np.exp(np.interp(quantiles, [0, 0.25, 0.5, 0.75], np.log(np.maximum(known, 1.0))))
        top = quantiles > 0.75
        low, high = 0.0, 10.0
        for _ in range(BISECTIONS):
            power = (low + high) / 2
            counts[top] = np.minimum(
                max(summary.upper_quartile, 1.0) * (0.25 / (1 - quantiles[top])) ** power, summary.max
            )
            low, high = (low, power) if counts.mean() > summary.mean else (power, high)
        return cls(float(kinds), counts)

    @classmethod
    def zipf(cls, kinds: float, total: float, most: float) -> Self:
        """Suppose that the r-th most frequent occurs in proportion to 1 / r, where nothing but a total is known."""
        ranks = np.maximum((np.arange(POINTS) + 0.5) / POINTS * kinds, 1.0)
        counts = 1 / ranks
        for _ in range(BISECTIONS):  # none occurs more often than there are instances, nor never
            counts = np.clip(counts * (total / kinds / counts.mean()), 1.0, most)
        return cls(float(kinds), counts)

    def within(self, share: float | np.ndarray) -> np.ndarray:
        """Return how many different ones occur in a random share of the instances."""
        missed = np.power.outer(1 - np.minimum(np.asarray(share, dtype=np.float64), 1.0), self.counts)
        return self.kinds * (1 - missed.mean(axis=-1))

    def thinned(self, share: float) -> Self:
        """Return the distribution in a share of the instances."""
        return self._replace(kinds=float(self.within(share)), counts=np.maximum(self.counts * share, 1.0))
