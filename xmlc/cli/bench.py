"""`xmlc bench`: measured speed, as a ratio within one run."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE


@click.group(help="Measure speed against a baseline in one run, without compilation.")
def command() -> None:
    """Hold the benchmarks; each imports what it needs when it is called."""


@command.command(help="Reading of the repository format, beside scikit-learn's reader.")
@click.argument("file", type=FILE, required=False)
@click.option("--instances", default=220_000, show_default=True, help="Size of the synthetic file, without FILE.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Readings of each reader.")
@click.option("--out", type=FILE, help="JSON file for everything that was measured.")
def read(file: Path | None, instances: int, rounds: int, out: Path | None) -> None:
    """Print speed, memory and the ratio."""
    from xmlc.bench.read import READERS, compare_readers
    from xmlc.files import write_json

    result = compare_readers(file, instances, rounds)
    click.echo(f"{result['file']}: {result['megabytes']:.1f} MB of text, {result['instances']} instances")
    click.echo(f"1 thread, page cache, median of {rounds} alternating rounds; {result['passport']['cpu']}")
    click.echo(f"{'reader':<14}{'MB/s':>8}{'MB/CPU s':>10}{'arrays MB':>11}{'peak MB':>9}")
    for reader in READERS:
        measured = result[reader]
        speeds = f"{measured['megabytes_per_second']:8.1f}{measured['megabytes_per_cpu_second']:10.1f}"
        click.echo(f"{reader:<14}{speeds}{measured['array_bytes'] / 1e6:11.0f}{measured['peak_bytes'] / 1e6:9.0f}")
    click.echo(f"ratio {result['ratio']:.2f}; both give the same arrays")
    if out:
        write_json(out, result)
