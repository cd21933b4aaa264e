"""The record of `xmlc simulate` (gfm2011, Figure 1)."""

from __future__ import annotations

from typing import TypedDict

from xmlc.suite.provenance.environment import Environment, StepCosts
from xmlc.suite.results.records.base import JsonNumber, Numbers, Quantities, RecordFile, json_keys

MODELS = ("independent", "dependent", "dependent-signed")


class TrialMeans(TypedDict):
    """The mean over trials and its standard error, for each sample size."""

    mean: list[float]
    standard_error: list[float]


class MethodScores(TrialMeans):
    """The scores of a method that infers label sets from samples.

    As samples grow, they approach ``limit``, the score for the true distribution.
    """

    limit: float


class ModelScores(TypedDict):
    """Expected F-measures under one distribution.

    ``optimum`` is the highest possible one, reached by a set of ``optimal_size`` labels,
    ``p_empty`` the probability that no label is positive, and ``meuf_minus_gfm`` the difference of
    both methods on the same samples.
    """

    optimum: float
    optimal_size: int
    p_empty: float
    methods: dict[str, MethodScores]
    meuf_minus_gfm: TrialMeans


class GrowthFromSamples(TypedDict):
    """Times of inference from samples.

    For each of the ascending numbers of ``labels``, ``ms`` has a method's milliseconds per
    instance, means over ``instances`` simulated ones, with ``n_samples`` label vectors each.
    """

    n_samples: int
    instances: int
    labels: list[int]
    ms: dict[str, list[float]]


class TimesByLabels(TypedDict):
    """Inference times by number of labels."""

    threads: int
    rounds: int
    samples: GrowthFromSamples


@json_keys
class SimulationRecord(RecordFile, kind="simulation", command="simulate"):
    """The record of `xmlc simulate`.

    Each independent label has the probability ``prior``, and ``models`` has the scores for each
    distribution in `MODELS`. They use ``trials`` trials, except that ``meuf_minus_gfm`` may use
    ``paired_trials``.
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

        Names are such as ``independent``, ``independent, gfm``, ``independent, gfm, 10 samples``
        and ``20 labels``. The method ``meuf - gfm`` is the difference on the same samples.
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
