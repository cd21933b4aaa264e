"""The record of `xmlc simulate`: inference from samples of known distributions, Figure 1 of gfm2011."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from xmlc.core.passport import Passport, StepCosts
from xmlc.suite.results.records.base import Number, RecordFile

MODELS = ("independent", "dependent", "dependent-signed")


class Scores(TypedDict):
    """Means over trials and their standard errors, for each sample size."""

    mean: list[float]
    standard_error: list[float]


class MethodScores(Scores):
    """Scores of one method, on samples and on the true distribution in place of a sample."""

    limit: float


class ModelScores(TypedDict):
    """Expected F under one model, in the order of a record's JSON keys.

    Attributes
    ----------
    optimum : float
        The highest expected F there is.
    optimal_size : int
        Of the label set that has it.
    p_empty : float
        Probability of no label.
    methods : dict of MethodScores
    meuf_minus_gfm : Scores
        Of the difference on the same samples.
    """

    optimum: float
    optimal_size: int
    p_empty: float
    methods: dict[str, MethodScores]
    meuf_minus_gfm: Scores


class GrowthFromSamples(TypedDict):
    """Times for some numbers of labels, inferred from samples, in the order of a record's JSON keys.

    Attributes
    ----------
    n_samples, instances : int
        Label vectors for each instance; instances for each number of labels.
    labels : list of int
        Numbers of labels, ascending.
    ms : dict of list of float
        By method: milliseconds per instance for each number of labels.
    """

    n_samples: int
    instances: int
    labels: list[int]
    ms: dict[str, list[float]]


class Growth(TypedDict):
    """How times grow with the number of labels, in the order of a record's JSON keys.

    Attributes
    ----------
    threads, rounds : int
    samples : GrowthFromSamples
    """

    threads: int
    rounds: int
    samples: GrowthFromSamples


@dataclass(frozen=True, kw_only=True)
class SimulationRecord(RecordFile, kind="simulation", command="simulate"):
    """Record of `xmlc simulate`.

    Attributes
    ----------
    seed, trials, labels : int
    paired_trials : int or None
        Behind ``meuf_minus_gfm``; the first of them are those of ``trials``. None where these are all.
    prior : float
        p(Y_i = 1) of the independent labels.
    sample_sizes : tuple of int
    scoring : str
    models : dict of ModelScores
        By name, of `MODELS`.
    growth : Growth
    passport : Passport
    step : StepCosts or None
    """

    seed: int
    trials: int
    labels: int
    prior: Number
    sample_sizes: tuple[int, ...]
    scoring: str
    models: dict[str, ModelScores]
    growth: Growth
    passport: Passport
    step: StepCosts | None = None
    paired_trials: int | None = None

    def __post_init__(self) -> None:
        if lacking := [name for name in MODELS if name not in self.models]:
            raise ValueError(f"models lack {lacking[0]!r}")
