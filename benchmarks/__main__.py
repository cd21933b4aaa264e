"""The command `python -m benchmarks`: comparisons of speed and checks for identical bits."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

import click

from benchmarks.bits import check_bits
from benchmarks.commands import group
from xmlc.cli.options import FILE, FOLDER
from xmlc.core.errors import XmlcError

# An import adds the command of the benchmark
MODULES = (
    "cost_table costs defaults expected_f fastxml halves inference ldsm logistic nearest "
    "one_vs_rest oplt"
)
MODULES += " out_of_fold plt programs requests scale stacking"
for module in MODULES.split():
    import_module(f"benchmarks.{module}")

BITS = """Check that results are bit-identical on all processors.

The command computes every estimator, method, metric and synthetic dataset twice: for this
processor, and for the oldest one that it can imitate, without AVX and fused multiply-add. The
command prints a digest of all arrays for each processor. If results differ, it prints the
differences and exits with status 1.
"""


@group.command(help=BITS)
@click.option(
    "--data",
    "folders",
    type=FOLDER,
    multiple=True,
    help="Check estimators on a prepared dataset, too; repeatable.",
)
@click.option(
    "--demo",
    is_flag=True,
    help="Check the demo's tables without their costs, too. This takes minutes.",
)
@click.option(
    "--cores",
    default=os.cpu_count() or 1,
    show_default="all",
    help="Number of processes to run at once.",
)
@click.option(
    "--out",
    type=FILE,
    help="JSON file to write with all digests, for --against on another machine.",
)
@click.option(
    "--against",
    type=FILE,
    multiple=True,
    help="Compare with another machine's --out file, too; repeatable.",
)
def bits(
    folders: tuple[Path, ...], demo: bool, cores: int, out: Path | None, against: tuple[Path, ...]
) -> None:
    """Compare the results on each processor, and print the comparison."""
    lines, same = check_bits(folders, demo, cores, out, against)
    click.echo("\n".join(lines))
    if not same:
        sys.exit(1)


if __name__ == "__main__":
    try:
        group(prog_name="python -m benchmarks")
    except XmlcError as error:
        sys.exit(f"benchmarks: error: {error}")
