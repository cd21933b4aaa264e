"""`xmlc bench`: measured speed, as a ratio within one run."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE


@click.group(help="Measure speed against a baseline in one run, without compilation.")
def command() -> None:
    """Hold the benchmarks."""


@command.command(help="Reading of the repository format, beside scikit-learn's reader.")
@click.argument("file", type=FILE, required=False)
@click.option("--instances", default=150_000, show_default=True, help="Size of the synthetic file, without FILE.")
def read(file: Path | None, instances: int) -> None:
    """Print megabytes per second and the ratio."""
    from xmlc.bench.read import read_speed

    speed = read_speed(file, instances)
    click.echo(f"{speed.megabytes:.0f} MB of text, 1 thread, page cache, median of 3 alternating rounds")
    click.echo(f"xmlc          {speed.ours:7.1f} MB/s")
    click.echo(f"scikit-learn  {speed.theirs:7.1f} MB/s")
    click.echo(f"ratio         {speed.ours / speed.theirs:7.2f}")
