"""`xmlc verify`: hold results and downloads against their checksums."""

from __future__ import annotations

from pathlib import Path

import click

from xmlc.errors import XmlcError
from xmlc.overview.verify import remove, verify
from xmlc.suites import paths


@click.command(
    help="Read every file of PATHS (results and resources), and name those that are not as they were written."
)
@click.argument("places", metavar="[PATHS]...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--delete", is_flag=True, help="Delete what is damaged; the same snakemake command then makes it again.")
def command(places: tuple[Path, ...], delete: bool) -> None:
    """Print a line for each file that is damaged or out of place, and how much was read."""
    found = verify(places or [Path(name) for name in paths.MADE if Path(name).is_dir()])
    for file in found.unlisted:
        click.echo(f"{file}: is none of the files that were written there; no step reads it")
    for damage in found.damaged:
        click.echo(str(damage))
    if delete:
        remove(found.targets)
        for target in found.targets:
            click.echo(f"deleted: {target}")
    seconds = max(found.seconds, 1e-9)
    click.echo(
        f"{found.files} files, {found.bytes / 1e9:.3f} GB in {seconds:.2f} s ({found.bytes / seconds / 1e9:.2f} GB/s): "
        f"{len(found.damaged)} damaged, {len(found.unlisted)} out of place; "
        f"{len(found.without)} others without checksum"
    )
    if found.damaged and not delete:
        raise XmlcError(f"{len(found.damaged)} of {found.files} files are not as they were written")
