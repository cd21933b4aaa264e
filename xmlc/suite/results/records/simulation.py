"""Define the record of `xmlc simulate`: inference from samples of known distributions, as in Figure 1 of gfm2011."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from xmlc.core.environment import Environment, StepCosts
from xmlc.suite.results.records.base import JsonNumber, RecordFile

MODELS = ("independent", "dependent", "dependent-signed")


class TrialMeans(TypedDict):
    """Hold a mean over trials and its standard error for each sample size."""

    mean: list[float]
    standard_error: list[float]


class MethodScores(TrialMeans):
    """Hold the scores of one method that uses samples.

    ``limit`` is the limit of the score for large samples: the score of the method with the true distribution.
    """

    limit: float


class ModelScores(TypedDict):
    """Hold expected F-measures under one model, in the order of a record's JSON keys.

    Attributes
    ----------
    optimum : float
        The highest possible expected F-measure.
    optimal_size : int
        Size of the label set with the highest expected F-measure.
    p_empty : float
        Probability that no label is positive.
    methods : dict of MethodScores
    meuf_minus_gfm : TrialMeans
        Score of MEUF minus the score of GFM on the same samples.
    """

    optimum: float
    optimal_size: int
    p_empty: float
    methods: dict[str, MethodScores]
    meuf_minus_gfm: TrialMeans


class GrowthFromSamples(TypedDict):
    """Hold times of inference from samples, by number of labels. Fields have the order of a record's JSON keys.

    Attributes
    ----------
    n_samples : int
        Number of label vectors drawn per instance.
    instances : int
        Number of simulated instances for each entry of ``labels``.
    labels : list of int
        Numbers of labels, ascending.
    ms : dict of list of float
        Milliseconds per instance for each number of labels, by method.
    """

    n_samples: int
    instances: int
    labels: list[int]
    ms: dict[str, list[float]]


class TimesByLabels(TypedDict):
    """Hold inference times by number of labels. Fields have the order of a record's JSON keys.

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
    """Represent the record of `xmlc simulate`.

    Attributes
    ----------
    seed, trials, labels : int
    paired_trials : int or None
        Number of trials for ``meuf_minus_gfm``. The other scores use only the first ``trials`` trials. None means the
        same number as ``trials``.
    prior : float
        p(Y_i = 1) of the independent labels.
    sample_sizes : tuple of int
    scoring : str
    models : dict of ModelScores
        Scores by the names in `MODELS`.
    growth : TimesByLabels
    environment : Environment
    step : StepCosts or None
    """

    seed: int
    trials: int
    labels: int
    prior: JsonNumber
    sample_sizes: tuple[int, ...]
    scoring: str
    models: dict[str, ModelScores]
    growth: TimesByLabels
    environment: Environment
    step: StepCosts | None = None
    paired_trials: int | None = None

    def __post_init__(self) -> None:
        if lacking := [name for name in MODELS if name not in self.models]:
            raise ValueError(f"models lack {lacking[0]!r}")
