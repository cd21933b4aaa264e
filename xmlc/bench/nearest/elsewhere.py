"""What others took elsewhere, and the settings that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from xmlc.models.nearest import SparseWeightedNearestNeighbors


@dataclass(frozen=True)
class Setting:
    """Hyperparameters of the method."""

    S: int
    alpha: float
    beta: float

    def model(self, n_jobs: int) -> SparseWeightedNearestNeighbors:
        """Make the method with these."""
        return SparseWeightedNearestNeighbors(self.S, self.alpha, self.beta, n_jobs=n_jobs)


SMALL, LARGE = Setting(20, 1, 1), Setting(75, 2, 1)
SETTINGS = (SMALL, LARGE)


@dataclass(frozen=True)
class TimesElsewhere:
    """What others took for the best 5 labels, on one thread.

    Attributes
    ----------
    whose : str
    ms : float
        Per test instance.
    setting : Setting or None
        None where it is not known; then both of `SETTINGS` are compared.
    precision : tuple of float or None
        P@1, P@3 and P@5, in percent.
    asked : float or None
        What this suite asks of itself: at most this ratio to the scaled time.
    """

    whose: str
    ms: float
    setting: Setting | None = None
    precision: tuple[float, float, float] | None = None
    asked: float | None = None


GO, PAPER = "authors' Go program", "swnn2018, i7-7700K"
_AMAZON = (
    TimesElsewhere(f"paper's program, {PAPER}", 5.74, asked=1.0),
    TimesElsewhere("the same program later", 4.19),
)
ELSEWHERE = {
    "delicious": (
        TimesElsewhere(GO, 0.10, SMALL, asked=0.33),
        TimesElsewhere(GO, 0.150, LARGE, (68.7, 62.3, 57.5), 0.33),
    ),
    "tib-core-26k": (
        TimesElsewhere(GO, 0.40, SMALL, (44.5, 27.2, 19.8), 0.33),
        TimesElsewhere(GO, 0.50, LARGE, (44.2, 27.8, 20.5), 0.33),
    ),
    "amazon-670k": _AMAZON,
    "amazon-670k-shape": _AMAZON,  # a synthetic set: the precision of others says nothing about it
}
PREPARATION_ELSEWHERE = {"delicious": 0.011, "tib-core-26k": 0.34}  # seconds of the Go program
