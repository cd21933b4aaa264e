"""Measure training costs for data of different shapes. `xmlc.suite.config.cost_model` is fitted to the results.

Each training runs in a separate process, on a share of the rows of a synthetic dataset. The synthetic dataset has as
many labels and features as a dataset in the catalogue. The costs exclude compilation and the time and memory of loading
the data.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from benchmarks.commands import group
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, folder_bytes
from xmlc.core.machine import cpu_seconds, own_peak_bytes
from xmlc.core.threads import set_process_threads
from xmlc.data.matrices import load_csr, save_csr
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.models.registry import make_estimator
from xmlc.suite.config import cost_model, paths
from xmlc.suite.config.catalogue import Size, catalogue_entry, load_catalogue
from xmlc.suite.provenance.environment import commit

COLUMNS = ("estimator", "set", "n", "d", "m", "nonzeros", "labels", "units", "arity", *cost_model.USUAL, "commit")
RANKED, WARM_UP = 2000, 64  # Number of instances that are ranked, and number of instances in the warm-up.
HELP = """Measure one training on a share of a dataset's rows.

The measurement is appended to a CSV file. Without --set, the command measures nothing and prints errors of cost models.
The cost models are fitted to other datasets, or to trainings on few instances."""


@group.command("scale", help=HELP)
@click.option("--set", "name", help="Dataset of the catalogue whose shape is generated, such as amazon-670k.")
@click.option("--share", default=0.0625, show_default=True, type=click.FloatRange(0, 1, min_open=True))
@click.option("--estimator", default="plt", show_default=True)
@click.option("--parameters", default="{}", help="Hyperparameters as JSON.")
@click.option("--threads", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=cost_model.SHAPES, help="CSV file to append to.")
def bench_scale(name: str | None, share: float, estimator: str, parameters: str, threads: int, out: Path) -> None:
    """Measure one training. If ``name`` is None, check the cost model instead."""
    if name is None:
        click.echo("\n".join(held_out_errors()))
        return
    size, given = catalogue_entry(name, load_catalogue(Path(paths.CATALOGUE))).size, json.loads(parameters)
    n = int(share * size.n_train)
    with tempfile.TemporaryDirectory() as folder:
        nonzeros, labels = draw(Path(folder), size, n, threads)
        words = [folder, estimator, parameters, str(threads)]
        done = subprocess.run([sys.executable, "-m", __name__, *words], capture_output=True, text=True)
    if done.returncode:
        raise XmlcError(f"{estimator} on {name}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    variant, units, arity = cost_model.variant_of(estimator, given, size.m)
    shape = [n, int(size.d), int(size.m), nonzeros, labels, int(units), int(arity)]
    row = [variant, f"{name}-shape", *shape, *done.stdout.split(), commit()]
    with out.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)
    click.echo(", ".join(f"{column} {value}" for column, value in zip(COLUMNS, row, strict=True)))


def draw(folder: Path, size: Size, n: int, threads: int) -> tuple[float, float]:
    """Write n training instances and some test instances.

    Return the mean numbers of features and labels per instance.
    """
    shape = int(size.d), int(size.m), size.labels_per_instance, int(size.nonzeros)
    model = SyntheticModel(*shape, posteriors=False)
    with atomic_folder(folder / "data") as data:
        for part, (start, end) in {"test": (n, n + RANKED), "train": (0, n)}.items():
            X, Y, _ = model.draw(start, end, threads)
            save_csr(data, f"{part}.X", X)
            save_csr(data, f"{part}.Y", Y)
    return round(X.nnz / n, 2), round(Y.nnz / n, 2)


def measure(folder: Path, estimator: str, parameters: str, threads: int) -> tuple[float, ...]:
    """Train and rank in this process, and return the measured costs in the order of `cost_model.USUAL`."""
    set_process_threads(threads)
    X, Y, X_test = (load_csr(folder / "data", name, mmap=False) for name in ("train.X", "train.Y", "test.X"))
    model = make_estimator(estimator, json.loads(parameters), 0, threads)
    model.fit(X[:WARM_UP], Y[:WARM_UP]).predict_top_k(X_test[:WARM_UP], 5)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # Reset the peak memory of this process.
    before, started = own_peak_bytes(), cpu_seconds()
    model.fit_to_disk(folder / "model", X, Y)
    seconds, peak = cpu_seconds() - started, own_peak_bytes() - before
    model = type(model).load(folder / "model").set_params(n_jobs=threads)
    started = cpu_seconds()
    model.predict_top_k(X_test, 5)
    ms = 1e3 * (cpu_seconds() - started) / X_test.shape[0]
    return round(seconds, 3), peak, folder_bytes(folder / "model"), round(ms, 4)


def held_out_errors() -> list[str]:
    """Return two lines for each estimator, with ranges of the ratio predicted / measured cost.

    The first line is for a cost model that predicts the costs on each dataset, and is fitted to the other datasets. The
    second line is for a cost model that is fitted to trainings on at most a sixteenth of a dataset's instances. This
    cost model predicts the costs of trainings on more instances.
    """
    lines = []
    for estimator, rows in cost_model.measured().items():
        small = [row for row in rows if not _large(row)]
        for title, pairs in {
            "other sets": [(row, [other for other in rows if other["set"] != row["set"]]) for row in rows],
            "small shares": [(row, small) for row in rows if _large(row)],
        }.items():
            found = [f"{estimator:16} {title:12} {len(pairs):3} rows"]
            for target in cost_model.USUAL:
                ratios = [
                    cost_model.predicted(fitted, [float(row[name]) for name in cost_model.COLUMNS]) / float(row[target])
                    for row, known in pairs
                    if row[target] and (fitted := cost_model.fit(known, target, estimator in cost_model.FORESTS))
                ]
                found.append(f"{target} {min(ratios):.2f} to {max(ratios):.2f}" if ratios else f"{target} -")
            lines.append("  ".join(found))
    return lines


def _large(row: Mapping[str, str]) -> bool:
    """Return whether a measurement used more than a sixteenth of its dataset's training instances."""
    whole = catalogue_entry(row["set"].removesuffix("-shape"), load_catalogue(Path(paths.CATALOGUE)))
    return float(row["n"]) > whole.size.n_train / 15.9


if __name__ == "__main__":
    print(*measure(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
