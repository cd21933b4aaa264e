"""`xmlc bits`: the same bits on any processor, shown by computing as for several."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from xmlc.cli._options import FILE, FOLDER
from xmlc.files import read_json, write_json
from xmlc.samebits.processors import THIS, doubt_lines, processors

HELP = """Show that results are the same bits on any processor.

Every estimator, threshold method, inference method, metric and synthetic dataset is computed as for this processor and
as for others that it can imitate: without AVX-512, and without AVX and fused multiply-add. For each of them the output
has one digest over all its arrays, and what differs. The exit status is 1 if anything does.
"""


@click.command(help=HELP)
@click.option(
    "--data", "folders", type=FOLDER, multiple=True, help="Estimators on a dataset written by `xmlc prepare`, too."
)
@click.option("--demo", is_flag=True, help="The demo's tables too, cell by cell but for costs; takes minutes more.")
@click.option("--cores", default=os.cpu_count() or 1, show_default="all", help="Processes at a time.")
@click.option("--out", type=FILE, help="Write all digests as JSON, for --against on another machine.")
@click.option("--against", type=FILE, multiple=True, help="Compare with what --out wrote on another machine, too.")
def command(folders: tuple[Path, ...], demo: bool, cores: int, out: Path | None, against: tuple[Path, ...]) -> None:
    """Compute, compare and print."""
    from xmlc.samebits.compare import compare, lines, word_of_all
    from xmlc.samebits.pieces import Processed
    from xmlc.samebits.runs import run_demo_as, run_pieces_as

    chosen = processors()
    with tempfile.TemporaryDirectory() as scratch:
        found = run_pieces_as(chosen, Path(scratch), cores, folders)
        if demo:
            for name, tables in run_demo_as(chosen, Path(scratch), cores).items():
                found[name]["pieces"] |= tables
    if out is not None:
        write_json(out, found)
    others: dict[str, Processed] = {file.stem: read_json(file)[THIS.name] for file in against}
    rows = compare(found | others)
    for line in lines(rows, [*found, *others]):
        click.echo(line)
    for line in doubt_lines(chosen, {name: processed["features"] for name, processed in found.items()}):
        click.echo(line)
    click.echo(f"word of all pieces: {word_of_all(found[THIS.name])}")
    if any(row.differing for row in rows):
        sys.exit(1)
