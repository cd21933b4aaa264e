"""How fast a FastXML forest is grown and ranks, compared with its authors' C++ program, and on several threads."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.elsewhere import UNIT_ROWS, Elsewhere
from benchmarks.harness import TOP, TRAINING, Contender, Data, Report, Rows, Task, ranking_task
from benchmarks.render import counted
from benchmarks.settings import FASTXML_OTHERWISE, paper_setting
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.models.fastxml import FastXML

TREES_ELSEWHERE = {
    "tib-core-26k": 10
}  # of the forests whose times are known; those of other datasets have the paper's 50


def bench_fastxml(folder: Path, n_trees: int | None = None, threads: int = 2, rounds: int = 2) -> Report:
    """Measure training and prediction on one and on several threads.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    n_trees : int, optional
        Size of the forest; by default that whose times are known, or the paper's.
    threads : int
        Compared with one thread.
    rounds : int

    Raises
    ------
    XmlcError
        The dataset needs the calibration and napkinXC is not installed.
    """
    data = Data.read(folder)
    setting = paper_setting("plt2016", "fastxml", "", FASTXML_OTHERWISE).hyperparameters
    setting["n_trees"] = n_trees or TREES_ELSEWHERE.get(data.name, setting["n_trees"])
    name, rows = f"FastXML, {counted(int(str(setting['n_trees'])), 'tree')}", Rows("fastxml", data.name)
    models = {n: FastXML(n_jobs=n).set_params(**setting) for n in (1, threads)}
    X, Y = data.X[:WARM_UP_ROWS], data.Y[:WARM_UP_ROWS]
    models[1].fit(X, Y).predict_top_k(X, TOP)
    elsewhere = Elsewhere(data, [name], UNIT_ROWS)
    tasks = elsewhere.tasks
    for n, model in models.items():
        tasks.append(Task(name, TRAINING, partial(model.fit, data.X, data.Y), threads=n))
        tasks.append(ranking_task(name, model, data.X_test, n))
    rankings = rows.measure(tasks, rounds)
    rows.add_speed_up(name, TRAINING, threads)
    rows.add_rankings(name, rankings, data.Y_test, threads)
    remarks = elsewhere.compare(rows)
    rows.add_process()
    return rows.report(
        about=f"{data.size}; minimum of {rounds} interleaved rounds",
        threads=threads,
        contenders=[Contender(name, "this package", setting, (1, threads))],
        remarks=remarks,
    )
