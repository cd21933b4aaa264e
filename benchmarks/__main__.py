"""`python -m benchmarks`: measured speed, as a ratio within one run; and the same bits on any processor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xmlc.cli._options import FILE, FOLDER, data_option
from xmlc.core.errors import XmlcError

if TYPE_CHECKING:
    from benchmarks.harness import Report

BITS = """Show that results are the same bits on any processor.

Every estimator, threshold method, inference method, metric and synthetic dataset is computed as for this processor and
as for the oldest that it can imitate, without AVX and fused multiply-add. For each of them the output has one digest
over all its arrays, and what differs. The exit status is 1 if anything does.
"""
Option = Callable[[Any], Any]  # a decorator of click's


def count_option(name: str, default: int | None, text: str, least: int = 1, most: int | None = None) -> Option:
    """Return an option that takes a whole number."""
    return click.option(name, default=default, show_default=True, type=click.IntRange(least, most), help=text)


def flag_option(name: str, text: str) -> Option:
    """Return an option that is on unless it is negated."""
    return click.option(f"--{name}/--no-{name}", default=True, show_default=True, help=text)


def threads_option(default: int = 2) -> Option:
    """Return the option of threads that are compared with one."""
    return count_option("--threads", default, "Compared with one thread.", least=min(default, 2))


def rounds_option(default: int = 3) -> Option:
    """Return the option of rounds."""
    return count_option("--rounds", default, "Interleaved measurements of each task; the minimum is reported.")


def seeds_option(default: int, text: str) -> Option:
    """Return the option of seeds."""
    return count_option("--seeds", default, text)


peers_option = flag_option("peers", "Whether to run the baselines too (extra `peers`).")
out_option = click.option("--out", type=FILE, help="File for all rows: .csv as in results/benchmarks/, else JSON.")


@click.group(help="Measure speed against a baseline in one run, without compilation; or compare bits.")
def group() -> None:
    """Hold the benchmarks; each imports its dependencies when it is called."""


def benchmark(name: str, text: str, *options: Option) -> Callable[[Callable[..., Report]], click.Command]:
    """Make a function that measures a command, which prints its report and writes it."""

    def decorate(run: Callable[..., Report]) -> click.Command:
        def measure(out: Path | None, **values: Any) -> None:
            from xmlc.core.threads import set_process_threads

            set_process_threads(values.get("threads", 1))
            finish(run(**values), out)

        decorated: Callable[..., Any] = measure
        for option in (out_option, *options[::-1]):
            decorated = option(decorated)
        return group.command(name, help=text, short_help=text)(decorated)

    return decorate


def finish(report: Report, out: Path | None) -> None:
    """Print a report, and write it if a file is named."""
    from benchmarks.harness import write_report
    from benchmarks.render import to_text

    click.echo(to_text(report))
    if out:
        write_report(report, out)


@benchmark(
    "defaults",
    "Train estimators as they come and compare them with the best of a search.",
    data_option,
    click.option("--estimator", "estimators", multiple=True, help="One to compare, repeatable; else all."),
    count_option("--trials", 30, "Of a search, the default first."),
    count_option("--seconds", 60, "Of processor time, after which no trial begins."),
    count_option("--most", 10_000, "Instances to train on in a trial, and to choose by."),
    flag_option("whole", "Whether to train on the whole training set, too."),
)
def defaults(data: Path, estimators: tuple[str, ...], trials: int, seconds: int, most: int, whole: bool) -> Report:
    """Measure P@1 and times."""
    from benchmarks.defaults import bench_defaults

    return bench_defaults(data, estimators, trials, seconds, most, whole)


@benchmark(
    "read",
    "Read the repository format, compared with scikit-learn's reader.",
    click.argument("file", type=FILE, required=False),
    count_option("--instances", 220_000, "Size of the synthetic file, without FILE."),
    rounds_option(),
)
def read(file: Path | None, instances: int, rounds: int) -> Report:
    """Measure speed and memory."""
    from benchmarks.read import bench_read

    return bench_read(file, instances, rounds)


@benchmark(
    "fastxml",
    "Train a FastXML forest and rank, compared with the authors' program and on several threads.",
    data_option,
    count_option("--trees", None, "Size of the forest; by default that of the program's measurement."),
    threads_option(),
    rounds_option(2),
)
def fastxml(data: Path, trees: int | None, threads: int, rounds: int) -> Report:
    """Measure times and P@k."""
    from benchmarks.fastxml import bench_fastxml

    return bench_fastxml(data, trees, threads, rounds)


@benchmark(
    "inference",
    "Maximise the expected F of each instance by several methods.",
    data_option,
    click.option("--model", "model_folder", type=FOLDER, help="Trained model; without it one is trained."),
    click.option("--estimator", default="pcc", show_default=True, help="The model's; it must be able to draw samples."),
    count_option("--samples", 200, "For each instance."),
    count_option("--threads", 1, "Threads to compute with."),
    rounds_option(),
)
def inference(data: Path, model_folder: Path | None, estimator: str, samples: int, threads: int, rounds: int) -> Report:
    """Measure times and F."""
    from benchmarks.inference import bench_inference

    return bench_inference(data, model_folder, estimator, samples, threads, rounds)


@benchmark(
    "ldsm",
    "Train LdSM's trees and rank, compared with the authors' program and on several threads.",
    data_option,
    click.option(
        "--rows",
        "form",
        default="unit",
        show_default=True,
        type=click.Choice(["unit", "raw"]),
        help="Features scaled to rows of unit length, or as they come.",
    ),
    threads_option(),
    rounds_option(),
    seeds_option(5, "P@k is the mean over them."),
)
def ldsm(data: Path, form: str, threads: int, rounds: int, seeds: int) -> Report:
    """Measure times and P@k."""
    from benchmarks.ldsm import bench_ldsm

    return bench_ldsm(data, threads, rounds, seeds, form)


@benchmark(
    "nearest",
    "Search nearest neighbours, compared with the authors' program and on several threads.",
    data_option,
    flag_option("calibration", "Whether to scale times that were measured elsewhere, and compare them."),
    click.option("--calibration-data", type=FOLDER, help="Dataset to scale by, where --data has no known calibration."),
    count_option("--instances", None, "Rank so many test instances only, the first."),
    threads_option(),
    rounds_option(),
)
def nearest(
    data: Path, calibration: bool, calibration_data: Path | None, instances: int | None, threads: int, rounds: int
) -> Report:
    """Measure times and P@k."""
    from benchmarks.nearest import bench_nearest

    return bench_nearest(data, threads, rounds, calibration, calibration_data, instances)


@benchmark(
    "preliminary",
    "Neighbours by other distances, and classifiers of 500 labels: what swnn2018 tells of without a table.",
    data_option,
    rounds_option(),
)
def preliminary(data: Path, rounds: int) -> Report:
    """Measure P@k, and the time of classifiers."""
    from benchmarks.nearest import bench_preliminary

    return bench_preliminary(data, rounds)


@benchmark(
    "logistic",
    "Train BR or PCC, compared with scikit-learn's logistic regression and on several threads.",
    data_option,
    click.option("--estimator", default="br", show_default=True, type=click.Choice(["br", "pcc"])),
    threads_option(),
    rounds_option(1),
)
def logistic(data: Path, estimator: str, threads: int, rounds: int) -> Report:
    """Measure times, and how close the solutions are."""
    from benchmarks.logistic import bench_logistic

    return bench_logistic(data, estimator, threads, rounds)


@benchmark(
    "plt",
    "Train a PLT and rank by three searches, compared with napkinXC and omikuji, on several threads.",
    data_option,
    peers_option,
    threads_option(),
    rounds_option(),
)
def plt(data: Path, peers: bool, threads: int, rounds: int) -> Report:
    """Measure times, P@k, and evaluations of each search."""
    from benchmarks.plt import bench_plt

    return bench_plt(data, peers, threads, rounds)


@benchmark(
    "oplt",
    "Train online label trees, compared with napkinXC's: time, memory and P@k, shuffle by shuffle.",
    data_option,
    click.option("--variant", "variants", multiple=True, help="OPLT-R, OPLT-B, OPLT-W or IPLT, repeatable; else all."),
    seeds_option(5, "Shuffles of the training set."),
    count_option("--epochs", 1, "Passes over it."),
    peers_option,
)
def oplt(data: Path, variants: tuple[str, ...], seeds: int, epochs: int, peers: bool) -> Report:
    """Measure times, memory and P@k."""
    from benchmarks.oplt import bench_oplt

    return bench_oplt(data, variants, seeds, epochs, peers)


@benchmark(
    "out-of-fold",
    "Tune thresholds on a fifth of the training set, or on out-of-fold estimates: macro-F on the test set.",
    data_option,
    seeds_option(5, "Of split, folds and model."),
    count_option("--folds", 5, "Of the out-of-fold estimates.", least=2),
    click.option("--solver", default="sgd", show_default=True, help="The PLT's; its other values are the defaults."),
)
def out_of_fold(data: Path, seeds: int, folds: int, solver: str) -> Report:
    """Measure macro-F by three conventions for 0/0, and the time of training."""
    from benchmarks.out_of_fold import bench_out_of_fold

    return bench_out_of_fold(data, seeds, folds, solver)


@benchmark(
    "expected-f",
    "Take the label sets of highest expected macro-F, compared with tuned thresholds: macro-F on the test set.",
    data_option,
    click.option(
        "--model",
        "models",
        multiple=True,
        default=("plt-batch", "fastxml", "swnn"),
        show_default=True,
        help="Of config/papers/plt2016.yaml, repeatable.",
    ),
    seeds_option(5, "Of split and model."),
)
def expected_f(data: Path, models: tuple[str, ...], seeds: int) -> Report:
    """Measure macro-F by three conventions for 0/0."""
    from benchmarks.expected_f import bench_expected_f

    return bench_expected_f(data, models, seeds)


@group.command(help=BITS)
@click.option(
    "--data", "folders", type=FOLDER, multiple=True, help="Estimators on a dataset written by `xmlc prepare`, too."
)
@click.option("--demo", is_flag=True, help="The demo's tables too, cell by cell but for costs; takes minutes more.")
@click.option("--cores", default=os.cpu_count() or 1, show_default="all", help="Processes at a time.")
@click.option("--out", type=FILE, help="Write all digests as JSON, for --against on another machine.")
@click.option("--against", type=FILE, multiple=True, help="Compare with the --out file of another machine, too.")
def bits(folders: tuple[Path, ...], demo: bool, cores: int, out: Path | None, against: tuple[Path, ...]) -> None:
    """Compute, compare and print."""
    from benchmarks.bits import check_bits

    comparison = check_bits(folders, demo, cores, out, against)
    for line in comparison.lines:
        click.echo(line)
    if not comparison.same:
        sys.exit(1)


if __name__ == "__main__":
    try:
        group(prog_name="python -m benchmarks")
    except XmlcError as error:
        sys.exit(f"benchmarks: error: {error}")
