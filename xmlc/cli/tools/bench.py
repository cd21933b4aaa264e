"""`xmlc bench`: measured speed, as a ratio within one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xmlc.cli._options import FILE, FOLDER, data_option
from xmlc.cli.tools._benchmark_options import (
    Option,
    budgets_option,
    count_option,
    flag_option,
    out_option,
    peers_option,
    rounds_option,
    seeds_option,
    threads_option,
)

if TYPE_CHECKING:
    from xmlc.bench.rows import Report


@click.group(help="Measure speed against a baseline in one run, without compilation.")
def command() -> None:
    """Hold the benchmarks; each imports what it needs when it is called."""


def benchmark(name: str, text: str, *options: Option) -> Callable[[Callable[..., Report]], click.Command]:
    """Make a function that measures a command, which prints its report, writes it and checks its budgets."""

    def decorate(run: Callable[..., Report]) -> click.Command:
        def measure(out: Path | None, budgets: bool, **values: Any) -> None:
            from xmlc.runtime.threads import set_process_threads

            set_process_threads(values.get("threads", 1))
            finish(run(**values), out, budgets)

        decorated: Callable[..., Any] = measure
        for option in (budgets_option, out_option, *options[::-1]):
            decorated = option(decorated)
        return command.command(name, help=text, short_help=text)(decorated)

    return decorate


def finish(report: Report, out: Path | None, budgets: bool) -> None:
    """Print a report, write it if a file is named, and check it if that is wanted.

    Raises
    ------
    XmlcError
        A figure is over its budget, or was not measured.
    """
    from xmlc.bench.budgets import check, verdict_table
    from xmlc.bench.render import to_text
    from xmlc.bench.rows import write_report
    from xmlc.errors import XmlcError

    click.echo(to_text(report))
    if out:
        write_report(report, out)
    if budgets:
        verdicts = check(report.rows, report.benchmark, report.dataset)
        click.echo(f"\n{verdict_table(verdicts)}")
        failed = sorted({verdict.budget.name for verdict in verdicts if not verdict.within})
        if failed:
            raise XmlcError(f"over budget or not measured: {', '.join(failed)}")


@benchmark(
    "read",
    "Read the repository format, compared with scikit-learn's reader.",
    click.argument("file", type=FILE, required=False),
    count_option("--instances", 220_000, "Size of the synthetic file, without FILE."),
    rounds_option(),
)
def read(file: Path | None, instances: int, rounds: int) -> Report:
    """Measure speed and memory."""
    from xmlc.bench.read import bench_read

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
    from xmlc.bench.fastxml import bench_fastxml

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
    from xmlc.bench.inference.comparison import bench_inference

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
    from xmlc.bench.ldsm import bench_ldsm

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
    from xmlc.bench.nearest import bench_nearest

    return bench_nearest(data, threads, rounds, calibration, calibration_data, instances)


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
    from xmlc.bench.logistic.comparison import bench_logistic

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
    """Measure times, P@k, and what each search evaluates."""
    from xmlc.bench.plt.comparison import bench_plt

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
    from xmlc.bench.oplt.variants import bench_oplt

    return bench_oplt(data, variants, seeds, epochs, peers)
