"""`Stacking` and scikit-learn's one-vs-rest by number of labels, each in a fresh process.

They run on one thread, and without the vectorizer of `xmlc.TextClassifier`, because a dataset has
its features already. For m labels, all programs learn from the rows that have at least one of the m
most frequent labels of the training set.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.commands import group
from benchmarks.fresh import ONE_VS_REST
from benchmarks.harness import CPU_TIME, TRAINING, Data, Report, write_report
from benchmarks.programs import QUALITIES, SPENT, add_rows, run_programs, table
from xmlc.cli.options import FILE
from xmlc.core.files import read_json
from xmlc.core.threads import set_process_threads
from xmlc.kernels.unit_length import unit_rows
from xmlc.suite.options import data_option

PROGRAMS = ("Stacking", *ONE_VS_REST)
STOPPED = "stopped"  # note of a training that took too long
SIZES = (100, 1000, 10_000, 26_000)
COUNTED = "Number of most frequent labels; repeatable."
NAMED = "Program to run again; repeatable.  [default: all programs that have no results]"
LIMIT = 40 * 60  # CPU seconds after which a training is stopped


@group.command(
    "one-vs-rest", help="Compare Stacking with scikit-learn's one-vs-rest by number of labels."
)
@data_option
@click.option(
    "--labels",
    "sizes",
    multiple=True,
    default=SIZES,
    show_default=True,
    type=click.IntRange(5),
    help=COUNTED,
)
@click.option("--program", "named", multiple=True, type=click.Choice(PROGRAMS), help=NAMED)
@click.option("--out", type=FILE, help="CSV file to write.")
def bench_one_vs_rest(
    data: Path, sizes: Sequence[int], named: Sequence[str], out: Path | None
) -> None:
    """Run programs, and print and write all measurements, including earlier ones."""
    set_process_threads(1)
    whole = Report("one-vs-rest", "", "")
    dataset = Data.read(data)
    folder = data.parent / "one-vs-rest"
    for m in sizes:
        answers = folder / str(m)
        missing = [name for name in PROGRAMS if not (answers / name / "costs.json").exists()]
        run_programs(named or missing, most_frequent(dataset, m), answers, LIMIT)
    for m in sorted(int(answers.name) for answers in folder.iterdir()):
        whole.rows += measured(most_frequent(dataset, m), m, folder / str(m)).rows
    for columns in (QUALITIES, SPENT):
        click.echo(table([vars(row) for row in whole.rows], columns) + "\n")
    if out:
        write_report(whole, out)


def most_frequent(data: Data, m: int) -> Data:
    """Return the rows with some of the m most frequent labels, and these labels."""
    counts = np.bincount(data.Y.indices, minlength=data.Y.shape[1])
    labels = np.sort(np.argsort(-counts, kind="stable")[:m])
    Y = data.Y[:, labels]
    Y_test = data.Y_test[:, labels]
    rows, rows_test = (np.flatnonzero(np.diff(part.indptr)) for part in (Y, Y_test))
    X = data.X[rows]
    X_test = data.X_test[rows_test]
    features = np.unique(X.indices)
    return Data(
        data.name,
        unit_rows(X[:, features]),
        Y[rows],
        unit_rows(X_test[:, features]),
        Y_test[rows_test],
    )


def measured(data: Data, m: int, answers: Path) -> Report:
    """Return a report with all programs that have run."""
    report = Report("one-vs-rest", f"{data.name}, {m} labels", data.size)
    files = {name: answers / name / "costs.json" for name in PROGRAMS}
    costs = {name: read_json(file) for name, file in files.items() if file.exists()}
    add_rows(
        report, data, {name: answers / name for name, cost in costs.items() if cost["finished"]}
    )
    for name, cost in costs.items():
        report.add(name, TRAINING, "instances", "", data.X.shape[0])
        if not cost["finished"]:
            report.add(
                name, TRAINING, CPU_TIME, "s", cost["train_s"], note=f"{STOPPED}, {cost['program']}"
            )
    return report
