"""The record of `xmlc rank`: scores of a model's ranking of the test set, and its costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self

import numpy as np
from msgspec import Meta

from xmlc.kernels.csr import Matrix
from xmlc.metrics.measures import BY_NAME, FURTHER_RANKING_METRICS, MAXIMA, RANKING_METRICS
from xmlc.metrics.ranking import K, hits_at_k, scores_of_instances
from xmlc.records.base import Fraction, Fractions, Number, Numbers, Row, check_scores, costs_in, or_nan
from xmlc.records.training import ModelRecord, TrainingCosts

COST_COLUMNS = {
    "train_minutes": ("train_seconds", 1 / 60),
    "train_seconds": ("train_seconds", 1),
    "predict_ms": ("predict_ms_per_instance", 1),
    "inner_products": ("inner_products_per_instance", 1),
    "model_mb": ("model_bytes", 1e-6),
    "train_peak_mb": ("train_peak_bytes", 1e-6),
    "predict_peak_mb": ("predict_peak_bytes", 1e-6),
    "train_threads": ("train_threads", 1),
    "predict_threads": ("predict_threads", 1),
    "train_cpu_minutes": ("train_cpu_seconds", 1 / 60),
    "train_cpu_seconds": ("train_cpu_seconds", 1),
}
HYPERPARAMETERS = ("S", "alpha", "beta", "n_trees")  # that tables show


@dataclass(frozen=True, kw_only=True)
class RankingCosts(TrainingCosts):
    """Costs of training, and of predicting the five best labels of each test instance."""

    predict_ms_per_instance: Number | None
    inner_products_per_instance: Number | None
    predict_threads: int | None
    predict_peak_bytes: Number | None


DIGITS = "0123456789abcdefghijklmnopqrstuv"
CODES = np.frombuffer(DIGITS.encode(), dtype=np.uint8)
BITS = 1 << np.arange(max(K))  # of the label ranked first, second and so on
ROUNDING = 1e-9  # of a mean


@dataclass(frozen=True)
class Hits:
    """What the scores of a ranking depend on, a character for each test instance.

    Attributes
    ----------
    ranked : str
        Digits of base 32: the bit of value 2 ** (r - 1) says whether the label ranked r-th is true, r from 1 to 5.
    true : str
        Numbers of true labels, where 5 stands for more too.
    """

    ranked: Annotated[str, Meta(pattern=f"^[{DIGITS}]*$")]
    true: Annotated[str, Meta(pattern=f"^[{DIGITS[: max(K) + 1]}]*$")]

    @classmethod
    def of(cls, Y: Matrix, labels: np.ndarray) -> Self:
        """Write down the hits of a ranking, int32 of shape (n, 5), by the truth, of shape (n, m)."""
        relevant, n_true = hits_at_k(Y, labels, max(K))
        return cls(
            *(CODES[found].tobytes().decode() for found in ((relevant * BITS).sum(axis=1), np.minimum(n_true, max(K))))
        )

    def scores(self, name: str) -> np.ndarray:
        """Return ``p@k`` or ``ndcg@k`` of each test instance, k up to 5, float64 of shape (n_test,)."""
        characters = (np.frombuffer(part.encode(), dtype=np.uint8) for part in (self.ranked, self.true))
        ranked, true = (np.searchsorted(CODES, part) for part in characters)
        return scores_of_instances(name, ranked[:, None] & BITS > 0, true)


@dataclass(frozen=True, kw_only=True)
class RankingRecord(ModelRecord, kind="ranking", command="rank"):
    """Record of `xmlc rank`.

    Attributes
    ----------
    metrics : dict of str to float
        By the names of `xmlc.metrics.measures`, shares of one; records of earlier versions lack some.
    standard_errors : dict of str to float
        Of P@k and nDCG@k, as means over the test instances that were drawn; records of earlier versions lack them.
    certified : float or None
        Share of the test instances for which a beam search proved that it ranks exactly; None where none searched.
    hits : Hits or None
        Of each test instance; records of earlier versions lack them.
    """

    costs: RankingCosts
    metrics: dict[str, float]
    standard_errors: Fractions = field(default_factory=dict)
    certified: Fraction | None = None
    hits: Hits | None = None

    def __post_init__(self) -> None:
        check_scores("metrics", self.metrics, RANKING_METRICS, shares_of(self.metrics))
        if self.hits:
            self._check_hits(self.hits)

    def numbers(self) -> Numbers:
        """Yield measures, what is known of the search that found the hyperparameters, and costs."""
        tuned = self.tuning if self.tuning and "p@1" in self.tuning else {}
        yield (
            "",
            self.dataset_sizes
            | measured(self.metrics, (*RANKING_METRICS, *MAXIMA), FURTHER_RANKING_METRICS)
            | {name: self.hyperparameters.get(name) for name in HYPERPARAMETERS}
            | {"validation_p@1": 100 * or_nan(tuned.get("p@1")), "trials": tuned.get("budget")}
            | costs_in(self.costs, COST_COLUMNS),
        )

    def _check_hits(self, hits: Hits) -> None:
        n = self.dataset.n_test
        if not len(hits.ranked) == len(hits.true) == n:
            raise ValueError(f"hits of {len(hits.ranked)} and {len(hits.true)} instances, expected {n} of the test set")
        for k in K:
            found, told = math.fsum(hits.scores(f"p@{k}")) / max(n, 1), self.metrics[f"p@{k}"]
            if abs(found - told) > ROUNDING:
                raise ValueError(f"hits have p@{k} {found}, expected {told} as in the metrics")


def shares_of(scores: Mapping[str, float]) -> list[str]:
    """Return the names of those scores that are shares of one."""
    return [name for name in scores if name in BY_NAME and BY_NAME[name].is_share]


def measured(part: Mapping[str, float] | None, required: Iterable[str], further: Iterable[str]) -> Row:
    """Return measures in the units of their columns, NaN for required ones that a record lacks; further ones it has."""
    part = part or {}
    names = (*required, *(name for name in further if name in part))
    return {name: BY_NAME[name].in_unit(or_nan(part.get(name))) for name in names}
