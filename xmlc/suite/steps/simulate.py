"""`xmlc simulate`: label sets from samples of known distributions (gfm2011, Figure 1).

Both distributions of the paper are chains in which a label's probability depends only on the number
of earlier labels that are 1. So only this number has to be stored, and the matrix P of Theorem 3.1
takes O(m^3) terms instead of 2^m. The expected F-measure of a prediction is therefore exact and
needs no test sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse

from xmlc.cli.options import threads_option
from xmlc.inference.distributions import LabelsBySize
from xmlc.inference.gfm import gfm
from xmlc.inference.methods import METHODS, infer_blocks
from xmlc.inference.samples import Samples, draw_chains, marginals_of
from xmlc.kernels import elementwise
from xmlc.kernels.counter_random import Stream
from xmlc.kernels.elementwise import mean
from xmlc.metrics.resampling import standard_error
from xmlc.suite.options import record_option
from xmlc.suite.provenance.environment import in_turns, step_costs, with_environment
from xmlc.suite.results.records.simulation import (
    MethodScores,
    ModelScores,
    SimulationRecord,
    TimesByLabels,
    TrialMeans,
)

SEED = 0
N_LABELS = 25
PRIOR = 0.12
N_TRIALS = 50
# MEUF - GFM is a mean over this many times the trials of a score.
PAIRED = 40
SAMPLE_SIZES = (5, *range(10, 101, 10))
COMPARED = ("gfm", "gfm-t", "meuf", "meuf-approx")
# Exceeds every sample size and number of trials, so that each model, sample size and trial has its
# own random stream
STREAMS = 1 << 20
TIMED = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf")
TIMED_LABELS = (10, 15, 20, 25, 30, 35, 40, 45, 50)
TIMED_SAMPLES = 200
ROUNDS = 3
AT_LEAST = 0.02  # seconds for which a method repeats in each round


def independent_labels(m: int) -> np.ndarray:
    """Return the conditional probabilities of m independent labels (left plot of Figure 1).

    Row i and column c of the array, (m, m) of float64, have p(Y_i = 1 | c of the labels before i
    are 1). Here it is `PRIOR` for each label.
    """
    return np.full((m, m), PRIOR)


def dependent_labels(m: int) -> np.ndarray:
    """Return the conditional probabilities of m dependent labels (centre plot of Figure 1).

    The logit of label i is -(i - 1)/2 + sum_{j<i} y_j, if labels are counted from 1. In the array,
    see `independent_labels`, they are counted from 0.
    """
    return elementwise.sigmoid(np.arange(m)[None, :] - np.arange(m)[:, None] / 2)


def signed_labels(m: int) -> np.ndarray:
    """Return the conditional probabilities of dependent labels for which MEUF predicts wrong sets.

    The paper lacks this distribution. In its model of dependent labels, y and 1 - y are equally
    likely, so that all marginals are 1/2, and MEUF predicts every label like the F-maximiser. Here
    the logit of label i is -1 + sum_{j<i} (2 y_j - 1), which codes labels as -1 and +1. The empty
    set has probability 0.6 and is the best prediction, but MEUF misses it, because it treats labels
    as independent. The expected F-measures, 0.17 to 0.6, also fit the axis of the paper's plot (0.2
    to 0.6) better than the 0.46 to 0.55 of the paper's dependent labels.
    """
    return elementwise.sigmoid(2 * np.arange(m)[None, :] - np.arange(m)[:, None] - 1)


MODELS = {
    "independent": independent_labels,
    "dependent": dependent_labels,
    "dependent-signed": signed_labels,
}


def exact_labels_by_size(conditionals: np.ndarray) -> LabelsBySize:
    """Compute the matrix P and p(Y = 0) of a chain, by dynamic programming over (label, number of
    ones).

    ``conditionals`` is as in `independent_labels`. Let a_i(c) be the probability that c of the
    labels before label i are 1, and b_i(c, s) the probability that then s of all labels are 1. For
    all sizes s, in O(m^3) time and O(m^2) memory,

        p_is = sum_c a_i(c) p(Y_i = 1 | c) b_{i+1}(c + 1, s).
    """
    m = conditionals.shape[0]
    before = np.zeros((m, m + 1))
    before[0, 0] = 1
    for i in range(m - 1):
        ones = before[i, :m] * conditionals[i]
        before[i + 1, :m] = before[i, :m] - ones
        before[i + 1, 1:] += ones
    P = np.empty((m, m))
    # Row: the ones among labels 0 .. i. Column: the ones among all labels.
    after = np.eye(m + 1)
    for i in reversed(range(m)):
        # `sum` fixes the order of additions.
        P[i] = sum((before[i, :m] * conditionals[i])[:, None] * after[1:, 1:])
        with_label = conditionals[i][:, None]
        after[:m] = (1 - with_label) * after[:m] + with_label * after[1:]
    return LabelsBySize(P[None], np.array([after[0, 0]]), np.arange(1, m + 1))


def expected_f(Y_hat: sparse.csr_array, truth: LabelsBySize) -> np.ndarray:
    """Return the expected F of predictions (gfm2011, equation 6), with 0/0 = 1.

    They are boolean of shape (n, m), and the distribution is that for one instance.
    """
    reciprocals = 1 / np.add.outer(truth.sizes, np.arange(1, Y_hat.shape[1] + 1))
    # `sum` fixes the order of additions.
    gains = 2 * sum((truth.P[0][:, :, None] * reciprocals).transpose(1, 0, 2))
    n = Y_hat.shape[0]
    k = np.diff(Y_hat.indptr)
    sums = np.bincount(np.repeat(np.arange(n), k), gains[Y_hat.indices, np.repeat(k, k) - 1], n)
    return np.where(k == 0, truth.p_empty[0], sums)


def draw(conditionals: np.ndarray, n_samples: int, n: int, seed: int, stream: int) -> Samples:
    """Draw ``n_samples`` label vectors from a chain for each of ``n`` instances.

    Instance t uses the random stream (seed, stream + t), whatever n.
    """
    m = conditionals.shape[0]
    drawn = np.empty((n, n_samples, m), dtype=bool)
    draw_chains(conditionals, np.int64(seed), np.int64(stream), drawn)
    return Samples(sparse.csr_array(drawn.reshape(-1, m)), n_samples)


def simulate(
    seed: int, n_trials: int, sample_sizes: Sequence[int], m: int, n_jobs: int | None = None
) -> dict[str, ModelScores]:
    """Infer label sets from samples of the distributions in `MODELS`, with their exact expected F.

    Scores are means over ``n_trials``, at least two, for each distribution and each number of label
    vectors in ``sample_sizes``, which ascend. Only MEUF - GFM is a mean over `PAIRED` times as
    many. Threads do not change a bit of the result.
    """
    found: dict[str, ModelScores] = {}
    for number, (name, model) in enumerate(MODELS.items()):
        conditionals = model(m)
        truth = exact_labels_by_size(conditionals)
        best, optimum = gfm(truth, n_jobs=n_jobs)
        scores = np.empty((len(COMPARED), len(sample_sizes), PAIRED * n_trials))
        for place, n_samples in enumerate(sample_sizes):
            samples = draw(
                conditionals,
                n_samples,
                PAIRED * n_trials,
                seed,
                (number * STREAMS + n_samples) * STREAMS,
            )
            for row, method in enumerate(COMPARED):
                scores[row, place] = expected_f(_label_sets(method, samples, n_jobs), truth)
        by_method = dict(zip(COMPARED, scores, strict=True))
        methods: dict[str, MethodScores] = {}
        for method, of_method in by_method.items():
            # The scores approach the score with the known distribution.
            known: Any = truth
            if METHODS[method].takes != "joint":
                known = np.minimum(sum(truth.P.transpose(2, 0, 1)), 1.0)
            limit = expected_f(_label_sets(method, known, None), truth)
            methods[method] = {**summary(of_method[:, :n_trials]), "limit": float(limit[0])}
        found[name] = {
            "optimum": float(optimum[0]),
            "optimal_size": int(best.nnz),
            "p_empty": float(truth.p_empty[0]),
            "methods": methods,
            "meuf_minus_gfm": summary(by_method["meuf"] - by_method["gfm"]),
        }
    return found


def summary(scores: np.ndarray) -> TrialMeans:
    """Return means and standard errors over the last axis, the trials."""
    return {
        "mean": [mean(row) for row in scores],
        "standard_error": [standard_error(row) for row in scores],
    }


def _label_sets(method: str, distribution: Any, n_jobs: int | None) -> sparse.csr_array:
    found = infer_blocks(method, distribution, n_jobs)
    # Only a time limit makes it None.
    assert found is not None
    return found[0]


def measure_growth(seed: int, n_trials: int) -> TimesByLabels:
    """Measure how the inference time grows with the number of labels (gfm2011, Figure 1, right).

    The methods run in turns, with one thread, and the minimum over `ROUNDS` rounds counts, after a
    first call that compiles. A call handles all ``n_trials`` simulated instances of a number of
    labels.
    """
    ms: dict[str, list[float]] = {method: [] for method in TIMED}
    for m in TIMED_LABELS:
        samples = draw(
            independent_labels(m), TIMED_SAMPLES, n_trials, seed, Stream.GROWTH + m * STREAMS
        )
        tasks = {method: task_of(method, samples, 1) for method in TIMED}
        for task in tasks.values():
            task()
        for method, seconds in in_turns(tasks, ROUNDS, AT_LEAST)[0].items():
            ms[method].append(1e3 * min(seconds) / n_trials)
    return {
        "threads": 1,
        "rounds": ROUNDS,
        "samples": {
            "n_samples": TIMED_SAMPLES,
            "instances": n_trials,
            "labels": list(TIMED_LABELS),
            "ms": ms,
        },
    }


def task_of(
    method: str, samples: Samples, threads: int
) -> Callable[[], tuple[sparse.csr_array, np.ndarray]]:
    """Return a function that infers label sets from samples or their marginals."""
    chosen = METHODS[method]
    if chosen.takes == "joint":
        return lambda: chosen.infer(samples, n_jobs=threads)
    return lambda: chosen.infer(marginals_of(samples), n_jobs=threads)


@click.command(help="Score and time inference methods on known distributions.")
@threads_option
@record_option
def command(threads: int, out: Path) -> None:
    """Compute the scores, measure the times, and write the record."""
    SimulationRecord(
        seed=SEED,
        trials=N_TRIALS,
        paired_trials=PAIRED * N_TRIALS,
        labels=N_LABELS,
        prior=PRIOR,
        sample_sizes=SAMPLE_SIZES,
        scoring="exact expected F under the model that the sample is from; 0/0 = 1",
        models=simulate(SEED, N_TRIALS, SAMPLE_SIZES, N_LABELS, threads),
        growth=measure_growth(SEED, N_TRIALS),
        **with_environment(step_costs("simulate", threads, "simulation")),
    ).write(out)
