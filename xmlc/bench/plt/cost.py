"""Where the time of training and prediction of a PLT goes, on one thread, and the machine's limit."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from scipy import sparse

from xmlc.bench.harness import PREDICTION, TIME, TOP, Data, Rows
from xmlc.bench.plt._unproved import rank_unproved
from xmlc.bench.plt.contenders import SEARCHES, name_of, with_hyperparameters
from xmlc.bench.plt.limits import access_limits
from xmlc.bench.plt.pairs import prediction_pairs, training_pairs
from xmlc.bench.rows import PERCENT
from xmlc.models.plt import PLT
from xmlc.models.plt.search import rank_by_beam
from xmlc.passport import in_turns, timed
from xmlc.runtime.threads import numba_threads

FEATURES_STEP, TRAINING_STEP = "features of the nodes", "training of the nodes"
PHASES = {  # steps of a fit by the module and the name of their function
    ("kmeans", "label_representations"): "tree: label representations",
    ("kmeans", "kmeans_tree"): "tree: bisections",
    ("complete", "random_complete_tree"): "tree: random",
    ("huffman", "huffman_tree"): "tree: Huffman",
    ("_pieces", "reach_of"): "who reaches which node",
    ("_gather", "count_nonzeros"): FEATURES_STEP,
    ("_gather", "list_features"): FEATURES_STEP,
    ("_siblings", "train_siblings"): TRAINING_STEP,
    ("_siblings", "train_siblings_above"): TRAINING_STEP,
    ("_joined", "join_pieces"): "joining weights",
    ("_compact", "join_compact"): "joining weights",
}
LIMIT_OF = {"adagrad": "read, AdaGrad", "batch": "read, add"}  # what a pass of each solver does at the least
PHASES_TASK, PAIRS_TASK = "steps of a training", "pairs (non-zero, node), and the machine's limit"
PER_PAIR = "ns per pair"
OPENED = "classifiers evaluated"  # for an instance
EXACT = "is exact"  # instances whose labels are those of the exact search, in its order
CERTIFIED = "proved by the beam"  # instances for which its answer is provably exact
PROOF = "spent on the proof"  # of a beam's time, that is on finding those instances
REST = "checks, unit length, memory"
PHASE_NAMES = (*dict.fromkeys(PHASES.values()), REST)


def add_cost(rows: Rows, solver: str, model: PLT, data: Data, rounds: int, at_least: float) -> None:
    """Account for the time of a solver's training and prediction on one thread, and add the machine's limit.

    Adds the seconds of a fit by step; of a pass over the training set and of a prediction the pairs (non-zero, node),
    and nanoseconds for each pair: ours, and the limits of `access_limits`.

    Parameters
    ----------
    rows : Rows
        With the measured times of prediction.
    solver : str
    model : PLT
        As trained on one thread.
    data : Data
    rounds : int
    at_least : float
        Seconds of prediction in a round.
    """
    name = name_of(solver)
    with numba_threads(1):
        turns = [phases(model, data.X, data.Y) for _ in range(rounds)]
        fit = min(turns, key=lambda turn: sum(turn.values()))
        one, beside = pass_seconds(model, data.X, data.Y, rounds)
    rows.add_each(name, PHASES_TASK, {(phase, "s"): fit.get(phase, 0.0) for phase in PHASE_NAMES})
    rows.add(name, PHASES_TASK, "all", "s", sum(fit.values()))
    rows.add(name, PHASES_TASK, "of the training: outside its passes", "s", max(beside, 0.0))
    rows.add(name, PHASES_TASK, "passes that the training amounts to", "", (fit[TRAINING_STEP] - beside) / one)
    limits = access_limits(data.X, data.Y, model.tree_, rounds)
    pairs = training_pairs(data.X, data.Y, model.tree_)
    per_pass = {("pairs", ""): pairs, ("time", PER_PAIR): 1e9 * one / pairs}
    rows.add_each(f"{name}: a pass of training", PAIRS_TASK, per_pass | _limits(limits[LIMIT_OF[solver]]))
    exact, _ = with_hyperparameters(model, search="exact").predict_top_k(data.X_test, TOP)
    for named, search in SEARCHES.items():
        searching, name = with_hyperparameters(model, search=search), name_of(solver, named)
        labels, _ = searching.predict_top_k(data.X_test, TOP)
        rows.add(name, PREDICTION, OPENED, "", searching.inner_products_.mean())
        if searching.certified_ is not None:
            rows.add(name, PREDICTION, CERTIFIED, PERCENT, 100 * searching.certified_.mean())
        if search == "beam":
            rows.add(name, PREDICTION, PROOF, PERCENT, 100 * proof_share(searching, data.X_test, rounds, at_least))
        rows.add(name, PREDICTION, EXACT, PERCENT, 100 * (labels == exact).all(axis=1).mean())
        n = prediction_pairs(searching, data.X_test) / data.X_test.shape[0]
        ms = rows.value(name, PREDICTION, TIME)
        per_instance = {("pairs", ""): n, ("time", PER_PAIR): 1e6 * ms / n}
        rows.add_each(f"{name}: an instance", PAIRS_TASK, per_instance | _limits(limits["read"]))


def proof_share(model: PLT, X: sparse.csr_array, rounds: int, at_least: float) -> float:
    """Return what share of a beam's time its proof takes, on one thread: the search with it and without, in turns.

    Parameters
    ----------
    model : PLT
        Ranks by beam.
    X : csr_array
        Instances to rank.
    rounds : int
    at_least : float
        Seconds of each search in a round, see `in_turns`.
    """
    queries, beam = model._queries(X, "")._replace(n_jobs=1), max(model.beam, TOP)
    kernels = {"proved": rank_by_beam, "unproved": rank_unproved}
    calls = {name: partial(queries.in_batches, kernel, model.nodes_, TOP, beam) for name, kernel in kernels.items()}
    for call in calls.values():
        call()  # compiles
    seconds, _ = in_turns(calls, rounds, at_least)
    return 1 - min(seconds["unproved"]) / min(seconds["proved"])


def _limits(limits: Mapping[str, float]) -> dict[tuple[str, str], float]:
    return {(f"limit, {place}", PER_PAIR): nanoseconds for place, nanoseconds in limits.items()}


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
    turns = [
        {passes: phases(shorter, X, Y)[TRAINING_STEP] for passes, shorter in models.items()} for _ in range(rounds)
    ]
    first, three = (min(turn[passes] for turn in turns) for passes in (1, 3))
    one = (three - first) / 2
    return one, first - one
