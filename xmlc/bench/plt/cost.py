"""Where the time of training and prediction of a PLT goes, on one thread, beside the machine's limit."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scipy import sparse

from xmlc.bench.plt.contenders import SEARCHES, K, with_hyperparameters
from xmlc.bench.plt.limits import access_limits
from xmlc.bench.plt.pairs import prediction_pairs, training_pairs
from xmlc.bench.results import Data
from xmlc.models.plt import PLT
from xmlc.passport import timed
from xmlc.runtime.threads import numba_threads

TRAINING = "training of the nodes"
PHASES = {  # steps of a fit by the module and the name of their function
    ("kmeans", "label_representations"): "tree: label representations",
    ("kmeans", "kmeans_tree"): "tree: bisections",
    ("complete", "random_complete_tree"): "tree: random",
    ("huffman", "huffman_tree"): "tree: Huffman",
    ("_pieces", "reach_of"): "who reaches which node",
    ("_gather", "count_features"): "features of the nodes",
    ("_gather", "fill_features"): "features of the nodes",
    ("_siblings", "train_siblings"): TRAINING,
    ("_compact", "compact_blocks"): "dropping weights",
    ("_compact", "join_compact"): "dropping weights",
}
REST = "checks, unit length, memory"
PHASE_NAMES = (*dict.fromkeys(PHASES.values()), REST)


@dataclass(frozen=True)
class Cost:
    """What of a solver's training and prediction takes how long.

    Attributes
    ----------
    pairs : int
        Pairs (non-zero, node) of one pass over the training set.
    phases : dict of float
        Seconds of a fit by step.
    pass_seconds, beside_seconds : float
        Of one pass; what training of the nodes takes beside its passes.
    passes : float
        To how many the fit amounts, as "batch" stops early.
    train_ns : float
        Per pair and pass.
    predict_pairs, predict_ns : dict of float
        Per instance, and per pair, by search.
    limits : dict of dict of float
        Nanoseconds per pair, see `access_limits`.
    """

    pairs: int
    phases: dict[str, float]
    pass_seconds: float
    beside_seconds: float
    passes: float
    train_ns: float
    predict_pairs: dict[str, float]
    predict_ns: dict[str, float]
    limits: dict[str, dict[str, float]]


def cost_of(model: PLT, data: Data, ms: Mapping[str, float], rounds: int) -> Cost:
    """Account for the time of a solver's training and prediction on one thread, beside the machine's limit.

    Parameters
    ----------
    model : PLT
    data : Data
    ms : mapping of float
        What an instance took by search (`SEARCHES`).
    rounds : int
        The best counts.
    """
    with numba_threads(1):
        turns = [phases(model, data.X, data.Y) for _ in range(rounds)]
        fit = min(turns, key=lambda turn: sum(turn.values()))
        one, beside = pass_seconds(model, data.X, data.Y, rounds)
    pairs = training_pairs(data.X, data.Y, model.tree_)
    asked: dict[str, float] = {}
    for search, beam in SEARCHES.items():
        asking = with_hyperparameters(model, beam=beam)
        asking.predict_top_k(data.X_test, K)
        asked[search] = prediction_pairs(asking, data.X_test) / data.X_test.shape[0]
    return Cost(
        pairs=pairs,
        phases=fit,
        pass_seconds=one,
        beside_seconds=beside,
        passes=(fit[TRAINING] - beside) / one,
        train_ns=1e9 * one / pairs,
        predict_pairs=asked,
        predict_ns={search: 1e6 * ms[search] / pairs_of_one for search, pairs_of_one in asked.items()},
        limits=access_limits(data.X, data.Y, model.tree_, rounds),
    )


def phases(model: PLT, X: sparse.csr_array, Y: sparse.csr_array) -> dict[str, float]:
    """Train on one thread and return the seconds of each step, by Python's profiler: nothing is timed inside a kernel.

    Parameters
    ----------
    model : PLT
        With ``n_jobs`` 1, because the profiler sees one thread; its kernels compiled.
    """
    profiler = cProfile.Profile()
    _, total = timed(lambda: profiler.runcall(model.fit, X, Y))
    seconds: dict[str, float] = {}
    for (file, _, name), (*_, cumulative, _callers) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]  # undocumented
        phase = PHASES.get((Path(file).stem, name))
        if phase:
            seconds[phase] = seconds.get(phase, 0.0) + cumulative
    return seconds | {REST: total - sum(seconds.values())}


def pass_seconds(model: PLT, X: sparse.csr_array, Y: sparse.csr_array, rounds: int) -> tuple[float, float]:
    """Return what one more pass over the training set takes, and what training of the nodes takes beside its passes.

    Models of one and of three passes are trained, "batch" without stopping before, and the best times of the rounds are
    compared.
    """
    models = {passes: model.unfitted().set_params(epochs=passes, tol=0.0) for passes in (1, 3)}
    turns = [{passes: phases(shorter, X, Y)[TRAINING] for passes, shorter in models.items()} for _ in range(rounds)]
    first, three = (min(turn[passes] for turn in turns) for passes in (1, 3))
    one = (three - first) / 2
    return one, first - one
