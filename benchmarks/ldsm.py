"""How fast LdSM's trees are trained and rank, and how well, compared with its authors' C++ program.

The program's figures hold for one split and one form of the rows (as they come, or of unit length) each: trees are
trained here on the chosen form, and compared with figures of the same split and form.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.elsewhere import UNIT_ROWS, Elsewhere
from benchmarks.harness import PREDICTION, TOP, TRAINING, Contender, Data, Report, Rows, Task, precisions, ranking_task
from benchmarks.render import counted
from benchmarks.settings import LDSM_OTHERWISE, paper_setting
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.ldsm import LdSM

SIZES = (1, 10)
TREES = "trees of seed 0"


def bench_ldsm(folder: Path, threads: int = 2, rounds: int = 3, seeds: int = 5, form: str = UNIT_ROWS) -> Report:
    """Measure training and prediction of one tree and of ten, on one and on several threads.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    threads : int
        Ten trees are also trained and ranked with on so many.
    rounds : int
    seeds : int
        P@k is the mean over so many.
    form : {"unit", "raw"}
        Whether rows are scaled to unit length.

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    data = Data.read(folder)
    rows = Rows("ldsm", data.name)
    setting = paper_setting(
        "ldsm2020", "ldsm-mean", "", LDSM_OTHERWISE | {"unit_norm": form == UNIT_ROWS}
    ).hyperparameters
    X, Y = data.X[:WARM_UP_ROWS], data.Y[:WARM_UP_ROWS]
    _model(setting, 1).fit(X, Y).predict_top_k(X, TOP)
    whole, scores = _train_seeds(data, setting, seeds, threads)
    elsewhere = Elsewhere(data, [_name(size) for size in SIZES], form)
    tasks = elsewhere.tasks
    for size in SIZES:
        for n in (1, threads) if size == max(SIZES) else (1,):
            train = partial(_model(setting, size, n_jobs=n).fit, data.X, data.Y)
            tasks.append(Task(_name(size), TRAINING, train, threads=n))
            tasks.append(ranking_task(_name(size), whole.trees(size).set_params(n_jobs=n), data.X_test, n))
    rows.measure(tasks, rounds)
    for size in SIZES:
        rows.add_precision(_name(size), PREDICTION, scores[size])
    remarks = elsewhere.compare(rows)
    for task in (TRAINING, PREDICTION):
        rows.add_speed_up(_name(max(SIZES)), task, threads)
    depths, nodes = whole.tree_depths_.tolist(), whole.n_nodes_.tolist()
    rows.add(_name(max(SIZES)), TREES, "depth of the deepest", "", max(depths), depths)
    rows.add(_name(max(SIZES)), TREES, "mean depth", "", sum(depths) / len(depths), depths)
    rows.add(_name(max(SIZES)), TREES, "mean number of nodes", "", sum(nodes) / len(nodes), nodes)
    rows.add_process()
    return rows.report(
        about=f"{data.size}; minimum of {rounds} interleaved rounds, P@k the mean of {seeds} seeds",
        threads=threads,
        contenders=[
            Contender(_name(size), "this package", setting | {"n_trees": size}, (1, threads)) for size in SIZES
        ],
        remarks=remarks,
    )


def _name(n_trees: int) -> str:
    return f"LdSM, {counted(n_trees, 'tree')}"


def _model(setting: Hyperparameters, n_trees: int, **more: object) -> LdSM:
    return LdSM().set_params(**setting | {"n_trees": n_trees} | more)


def _train_seeds(
    data: Data, setting: Hyperparameters, seeds: int, threads: int
) -> tuple[LdSM, dict[int, list[list[float]]]]:
    """Train the largest forest of each seed; return seed 0's, and P@k by number of trees and seed."""
    scores: dict[int, list[list[float]]] = {size: [] for size in SIZES}
    models: list[LdSM] = []
    for seed in range(seeds):
        model = _model(setting, max(SIZES), random_state=seed, n_jobs=threads).fit(data.X, data.Y)
        for size in SIZES:
            scores[size].append(precisions(data.Y_test, model.trees(size).predict_top_k(data.X_test, TOP)[0]))
        models = models or [model]
    return models[0], scores
