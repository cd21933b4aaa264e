"""Peak memory and processor time of each step of the workflow: the process as a whole, from its start to its end.

Memory is resident: an interpreter with its libraries and compiled kernels, the data and the model, which are mapped and
read through, and copies. Bytes for a non-zero are counted from the arrays: 8 of an instance that is mapped, up to 32
while its values are scaled to unit length, and 16 of the scaled copy while a model is trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xmlc.estimator import Hyperparameters
from xmlc.planning.estimators import DEFAULTS, LABEL_TREES, Trained, kind_of, number, trained
from xmlc.planning.predicting import predicting_seconds
from xmlc.planning.shape import Shape
from xmlc.planning.thresholds import is_label_wise, tuning_seconds

BASE = 195e6  # interpreter, numpy, scipy, numba and kernels from their cache
BARE = 176e6  # with numba, and no other kernels than those that look at stored arrays
START = 0.64  # processor seconds of it
MARGIN = 7 / 6  # expected seconds are the typical ones times this: what is asked for should rather be too much
MAPPED, SCALED, KEPT = 8.0, 32.0, 24.0  # bytes of a non-zero
ENTRY = 8.0  # bytes of an estimate: its label and its value
ESTIMATING, TUNING, INFERRING = 2.6, 2.2, 1.7  # times the size of all estimates
SEARCHING = 40e6  # of a label tree: nodes to open and estimates of a batch of instances
NEIGHBOURS = 56.0  # bytes of a non-zero, where an index is thinned
READ_ENTRY, READ_LABEL, COUNTED = 8.0, 5.0, 8.0  # bytes of a non-zero and of a label that are read; and to count them
GROWING, MOST_GROWING = 18.0, 150e6  # more of a non-zero of text that is read, in chunks that are given back
RANKED, PROPENSITY, SCORED = 24.0, 13.0, 8.0  # of a non-zero and labels of both parts, where a ranking is scored
DRAWN, DRAWN_DENSE, POSTERIOR = 20.0, 36.0, 21.0  # bytes of a number of a row that is drawn, by kind; of a posterior
DRAWN_LABEL = 110.0  # bytes of a label's parameters
DRAWN_ROWS = 65_536.0  # that are drawn at a time
TRIGGERED = 8.0  # labels that could be an instance's, for each that is
PROBABLE, GRID = 60.0, 1e-4  # estimates above 1/10000 for each label of an instance; above 1/100 a tenth

READ, UNPACKED, MADE = 1.65e-7, 2e-7, 9e-7  # seconds of a non-zero
WRITTEN, OPENED = 2.2e-9, 4e-10  # of a byte of the model: as it is saved, and as it is mapped and looked at
KEPT_ESTIMATE = 1.8e-8  # of an estimate that is found and written
COMMON = 0.1  # a threshold that all labels have
INFERRED = 9e-8  # of an estimate of the test set, for each method of inference
SIMULATED = 60.0


@dataclass(frozen=True)
class Job:
    """What one job does.

    Attributes
    ----------
    shape : Shape or None
        Of its dataset.
    estimator : str
    hyperparameters : dict
    fit_share : float
        Share of the training set that it trains on.
    trees : float
        Share of a forest's trees that it grows.
    model_bytes, estimate_bytes : float or None
        Of the model and its estimates that it reads, where they exist.
    floor : float
        Smallest estimate.
    methods : tuple of str
        Threshold or inference methods.
    triggered, posteriors : bool
        Of a set that is made: whether its labels are drawn by their posteriors, and whether these are written.
    trials : tuple of dict
        Hyperparameters that it tries beside those given, one model after the other.
    """

    shape: Shape | None = None
    estimator: str = ""
    hyperparameters: Hyperparameters = field(default_factory=dict)
    fit_share: float = 1.0
    trees: float = 1.0
    model_bytes: float | None = None
    estimate_bytes: float | None = None
    floor: float = 1e-4
    methods: tuple[str, ...] = ("any",)
    triggered: bool = False
    posteriors: bool = False
    trials: tuple[Hyperparameters, ...] = ()

    @property
    def data(self) -> Shape:
        """Shape of its dataset."""
        assert self.shape is not None
        return self.shape

    @property
    def given(self) -> Hyperparameters:
        """Hyperparameters, defaults included."""
        return DEFAULTS.get(kind_of(self.estimator), {}) | self.hyperparameters

    def trained(self, **others: object) -> Trained:
        """Return what training comes to, with some hyperparameters replaced."""
        found = trained(self.estimator, {**self.hyperparameters, **others}, self.data.sampled(self.fit_share))
        return Trained(*(self.trees * value for value in found))

    def model(self) -> float:
        """Return the bytes of the model, as they are or as they are expected."""
        return self.trained().model_bytes if self.model_bytes is None else self.model_bytes

    def estimates(self) -> float:
        """Return the bytes of the estimates of validation and test set, as they are or as they are expected."""
        if self.estimate_bytes is not None:
            return self.estimate_bytes
        rows = self.data.n_test + (1 - self.fit_share) * self.data.n_train
        return ENTRY * rows * self.estimates_of_instance()

    def estimates_of_instance(self) -> float:
        """Return how many labels of an instance have an estimate above the floor, of those that can have one."""
        data, given = self.data, self.given
        labels = PROBABLE * math.sqrt(GRID / max(self.floor, GRID)) * data.labels_per_instance
        if kind_of(self.estimator) == "swnn":
            labels = number(given, "S", PROBABLE) * data.labels_per_instance
        return min(data.m, labels, data.labels_per_instance / self.floor)

    def searching(self) -> float:
        """Return what a search holds beside instances and model."""
        return SEARCHING if kind_of(self.estimator) in LABEL_TREES else 0.0

    def prediction(self) -> float:
        """Return what predicting the test set holds beside model and base."""
        data, given, kind = self.data, self.given, kind_of(self.estimator)
        found = (MAPPED + SCALED) * data.test_values + self.searching()
        if kind == "parabel":  # sums over its trees of all labels that each search meets
            met = min(data.m, number(given, "beam", 10.0) * number(given, "max_leaf"))
            found += ENTRY * data.n_test * met * (1 + number(given, "n_trees"))
        if given.get("propensity_weighted"):  # ranked again from all estimates
            found += ESTIMATING * ENTRY * data.n_test * self.estimates_of_instance()
        return found


class Costs(NamedTuple):
    """What a job is expected to take: peak resident bytes, and processor seconds."""

    bytes: float
    seconds: float


def costs(step: str, job: Job) -> Costs:
    """Return what a step takes.

    Parameters
    ----------
    step : str
        The subcommand, or several that are one job, joined by "+": the largest memory of all, and the sum of the
        seconds.
    job : Job
    """
    parts = [STEPS[name](job) for name in step.split("+")]
    seconds = sum(part.seconds for part in parts) - START * (len(parts) - 1)
    return Costs(max(part.bytes for part in parts), MARGIN * seconds)


def _made(job: Job) -> Costs:
    data = job.data
    rows, values = max(data.n_train, data.n_test), data.values + data.test_values
    numbers = data.nonzeros + data.labels_per_instance + _candidates(data)
    drawn = min(rows, DRAWN_ROWS) * (DRAWN * numbers if job.triggered else DRAWN_DENSE * data.nonzeros)
    kept = POSTERIOR * rows * _candidates(data) if job.posteriors else 0.0
    return Costs(BASE + DRAWN_LABEL * data.m + drawn + kept, START + MADE * values)


def _prepared(job: Job) -> Costs:
    data = job.data
    values = data.values + data.test_values
    pairs = data.pairs + data.n_test * data.labels_per_instance
    growing = COUNTED * data.values + min(GROWING * values, MOST_GROWING)
    posteriors = ENTRY * data.n_train * _candidates(data) if job.posteriors else 0.0
    seconds = (READ if job.triggered else READ + UNPACKED) * values
    return Costs(BASE + READ_ENTRY * values + READ_LABEL * pairs + max(growing, posteriors), START + seconds)


def _candidates(data: Shape) -> float:
    """Return how many labels of an instance have a posterior where the set is drawn (`xmlc.data.synthetic.labels`)."""
    triggers = math.ceil(TRIGGERED * data.labels_per_instance * data.d / (data.nonzeros * data.m))
    return data.nonzeros * max(triggers, 1) * data.m / data.d


def _trained(job: Job) -> Costs:
    found, values, kind = job.trained(), job.data.values, kind_of(job.estimator)
    base = BARE if kind == "oracle" else BASE
    scaled = 0.0 if kind == "swnn" else SCALED  # an index scales rows while it writes them
    reading = (MAPPED + scaled * job.fit_share) * values if base == BASE else 0.0
    held = KEPT * values if base == BASE else 0.0
    return Costs(base + max(reading, held + found.working_bytes), START + found.seconds + WRITTEN * found.model_bytes)


def _joined(job: Job) -> Costs:
    return Costs(BASE + 2 * job.model(), START + (OPENED + WRITTEN) * job.model())


def _ranked(job: Job) -> Costs:
    data = job.data
    scored = RANKED * data.test_values + PROPENSITY * data.pairs + SCORED * data.n_test * data.labels_per_instance
    return Costs(BASE + job.model() + max(job.prediction(), scored), _opened(job) + _predicted(job))


def _estimated(job: Job) -> Costs:
    data, estimates = job.data, job.estimates()
    validation = MAPPED * data.values + SCALED * (1 - job.fit_share) * data.values
    instances = max(validation, (MAPPED + SCALED) * data.test_values)
    bare = kind_of(job.estimator) == "oracle"
    found = (BARE if bare else BASE + instances) + job.model() + ESTIMATING * estimates
    searched = _predicted(job, (1 - job.fit_share) * data.n_train, job.floor) + _predicted(job, floor=job.floor)
    return Costs(found, _opened(job) + searched + KEPT_ESTIMATE * estimates / ENTRY)


def _tuned_thresholds(job: Job) -> Costs:
    held = job.model() + (MAPPED + SCALED) * job.data.test_values + TUNING * job.estimates() + job.searching()
    seconds = sum(tuning_seconds(method, job.estimates() / ENTRY, job.data.m) for method in job.methods)
    seconds += sum(_predicted(job, floor=job.floor if is_label_wise(method) else COMMON) for method in job.methods)
    return Costs(BASE + held, _opened(job) + seconds)


def _inferred(job: Job) -> Costs:
    tested = job.data.n_test / (job.data.n_test + (1 - job.fit_share) * job.data.n_train)
    seconds = START + len(job.methods) * INFERRED * tested * job.estimates() / ENTRY
    from_estimates = job.fit_share < 1  # no model is read then
    held = INFERRING * job.estimates() if from_estimates else job.model() + job.prediction()
    return Costs(BASE + held, seconds)


def _by_trees(job: Job) -> Costs:
    return Costs(BASE + job.model() + job.prediction(), _opened(job) + 4 * _predicted(job))


def _tried(job: Job) -> Costs:
    """Return what training and ranking one model after the other takes."""
    each = [_trained(_with(job, trial)) for trial in job.trials or ({},)]
    seconds = sum(part.seconds - START + _predicted(job) for part in each)
    return Costs(max(part.bytes for part in each), START + seconds)


def _streamed(job: Job) -> Costs:
    found = _trained(job)
    return Costs(found.bytes, START + 2 * (found.seconds - START))


def _condensed(job: Job) -> Costs:
    return Costs(BASE + NEIGHBOURS * job.data.values, START + 9 * _predicted(job))


def _simulated(job: Job) -> Costs:
    return Costs(BASE, SIMULATED)


def _with(job: Job, trial: Hyperparameters) -> Job:
    return replace(job, hyperparameters={**job.hyperparameters, **trial})


def _opened(job: Job) -> float:
    """Return the seconds of a process until a model is read."""
    return START + OPENED * job.model()


def _predicted(job: Job, instances: float | None = None, floor: float | None = None) -> float:
    """Return the seconds of predicting the test set, or so many instances."""
    n = job.data.n_test if instances is None else instances
    return predicting_seconds(job.estimator, job.given, job.data, n, floor, job.model())


STEPS: dict[str, Callable[[Job], Costs]] = {
    "synth": _made,
    "prepare": _prepared,
    "train": _trained,
    "join": _joined,
    "rank": _ranked,
    "estimate": _estimated,
    "thresholds": _tuned_thresholds,
    "infer": _inferred,
    "forest": _by_trees,
    "sweep": _tried,
    "tune": _tried,
    "progressive": _streamed,
    "condense": _condensed,
    "simulate": _simulated,
}
