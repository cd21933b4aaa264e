"""Define the record of `xmlc simulate`, see Figure 1 of gfm2011."""

from __future__ import annotations

from typing import TypedDict

from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import JsonNumber, Numbers, Quantities, RecordFile, json_keys

MODELS = ("independent", "dependent", "dependent-signed")


class TrialMeans(TypedDict):
    """Hold, for each sample size, the mean over trials and the standard error of the mean."""

    mean: list[float]
    standard_error: list[float]


class MethodScores(TrialMeans):
    """Hold the scores of a method that infers label sets from samples.

    ``limit`` is the score of the method if it knows the true distribution, which is the limit for
    large samples.
    """

    limit: float


class ModelScores(TypedDict):
    """Hold expected F-measures under one distribution. The fields have the order of the JSON keys.

    Attributes
    ----------
    optimum : float
        The highest possible expected F-measure.
    optimal_size : int
        Number of labels in the label set with the highest expected F-measure.
    p_empty : float
        Probability that no label is positive.
    methods : dict of MethodScores
    meuf_minus_gfm : TrialMeans
        Difference between the scores of MEUF and GFM on the same samples.
    """

    optimum: float
    optimal_size: int
    p_empty: float
    methods: dict[str, MethodScores]
    meuf_minus_gfm: TrialMeans


class GrowthFromSamples(TypedDict):
    """Hold times of inference from samples for several numbers of labels.

    The fields have the order of the JSON keys.

    Attributes
    ----------
    n_samples : int
        Number of label vectors that are drawn per instance.
    instances : int
        Number of simulated instances for each number of labels.
    labels : list of int
        Numbers of labels, in ascending order.
    ms : dict of list of float
        Maps a method to its milliseconds per instance, for each number of labels.
    """

    n_samples: int
    instances: int
    labels: list[int]
    ms: dict[str, list[float]]


class TimesByLabels(TypedDict):
    """Hold inference times for several numbers of labels, with the number of threads and rounds.

    The fields have the order of the JSON keys.

    Attributes
    ----------
    threads, rounds : int
    samples : GrowthFromSamples
    """

    threads: int
    rounds: int
    samples: GrowthFromSamples


@json_keys
class SimulationRecord(RecordFile, kind="simulation", command="simulate"):
    """Represent the record of `xmlc simulate`.

    Attributes
    ----------
    seed, trials, labels : int
    paired_trials : int or None
        Number of trials for ``meuf_minus_gfm``, or None if the number is ``trials``. Scores other
        than ``meuf_minus_gfm`` use only the first ``trials`` trials.
    prior : float
        The probability p(Y_i = 1) of each independent label.
    sample_sizes : tuple of int
    scoring : str
    models : dict of ModelScores
        Maps a distribution in `MODELS` to the scores for this distribution.
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
        lacking = [name for name in MODELS if name not in self.models]
        if lacking:
            raise ValueError(f"models lack {lacking[0]!r}")

    @property
    def facts(self) -> Quantities:
        """Return the numbers of labels, trials, samples and threads."""
        times = self.growth["samples"]
        found: Quantities = {
            "labels": self.labels,
            "trials": self.trials,
            "threads": self.growth["threads"],
        }
        return found | {"n_samples": times["n_samples"], "instances": times["instances"]}

    def numbers(self) -> Numbers:
        """Yield scores by model, method and sample size, and times by the number of labels.

        The names of the parts are such as ``independent``, ``independent, gfm``, ``independent,
        gfm, 10 samples`` and ``20 labels``. The method ``meuf - gfm`` is the difference between
        both methods on the same samples.
        """
        for model, found in self.models.items():
            yield model, {"optimum": 100 * found["optimum"], "optimal_size": found["optimal_size"]}
            for method, scores in found["methods"].items():
                yield f"{model}, {method}", {"limit": 100 * scores["limit"]}
                yield from self._by_size(f"{model}, {method}", scores, self.trials)
            paired = self.paired_trials or self.trials
            yield from self._by_size(f"{model}, meuf - gfm", found["meuf_minus_gfm"], paired)
        times = self.growth["samples"]
        for place, labels in enumerate(times["labels"]):
            yield (
                f"{labels} labels",
                {"labels": labels} | {name: ms[place] for name, ms in times["ms"].items()},
            )

    def _by_size(self, name: str, scores: TrialMeans, trials: int) -> Numbers:
        for place, samples in enumerate(self.sample_sizes):
            about = {"samples": samples, "trials": trials}
            mean = 100 * scores["mean"][place]
            error = 100 * scores["standard_error"][place]
            yield (
                f"{name}, {samples} samples",
                about | {"expected_f": mean, "standard_error": error},
            )
