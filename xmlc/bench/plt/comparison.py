"""How fast a PLT is trained and asked, beside napkinXC and omikuji, and what a second thread gives.

One process, one task at a time, rounds that take turns; the best round of each counts, because a machine can be
disturbed but not hurried. Everything of ours is run once before, at full size, so that no kernel is compiled in a
measured time; the data is in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

from xmlc.bench.answers import precisions
from xmlc.bench.plt.contenders import (
    OMIKUJI,
    OMIKUJI_DENSE,
    PEERS_OF,
    SEARCHES,
    Answer,
    Others,
    Ours,
    ask,
    fit,
    make_peers,
    name_of,
    our_models,
    settings_for,
    with_hyperparameters,
)
from xmlc.bench.plt.cost import Cost, cost_of
from xmlc.bench.plt.latency import Latency, latency
from xmlc.bench.plt.threads import SpeedUp, speed_up
from xmlc.bench.results import PRECISION, Data, InTurns
from xmlc.data.writer import save_repository
from xmlc.estimator import Hyperparameters
from xmlc.passport import in_turns, passport, peak_bytes, timed

AT_LEAST = 0.3  # seconds of asking per round: a small test set is asked in a few milliseconds


@dataclass(frozen=True)
class Trained:
    """The training of one contender.

    Attributes
    ----------
    seconds : list of float
        Of the rounds.
    precision : list of float
        P@1, P@3 and P@5.
    """

    seconds: list[float]
    precision: list[float] = field(metadata=PRECISION)


@dataclass(frozen=True)
class Asked:
    """One question to one contender.

    Attributes
    ----------
    ms : list of float
        Per test instance, of the rounds.
    precision : list of float
        P@1, P@3 and P@5.
    """

    ms: list[float]
    precision: list[float] = field(metadata=PRECISION)


@dataclass(frozen=True, kw_only=True)
class Comparison(InTurns):
    """Our solvers and the peers.

    Attributes
    ----------
    settings : dict of dict
        Hyperparameters of our solvers.
    training : dict of Trained
        By contender.
    prediction : dict of Asked
        By question.
    ratios : dict of dict of float
        Of best times of ``training`` and of ``prediction``, by pair; empty without peers.
    conversion : dict of float
        What of omikuji's times is not its own: ``train_seconds`` and ``predict_ms``; empty without peers.
    threads_of : dict of SpeedUp
        By solver; like the next two.
    latency : dict of dict of Latency
        And by search.
    cost : dict of Cost
    """

    settings: dict[str, Hyperparameters]
    training: dict[str, Trained]
    prediction: dict[str, Asked]
    ratios: dict[str, dict[str, float]]
    conversion: dict[str, float]
    threads_of: dict[str, SpeedUp]
    latency: dict[str, dict[str, Latency]]
    cost: dict[str, Cost]


def compare_plt(data: Path, peers: bool = True, threads: int = 2, rounds: int = 3) -> Comparison:
    """Measure training and prediction on one and on several threads, beside the peers, and where the time goes.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    peers : bool
        Whether to run napkinXC and omikuji too.
    threads : int
        Compared with one thread.
    rounds : int
        How often everything is measured.

    Raises
    ------
    XmlcError
        The folder holds no dataset, or a peer is not installed.
    """
    content = Data.read(data)
    settings = settings_for(content.name)
    ours, others = our_models(settings, threads, content), make_peers() if peers else {}
    training = _training(ours, others, content, rounds)
    prediction, answers = _prediction(ours, others, content, rounds)
    seconds = {name: min(trained.seconds) for name, trained in training.items()}
    ms = {name: min(asked.ms) for name, asked in prediction.items()}
    return Comparison(
        dataset=content.name,
        shape=content.shape,
        rounds=rounds,
        threads=threads,
        settings=settings,
        training=training,
        prediction=prediction,
        ratios=_ratios(seconds, ms) if peers else {},
        conversion=_conversion(content) if peers else {},
        threads_of={solver: speed_up(solver, threads, ours, seconds, ms, answers) for solver in settings},
        latency={solver: _latencies(ours, solver, content) for solver in settings},
        cost={solver: _cost(ours, solver, content, ms, rounds) for solver in settings},
        peak_bytes=peak_bytes(),
        passport=passport(threads),
    )


def _training(ours: Ours, others: Others, data: Data, rounds: int) -> dict[str, Trained]:
    """Train all models; rank with each as its own hyperparameters say."""
    models = {name_of(*key): model for key, model in ours.items()} | others
    tasks = {name_of(*key): fit(model, data, key[1]) for key, model in ours.items()}
    seconds, _ = in_turns(tasks | {name: fit(model, data) for name, model in others.items()}, rounds)
    return {
        name: Trained(seconds[name], precisions(data.Y_test, ask(model, data)()[0])) for name, model in models.items()
    }


def _prediction(ours: Ours, others: Others, data: Data, rounds: int) -> tuple[dict[str, Asked], dict[str, Answer]]:
    """Ask all models for the best labels of all test instances, ours exactly and by beam search."""
    tasks = {
        name_of(solver, n, search): ask(ours[solver, n], data, beam=beam)
        for (solver, n), (search, beam) in product(ours, SEARCHES.items())
    }
    with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
        for name, model in others.items():
            tasks[name] = ask(model, data)
            if name == OMIKUJI:  # loading is what makes weights dense
                model.save(Path(folder) / "model")
                tasks[OMIKUJI_DENSE] = ask(type(model).load(Path(folder) / "model"), data)
        seconds, answers = in_turns(tasks, rounds, AT_LEAST)
    per_instance = 1e3 / data.X_test.shape[0]
    prediction = {
        name: Asked([per_instance * turn for turn in seconds[name]], precisions(data.Y_test, labels))
        for name, (labels, _) in answers.items()
    }
    return prediction, answers


def _conversion(data: Data) -> dict[str, float]:
    """Measure what of omikuji's times is not its own: writing its input, and turning instances into its types."""
    with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
        _, written = timed(lambda: save_repository(Path(folder) / "train.txt", data.X, data.Y))
    x = data.X_test

    def pairs() -> None:
        for start, end in pairwise(x.indptr):
            list(zip(x.indices[start:end].tolist(), x.data[start:end].tolist()))

    return {"train_seconds": written, "predict_ms": 1e3 * timed(pairs)[1] / x.shape[0]}


def _ratios(seconds: Mapping[str, float], ms: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Divide our best times on one thread by those of each peer."""
    training, prediction = {}, {}
    for solver, peers in PEERS_OF.items():
        own = name_of(solver, 1)
        for peer in peers:
            training[f"{own} / {peer}"] = seconds[own] / seconds[peer]
        for search, peer in product(SEARCHES, peers + (OMIKUJI_DENSE,) * (OMIKUJI in peers)):
            own = name_of(solver, 1, search)
            prediction[f"{own} / {peer}"] = ms[own] / ms[peer]
    return {"training": training, "prediction": prediction}


def _latencies(ours: Ours, solver: str, data: Data) -> dict[str, Latency]:
    model = ours[solver, 1]
    return {search: latency(with_hyperparameters(model, beam=beam), data.X_test) for search, beam in SEARCHES.items()}


def _cost(ours: Ours, solver: str, data: Data, ms: Mapping[str, float], rounds: int) -> Cost:
    return cost_of(ours[solver, 1], data, {search: ms[name_of(solver, 1, search)] for search in SEARCHES}, rounds)
