"""Find the definition of a table or figure, in the package of its paper or in the package for all.

Each paper has a package with the paper's name, whose modules ``tables.py`` and ``figures.py``
declare or import the paper's definitions. Those that belong to no paper are in the package
``common``. The file ``titles.yaml`` has the printed names of a paper's models, which every package
can print.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Declared
from xmlc.suite.results.titles import name_models
from xmlc.suite.schemas import converted, nearest, read_yaml

if TYPE_CHECKING:
    from xmlc.suite.papers.plotting import FigureSpec
    from xmlc.suite.papers.tables import TableSpec

COMMON = "common"
TITLES = sorted(Path(__file__).parent.glob("*/titles.yaml"))


def table_of(name: str, paper: str) -> TableSpec:
    """Return the definition of a paper's table, or of the common table of this name.

    The name ``2`` means ``table2``.

    Raises
    ------
    XmlcError
        Neither the paper nor ``common`` has a table of this name.
    """
    found: TableSpec = definition("table", name, paper)
    return found


def figure_of(name: str, paper: str) -> FigureSpec:
    """Return the definition of a paper's figure.

    If the paper has no figure of this name, return the common figure. The name ``2`` means
    ``figure2``.
    """
    found: FigureSpec = definition("figure", name, paper)
    return found


def definition(noun: str, name: str, paper: str) -> Any:
    """Return the definition of a paper's "table" or "figure", which ``noun`` is (`table_of`,
    `figure_of`).
    """
    if name.isdecimal():
        name = noun + name
    known = _definitions(paper, noun)
    if name in known:
        return known[name]
    raise XmlcError(f"{paper}: found no {noun} {name!r}, expected {nearest(name, known)}")


def tables_of(paper: str) -> list[TableSpec]:
    """Return the definitions of a paper's tables and of the common tables.

    A paper's table replaces a common one.
    """
    return [*_definitions(paper, "table").values()]


def modules_of(paper: str, noun: str) -> list[str]:
    """Return the names of the modules on which a paper's tables or figures depend.

    ``noun`` is "table" or "figure". The list contains the modules of the paper and of ``common``.
    """
    names = [f"{__name__}.{room}.{noun}s" for room in (paper, COMMON) if room in rooms()]
    return [name for name in names if find_spec(name) is not None]


def statements_of(paper: str) -> Path:
    """Return the path of the YAML file with the statements that a paper's claims test."""
    return Path(__file__).parent / paper / "claims.yaml"


@cache
def rooms() -> tuple[str, ...]:
    """Return the names of all subpackages: the packages of papers and the packages for all
    suites.
    """
    return tuple(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


@cache
def enter_rooms() -> None:
    """Register the printed names of the models of all papers."""
    for file in TITLES:
        name_models(converted(read_yaml(file), dict[str, str], str(file)))


def _definitions(paper: str, noun: str) -> dict[str, Any]:
    """Return the definitions of a paper's tables or figures by name."""
    enter_rooms()
    found: dict[str, Any] = {}
    for module in reversed(modules_of(paper, noun)):
        parts = vars(importlib.import_module(module)).values()
        found |= {part.name: part for part in parts if isinstance(part, Declared)}
    return found
