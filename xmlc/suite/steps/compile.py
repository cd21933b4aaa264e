"""`xmlc compile`: the kernels of a suite, before its first run."""

from __future__ import annotations

import time
from pathlib import Path

import click

from xmlc.cli._options import FILE
from xmlc.suite.steps.compiling import compile_parts, missing, parts_of


@click.command(
    help="Compile the kernels that the steps of SUITE call, once for a machine and version; a step compiles by itself "
    "what is missing, but on one core."
)
@click.argument("suite", type=FILE)
@click.option("--cores", default=1, show_default=True, type=click.IntRange(min=1), help="Parts compiled side by side.")
def command(suite: Path, cores: int) -> None:
    """Compile, with a line at the start: a newcomer sees it first in a run, and it takes a while."""
    if parts := missing(parts_of(suite)):
        titles = ", ".join(part.title for part in parts)
        click.echo(f"Compiling kernels, once for this machine and version: {titles}")
    started = time.monotonic()
    for done, (part, seconds) in enumerate(compile_parts(parts, cores), 1):
        waited = time.monotonic() - started
        click.echo(f"[{done} of {len(parts)}] compiled {part.title} in {seconds:.0f} s; {waited:.0f} s so far")
