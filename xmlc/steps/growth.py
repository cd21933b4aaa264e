"""How the time of inference grows with the number of labels: Figure 1 of gfm2011, right, and GFM given a full P.

One process, one thread, tasks in turns, the best round of each; every task has run before it is measured, so that no
kernel is compiled in a measured time. All trials of one number of labels are instances of one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy import sparse

from xmlc.core.passport import in_turns
from xmlc.inference.distributions import LabelsBySize
from xmlc.inference.gfm import gfm
from xmlc.inference.methods import METHODS
from xmlc.inference.samples import Samples, marginals_of
from xmlc.kernels.streams import Stream
from xmlc.records.simulation import Growth, GrowthFromSamples
from xmlc.steps.simulation import STREAMS, draw, exact_labels_by_size, independent_labels

TIMED = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf")
N_LABELS = (10, 15, 20, 25, 30, 35, 40, 45, 50)
N_SAMPLES = 200
N_LARGE = (50, 100, 200)
FEW_TRIALS = 8
N_FULL = (25, 50, 100, 200, 400)  # numbers of labels with mass on every size
FULL_ENTRIES = 640_000  # of P, about: small problems are measured many at once, so that calling costs little
AT_LEAST = 0.02  # seconds of a task per round

Work = Callable[[], tuple[sparse.csr_array, np.ndarray]]  # label sets and expected F


def measure_growth(
    seed: int = 0,
    n_trials: int = 50,
    n_labels: Sequence[int] = N_LABELS,
    n_large: Sequence[int] = N_LARGE,
    n_full: Sequence[int] = N_FULL,
    rounds: int = 3,
) -> Growth:
    """Measure the milliseconds per instance of each method, from 200 samples and from a matrix P without zeros.

    Parameters
    ----------
    seed : int
    n_trials : int
        Instances for each number of labels.
    n_labels : sequence of int
        Ascending; labels are independent, as in Figure 1, left.
    n_large : sequence of int
        Ascending, beyond the figure: where the highest power of m takes over. Few instances each.
    n_full : sequence of int
        Ascending numbers of labels, for GFM on a full P.
    rounds : int
        The best counts.
    """
    full = [full_distribution(m, max(1, FULL_ENTRIES // (m * m))) for m in n_full]
    full_ms = [_milliseconds(_from_full(P), P.P.shape[0], rounds)["gfm"] for P in full]
    return {
        "threads": 1,
        "rounds": rounds,
        "samples": _growth_from_samples(seed, n_trials, n_labels, rounds),
        "large": _growth_from_samples(seed, FEW_TRIALS, n_large, rounds),
        "full": {"labels": list(n_full), "ms": full_ms, "exponent": growth_exponent(n_full, full_ms)},
    }


def _growth_from_samples(seed: int, n_trials: int, n_labels: Sequence[int], rounds: int) -> GrowthFromSamples:
    samples = [draw(independent_labels(m), N_SAMPLES, n_trials, seed, Stream.GROWTH + m * STREAMS) for m in n_labels]
    counts = [mean_distinct(drawn) for drawn in samples]
    ms = [_milliseconds(_from_samples(drawn), n_trials, rounds) for drawn in samples]
    by_method = {method: [row[method] for row in ms] for method in TIMED}
    return {
        "n_samples": N_SAMPLES,
        "instances": n_trials,
        "labels": list(n_labels),
        "distinct_sizes": [sizes for sizes, _ in counts],
        "labels_drawn": [labels for _, labels in counts],
        "ms": by_method,
        "exponent": {method: growth_exponent(n_labels, values) for method, values in by_method.items()},
    }


def task_of(method: str, samples: Samples, threads: int) -> Work:
    """Return a call of a method on samples; a method of marginals counts them first, within the call."""
    chosen = METHODS[method]
    if chosen.takes == "joint":
        return lambda: chosen.infer(samples, n_jobs=threads)
    return lambda: chosen.infer(marginals_of(samples), n_jobs=threads)


def growth_exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Fit the power of ``sizes`` that values grow with: the slope of their logarithms over the upper half of sizes."""
    upper = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[upper:]), np.log(values[upper:]), 1)[0])


def full_distribution(m: int, n: int) -> LabelsBySize:
    """Return, n times, the P of a distribution in which every size has mass and no two labels are alike.

    An urn: p(Y_i = 1) = (1 + number of ones before) / (1 + i) would make all sizes as likely, and a factor that differs
    from label to label takes the ties away.

    Returns
    -------
    LabelsBySize
        P of shape (n, m, m).
    """
    places = np.arange(m)
    factors = 1 - 0.1 * ((places * 7) % m) / m
    conditionals = np.minimum(1.0, (1 + places[None, :]) / (2 + places[:, None])) * factors[:, None]
    one = exact_labels_by_size(conditionals)
    return LabelsBySize(np.repeat(one.P, n, axis=0), np.repeat(one.p_empty, n), one.sizes)


def _from_samples(samples: Samples) -> dict[str, Work]:
    return {method: task_of(method, samples, 1) for method in TIMED}


def _from_full(P: LabelsBySize) -> dict[str, Work]:
    return {"gfm": lambda: gfm(P, n_jobs=1)}


def _milliseconds(tasks: Mapping[str, Work], instances: int, rounds: int) -> dict[str, float]:
    for task in tasks.values():
        task()
    seconds, _ = in_turns(tasks, rounds, AT_LEAST)
    return {name: 1e3 * min(turns) / instances for name, turns in seconds.items()}


def mean_distinct(samples: Samples) -> tuple[float, float]:
    """Return the mean number of distinct sizes above 0, and of labels drawn at least once, per instance."""
    n, m = samples.Y.shape[0] // samples.n_samples, samples.Y.shape[1]
    sizes = np.diff(samples.Y.indptr).astype(np.int64)
    instances = np.repeat(np.arange(n), samples.n_samples)
    pairs = np.unique(instances[sizes > 0] * (m + 1) + sizes[sizes > 0]).size
    ones = sparse.csr_array(samples.Y)
    labels = np.unique(np.repeat(instances, sizes) * m + ones.indices).size
    return pairs / n, labels / n
