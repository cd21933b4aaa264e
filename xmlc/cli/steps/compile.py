"""`xmlc compile`: the kernels of a suite, or of estimators and methods, before its first run."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER, parse_parameters
from xmlc.steps.compiling import compile_parts, kernels_in, missing, parts_named, parts_of


@click.command(
    help="Compile the kernels that the steps of SUITE call, or estimators and methods, once for a machine and version; "
    "a step compiles by itself what is missing, but on one core."
)
@click.argument("suite", type=FILE, required=False)
@click.option("--estimator", multiple=True, help="Name of an estimator, such as plt; may be repeated.")
@click.option("--parameters", default="{}", help="Its hyperparameters as a JSON object.")
@click.option("--threshold", multiple=True, help="Name of a threshold method; may be repeated.")
@click.option("--inference", multiple=True, help="Name of an inference method; may be repeated.")
@click.option("--to", type=FOLDER, help="Folder that is given as NUMBA_CACHE_DIR later.  [default: the package's own]")
@click.option("--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Parts compiled side by side.")
def command(
    suite: Path | None,
    estimator: tuple[str, ...],
    parameters: str,
    threshold: tuple[str, ...],
    inference: tuple[str, ...],
    to: Path | None,
    cores: int,
) -> None:
    """Compile, with a line at the start: a newcomer sees it first in a run, and it takes a while."""
    all_parts = parts_of(suite) if suite else []
    all_parts += parts_named(estimator, parse_parameters(parameters), threshold, inference)
    if not all_parts:
        raise click.UsageError("Nothing to compile: name a suite, an --estimator, a --threshold or an --inference.")
    with kernels_in(to):
        if parts := missing(all_parts):
            titles = ", ".join(part.title for part in parts)
            click.echo(f"Compiling kernels, once for this machine and version: {titles}")
        started = time.monotonic()
        for done, (part, seconds) in enumerate(compile_parts(parts, cores), 1):
            waited = time.monotonic() - started
            click.echo(f"[{done} of {len(parts)}] compiled {part.title} in {seconds:.0f} s; {waited:.0f} s so far")
        left = missing(all_parts)
    if to:
        click.echo(f"{to} is {'not ' if left else ''}complete.", err=bool(left))
        sys.exit(bool(left))
