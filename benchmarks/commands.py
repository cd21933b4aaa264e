"""Benchmarks as commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.harness import Report, write_report
from benchmarks.render import to_text
from xmlc.cli.options import FILE
from xmlc.core.threads import set_process_threads

Option = Callable[[Any], Any]  # a decorator that adds an option to a click command


def count_option(name: str, default: int | None, text: str, least: int = 1) -> Option:
    """Return an option for a whole number."""
    return click.option(
        name, default=default, show_default=True, type=click.IntRange(least), help=text
    )


def several_option(
    name: str, values: str, default: Sequence[str], text: str, only_these: bool = True
) -> Option:
    """Return an option that can be repeated, by default only with the default values."""
    kind = None
    if only_these:
        kind = click.Choice(default)
    return click.option(
        name, values, multiple=True, default=default, show_default=True, type=kind, help=text
    )


def rounds_option(default: int = 3) -> Option:
    """Return the option for the number of rounds."""
    return count_option(
        "--rounds", default, "Number of interleaved measurements; the minimum is reported."
    )


threads_option = count_option(
    "--threads", 2, "Number of threads to compare with one thread.", least=2
)
baselines_option = click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Measure baselines, too (extra `baselines`).",
)


@click.group(help="Measure speed and accuracy, or check that results are bit-identical.")
def group() -> None:
    """Group the commands of all benchmarks."""


def benchmark(
    name: str, text: str, *options: Option
) -> Callable[[Callable[..., Report]], click.Command]:
    """Return a decorator that makes a function a command that prints and writes its report."""

    def decorate(run: Callable[..., Report]) -> click.Command:
        @click.option("--out", type=FILE, help="CSV file to write.")
        def measure(out: Path | None, **values: Any) -> None:
            set_process_threads(values.get("threads", 1))
            report = run(**values)
            click.echo(to_text(report))
            if out:
                write_report(report, out)

        decorated: Callable[..., Any] = measure
        for option in reversed(options):
            decorated = option(decorated)
        return group.command(name, help=text, short_help=text)(decorated)

    return decorate
