"""Definitions of tables and figures, in a package for each paper and in ``common`` for all.

A paper's modules ``tables.py`` and ``figures.py`` declare or import its definitions, and
``titles.yaml`` has the printed names of models, which every package can print.
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
    """Return a paper's table, or else the common one. The name ``2`` means ``table2``."""
    found: TableSpec = definition("table", name, paper)
    return found


def figure_of(name: str, paper: str) -> FigureSpec:
    """Return a paper's figure, as `table_of` does for tables."""
    found: FigureSpec = definition("figure", name, paper)
    return found


def definition(noun: str, name: str, paper: str) -> Any:
    """Return a "table" or "figure" (`table_of`, `figure_of`)."""
    if name.isdecimal():
        name = noun + name
    known = _definitions(paper, noun)
    if name in known:
        return known[name]
    raise XmlcError(f"{paper}: found no {noun} {name!r}, expected {nearest(name, known)}")


def tables_of(paper: str) -> list[TableSpec]:
    """Return a paper's tables and the common tables that it does not replace."""
    return [*_definitions(paper, "table").values()]


def modules_of(paper: str, noun: str) -> list[str]:
    """Return a paper's modules with "table" or "figure" definitions, and those of ``common``."""
    names = [f"{__name__}.{room}.{noun}s" for room in (paper, COMMON) if room in rooms()]
    return [name for name in names if find_spec(name) is not None]


def statements_of(paper: str) -> Path:
    """Return the YAML file of a paper's statements."""
    return Path(__file__).parent / paper / "claims.yaml"


@cache
def rooms() -> tuple[str, ...]:
    """Return the names of all subpackages, of papers and for all suites."""
    return tuple(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


@cache
def enter_rooms() -> None:
    """Register the printed names of all papers' models."""
    for file in TITLES:
        name_models(converted(read_yaml(file), dict[str, str], str(file)))


def _definitions(paper: str, noun: str) -> dict[str, Any]:
    enter_rooms()
    found: dict[str, Any] = {}
    for module in reversed(modules_of(paper, noun)):
        parts = vars(importlib.import_module(module)).values()
        found |= {part.name: part for part in parts if isinstance(part, Declared)}
    return found
