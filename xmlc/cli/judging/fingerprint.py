"""`xmlc fingerprint`: a digest of all numbers, to be compared with that of another run."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.tables.fingerprint import fingerprint

TABLES = Path("results/tables")
HELP = """Print a fingerprint of all numbers of each PATH: the same fingerprint means the same numbers.

PATH is a table (CSV), arrays (.npy, .npz), or a folder of tables or arrays, such as that of a model or a prepared
dataset; by default the finished tables, results/tables. Costs (times, memory) and numbers of threads do not count,
nor do the order of rows and columns. The fingerprint of each part is printed above that of the
whole.
"""


@click.command(help=HELP)
@click.argument("paths", metavar="[PATH]...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--whole", is_flag=True, help="Print only the fingerprint of the whole.")
def command(paths: tuple[Path, ...], whole: bool) -> None:
    """Hash and print."""
    lines = []
    for path in paths or (TABLES,):
        found = fingerprint(path)
        lines += [] if whole else list(found.lines())
        lines.append((str(path), found.word))
    width = max(len(name) for name, _ in lines)
    for name, word in lines:
        click.echo(f"{name:{width}}  {word}")
