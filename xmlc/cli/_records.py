"""The records that tables and figures are made from; there may be hundreds of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from xmlc.cli._options import FILE
from xmlc.errors import XmlcError


def records_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument RECORDS... and the option ``--records-from FILE``.

    ``--records`` may stand before the files, to say what they are; it changes nothing.
    """
    files = click.argument("records", type=click.Path(path_type=Path), nargs=-1)
    marker = click.option(
        "--records", "_marker", is_flag=True, expose_value=False, help="The arguments that follow are records."
    )
    listed = click.option(
        "--records-from", type=FILE, default=None, help="Text file that lists records, one path on a line."
    )
    return files(marker(listed(command)))


def gather_records(records: tuple[Path, ...], records_from: Path | None) -> list[Path]:
    """Return the given paths and those that a file lists, in this order.

    Raises
    ------
    XmlcError
        None is given, or the list cannot be read.
    """
    paths = list(records)
    if records_from is not None:
        try:
            lines = records_from.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise XmlcError(f"{records_from}: the list of records cannot be read ({error.strerror})") from error
        paths += [Path(line.strip()) for line in lines if line.strip()]
    if not paths:
        raise XmlcError("no records given; name them behind the table or figure, or list them for --records-from")
    return paths


class Named(Protocol):
    """A table or figure that a paper declares."""

    @property
    def name(self) -> str:
        """Its name on the command line."""


def list_definitions(
    every: Callable[[], Sequence[tuple[str, Named]]],
) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return what the option ``--list`` does: print the names of all definitions, one line for each paper, and exit."""

    def show(ctx: click.Context, parameter: click.Parameter, is_given: bool) -> None:
        if not is_given:
            return
        found: dict[str, list[str]] = {}
        for paper, definition in every():
            found.setdefault(paper, []).append(definition.name)
        for paper, names in found.items():
            click.echo(f"{paper}: {', '.join(names)}")
        ctx.exit()

    return show
