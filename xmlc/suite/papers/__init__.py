"""Tables and figures: a room for each paper, and one for all suites.

A paper's room is the folder of its name, with ``tables.py`` and ``figures.py`` where it has some. What is declared
there, or imported there, is the paper's; what it does not have is looked for in the room ``common``. Importing a room
gives its models their names in print, so that each room can print the models of any other.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from xmlc.core.errors import XmlcError
from xmlc.suite.schemas import nearest

if TYPE_CHECKING:
    from xmlc.suite.papers.declared import TableDefinition
    from xmlc.suite.papers.plotting import FigureDefinition

COMMON = "common"
Definition = TypeVar("Definition")


def table_of(name: str, paper: str) -> TableDefinition:
    """Return the table of this name, the paper's own or the common one; a bare number means ``table<number>``.

    Raises
    ------
    XmlcError
        Neither the paper nor all suites have it.
    """
    from xmlc.suite.papers.declared import TableDefinition

    return _of(name, paper, "table", TableDefinition)


def figure_of(name: str, paper: str) -> FigureDefinition:
    """Return the figure of this name, see `table_of`; a bare number means ``figure<number>``."""
    from xmlc.suite.papers.plotting import FigureDefinition

    return _of(name, paper, "figure", FigureDefinition)


def every_table() -> list[tuple[str, TableDefinition]]:
    """List (room, definition) of all tables; a table of several rooms is listed for each of them."""
    from xmlc.suite.papers.declared import TableDefinition

    return [(room, found) for room in rooms() for found in _definitions(room, "table", TableDefinition).values()]


def modules_of(paper: str, noun: str) -> list[str]:
    """Name the modules that the tables or figures (``noun``) of a paper depend on: its own, the common, all names."""
    names = [f"{__name__}.{room}.{noun}s" for room in (paper, COMMON) if room in rooms()]
    return [*(name for name in names if find_spec(name) is not None), *(f"{__name__}.{room}" for room in rooms())]


def statements_of(paper: str) -> Path:
    """Return the file of a paper's statements, which its claims are about."""
    return Path(__file__).parent / paper / "claims.yaml"


@cache
def rooms() -> tuple[str, ...]:
    """Name the rooms."""
    return tuple(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


@cache
def enter_rooms() -> None:
    """Import all rooms, which name their models."""
    for room in rooms():
        importlib.import_module(f"{__name__}.{room}")


def _of(name: str, paper: str, noun: str, kind: type[Definition]) -> Definition:
    name = f"{noun}{name}" if name.isdecimal() else name
    enter_rooms()
    known = _definitions(COMMON, noun, kind)
    known |= _definitions(paper, noun, kind) if paper in rooms() else {}
    if name in known:
        return known[name]
    raise XmlcError(f"{noun} {name} of {paper}: unknown name, expected {nearest(name, known)}")


def _definitions(room: str, noun: str, kind: type[Definition]) -> dict[str, Definition]:
    name = f"{__name__}.{room}.{noun}s"
    if find_spec(name) is None:
        return {}
    found = [value for value in vars(importlib.import_module(name)).values() if isinstance(value, kind)]
    return {str(vars(definition)["name"]): definition for definition in found}
