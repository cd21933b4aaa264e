"""How fast the expected F is maximised for each instance, method beside method on the same samples.

One process, tasks in turns, the best round of each; every task has run before, so that no kernel is compiled in a
measured time. The model is trained or read, and its samples are drawn, once and outside of all measured times: a method
gets label vectors in memory and gives label sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import sparse

from xmlc.bench.inference.work import Limit, Work, gfm_limit, gfm_work
from xmlc.bench.results import Data, InTurns
from xmlc.errors import XmlcError
from xmlc.inference import gfm
from xmlc.inference.growth import measure_growth, task_of
from xmlc.metrics.classification import instance_f
from xmlc.models.base import DrawsSamples, SparseProbabilityEstimator
from xmlc.models.registry import estimator_class, make_estimator
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes, timed
from xmlc.records.simulation import Growth
from xmlc.samples import Samples

METHODS = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf", "lewis")
ESTIMATOR = "pcc"
AT_LEAST = 0.2  # seconds of a task per round


@dataclass(frozen=True)
class MeasuredMethod:
    """What one method took and gave.

    Attributes
    ----------
    seconds : list of float
        Of the rounds.
    ms : float
        Per instance, of the best round.
    instance_f : float
        On the test set.
    """

    seconds: list[float]
    ms: float
    instance_f: float


@dataclass(frozen=True, kw_only=True)
class Inference(InTurns):
    """All methods on the same samples; ``shape`` has the test instances and labels.

    Attributes
    ----------
    n_samples : int
        Label vectors for each instance.
    sampling_seconds : float
        In no other time.
    methods : dict of MeasuredMethod
    ratios : dict of float
        Of best times to GFM's.
    work : Work
    limit : Limit
    growth : Growth or None
    """

    n_samples: int
    sampling_seconds: float
    methods: dict[str, MeasuredMethod]
    ratios: dict[str, float]
    work: Work
    limit: Limit
    growth: Growth | None


def compare_inference(
    data: Path,
    model_folder: Path | None = None,
    estimator: str = ESTIMATOR,
    n_samples: int = 200,
    threads: int = 1,
    rounds: int = 3,
    seed: int = 0,
    growth: bool = True,
) -> Inference:
    """Measure what inference takes on the test set, by method, and how GFM's time compares with the machine's limit.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    model_folder : Path or None
        A trained model that can draw samples; without it one is trained.
    estimator : str
        The model's, see `xmlc.models.registry`.
    n_samples : int
        Label vectors for each instance.
    threads : int
    rounds : int
        The best counts.
    seed : int
        Of training and of the samples.
    growth : bool
        Whether to measure how times grow with the number of labels too (`measure_growth`, on one thread).

    Raises
    ------
    XmlcError
        The folder holds no dataset, or the model cannot draw samples.
    """
    content = Data.read(data)
    model: Any = _model(content, model_folder, estimator, threads, seed)
    model.sample(content.X_test[:WARM_UP_ROWS], n_samples)  # loads what is compiled
    drawn, sampling_seconds = timed(lambda: model.sample(content.X_test, n_samples))
    samples = Samples(drawn, n_samples)
    work = gfm_work(samples, gfm(samples, n_jobs=threads)[1])
    methods = compare_methods(samples, content.Y_test, threads, rounds)
    best = {name: min(measured.seconds) for name, measured in methods.items()}
    return Inference(
        dataset=content.name,
        shape=list(content.Y_test.shape),
        n_samples=n_samples,
        threads=threads,
        rounds=rounds,
        sampling_seconds=sampling_seconds,
        methods=methods,
        ratios={name: seconds / best["gfm"] for name, seconds in best.items()},
        work=work,
        limit=gfm_limit(samples, work, rounds),
        growth=measure_growth(seed, rounds=rounds) if growth else None,
        peak_bytes=peak_bytes(),
        passport=passport(threads),
    )


def _model(data: Data, folder: Path | None, estimator: str, threads: int, seed: int) -> SparseProbabilityEstimator:
    kind = estimator_class(estimator)
    if not issubclass(kind, DrawsSamples):
        raise XmlcError(
            f"{estimator} has no method `sample`; expected an estimator that draws label vectors, such as pcc"
        )
    if folder is not None:
        return kind.load(folder)
    return make_estimator(estimator, {}, seed, threads).fit(data.X, data.Y)


def compare_methods(samples: Samples, Y: sparse.csr_array, threads: int, rounds: int) -> dict[str, MeasuredMethod]:
    """Infer with every method in turns."""
    tasks = {name: task_of(name, samples, threads) for name in METHODS}
    for task in tasks.values():
        task()
    seconds, found = in_turns(tasks, rounds, AT_LEAST)
    return {
        name: MeasuredMethod(turns, 1e3 * min(turns) / Y.shape[0], float(instance_f(Y, found[name][0])))
        for name, turns in seconds.items()
    }
