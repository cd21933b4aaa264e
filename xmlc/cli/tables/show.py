"""`xmlc show`: print finished tables and the paths of result files."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.cli._options import FILE


@click.command(help="Print Markdown tables and name other result files.")
@click.argument("files", type=FILE, nargs=-1, required=True)
def command(files: tuple[Path, ...]) -> None:
    """Print Markdown tables first, then all paths."""
    for file in files:
        if file.suffix == ".md":
            click.echo(f"\n{file.read_text(encoding='utf-8').strip()}\n")
    click.echo("Written:")
    for file in files:
        beside = sorted(other.suffix for other in file.parent.glob(f"{file.stem}.*"))
        click.echo(f"  {file.with_suffix('')}{{{','.join(beside)}}}" if len(beside) > 1 else f"  {file}")
