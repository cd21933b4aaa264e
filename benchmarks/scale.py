"""Training costs for data of different shapes, to which `benchmarks.cost_model` is fitted.

Each training runs in a separate process, on a share of the rows of a synthetic dataset with as many
labels and features as one in the catalogue. The costs exclude compiling, and loading the data.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from benchmarks import cost_model
from benchmarks.commands import group
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, folder_bytes
from xmlc.core.memory import own_peak_bytes
from xmlc.core.threads import set_process_threads
from xmlc.data.matrices import load_csr, save_csr
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.models.registry import make_estimator
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Size, catalogue_entry, load_catalogue
from xmlc.suite.provenance.environment import commit, cpu_seconds

COLUMNS = (
    "estimator",
    "set",
    "n",
    "d",
    "m",
    "nonzeros",
    "labels",
    "units",
    "arity",
    *cost_model.USUAL,
    "commit",
)
# Ranked instances, and instances of the warm-up
RANKED = 2000
WARM_UP = 64
HELP = "Measure one training on a share of a dataset's rows, and append the costs to a CSV file."


@group.command("scale", help=HELP)
@click.option(
    "--set", "name", required=True, help="Dataset of the catalogue to imitate, such as amazon-670k."
)
@click.option(
    "--share", default=0.0625, show_default=True, type=click.FloatRange(0, 1, min_open=True)
)
@click.option("--estimator", default="plt", show_default=True)
@click.option("--parameters", default="{}", help="Hyperparameters as JSON.")
@click.option("--threads", default=2, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=cost_model.SHAPES,
    help="CSV file to append to.",
)
def bench_scale(
    name: str, share: float, estimator: str, parameters: str, threads: int, out: Path
) -> None:
    """Measure one training."""
    size = catalogue_entry(name, load_catalogue(Path(paths.CATALOGUE))).size
    given = json.loads(parameters)
    n = int(share * size.n_train)
    with tempfile.TemporaryDirectory() as folder:
        nonzeros, labels = draw(Path(folder), size, n, threads)
        words = [folder, estimator, parameters, str(threads)]
        done = subprocess.run(
            [sys.executable, "-m", __name__, *words], capture_output=True, text=True
        )
    if done.returncode:
        raise XmlcError(
            f"{estimator} on {name}: {done.stderr.strip() or f'exit status {done.returncode}'}"
        )
    variant, units, arity = cost_model.variant_of(estimator, given, size.m)
    shape = [n, int(size.d), int(size.m), nonzeros, labels, int(units), int(arity)]
    row = [variant, f"{name}-shape", *shape, *done.stdout.split(), commit()]
    with out.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)
    click.echo(", ".join(f"{column} {value}" for column, value in zip(COLUMNS, row, strict=True)))


def draw(folder: Path, size: Size, n: int, threads: int) -> tuple[float, float]:
    """Write instances, and return the mean numbers of features and labels."""
    shape = int(size.d), int(size.m), size.labels_per_instance, int(size.nonzeros)
    model = SyntheticModel(*shape, posteriors=False)
    with atomic_folder(folder / "data") as data:
        for part, (start, end) in {"test": (n, n + RANKED), "train": (0, n)}.items():
            X, Y, _ = model.draw(start, end, threads)
            save_csr(data, f"{part}.X", X)
            save_csr(data, f"{part}.Y", Y)
    return round(X.nnz / n, 2), round(Y.nnz / n, 2)


def measure(folder: Path, estimator: str, parameters: str, threads: int) -> tuple[float, ...]:
    """Train and rank in this process, and return the costs in the order of `cost_model.USUAL`."""
    set_process_threads(threads)
    X, Y, X_test = (
        load_csr(folder / "data", name, mmap=False) for name in ("train.X", "train.Y", "test.X")
    )
    model = make_estimator(estimator, json.loads(parameters), 0, threads)
    model.fit(X[:WARM_UP], Y[:WARM_UP]).predict_top_k(X_test[:WARM_UP], 5)
    # Resets the peak memory of this process
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = own_peak_bytes()
    started = cpu_seconds()
    model.fit_to_disk(folder / "model", X, Y)
    seconds = cpu_seconds() - started
    peak = own_peak_bytes() - before
    model = type(model).load(folder / "model").set_params(n_jobs=threads)
    started = cpu_seconds()
    model.predict_top_k(X_test, 5)
    ms = 1e3 * (cpu_seconds() - started) / X_test.shape[0]
    return round(seconds, 3), peak, folder_bytes(folder / "model"), round(ms, 4)


if __name__ == "__main__":
    print(*measure(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
