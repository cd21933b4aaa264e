"""The command `xmlc new`, which creates a study."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from xmlc.cli.options import FOLDER
from xmlc.core.errors import XmlcError
from xmlc.suite.config.folders import SHIPPED

TEMPLATE = SHIPPED / "study"


@click.command(help="Create FOLDER with a small study for `snakemake --cores 2`.")
@click.argument("folder", type=FOLDER)
def new_command(folder: Path) -> None:
    """Copy the template of a study, and print the new paths and the next command."""
    if folder.is_dir() and any(folder.iterdir()):
        raise XmlcError(f"{folder}: found a folder with files, expected a new or an empty one")
    for file in sorted(TEMPLATE.rglob("*")):
        if file.is_file() and file.suffix != ".pyc":
            new = folder / file.relative_to(TEMPLATE)
            new.parent.mkdir(parents=True, exist_ok=True)
            # Without the permissions, because files of an installed package may be read-only.
            new.write_bytes(file.read_bytes())
            click.echo(f"  {new}")
    click.echo(f"cd {quote(str(folder))} && snakemake --cores 2")
