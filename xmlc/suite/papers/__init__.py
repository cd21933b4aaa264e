"""Definitions of tables and figures, in a package for each paper and in ``common`` for all.

``tables.yaml`` declares a paper's tables, with functions in ``tables.py``, ``figures.py`` its
figures, and ``claims.py`` a table of claims. ``titles.yaml`` has the printed names of models, which
every package can print.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.metrics import measures
from xmlc.suite.config import planned
from xmlc.suite.config.planned import Declared
from xmlc.suite.papers.plotting import FigureSpec
from xmlc.suite.papers.tables import TableSpec, read_tables
from xmlc.suite.results.titles import name_models
from xmlc.suite.schemas import converted, nearest, read_yaml

COMMON = "common"
HERE = Path(__file__).parent
MODULES = {"table": ("tables", "claims"), "figure": ("figures",)}
TITLES = sorted(HERE.glob("*/titles.yaml"))


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


def figures_of(paper: str) -> list[FigureSpec]:
    """Return a paper's figures, and the common figures that it does not replace."""
    return [*_definitions(paper, "figure").values()]


def modules_of(paper: str, noun: str) -> list[str]:
    """Return the modules of a paper and of ``common`` with "table" or "figure" definitions."""
    return [
        f"{__name__}.{room}.{name}"
        for room, name in product((paper, COMMON), MODULES[noun])
        if (HERE / room / f"{name}.py").is_file()
    ]


def files_of(paper: str) -> list[str]:
    """Return the YAML files that declare a paper's statements and tables."""
    places = (f"{paper}/claims", f"{paper}/tables", f"{COMMON}/tables")
    files = [HERE / f"{place}.yaml" for place in places]
    return [str(file) for file in files if file.is_file()]


@cache
def rooms() -> tuple[str, ...]:
    """Return the names of all subpackages, of papers and for all suites."""
    return tuple(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)


@cache
def enter_rooms() -> None:
    """Register the printed names of all papers' models."""
    for file in TITLES:
        name_models(converted(read_yaml(file), dict[str, str], str(file)))


@cache
def _definitions(paper: str, noun: str) -> dict[str, Any]:
    enter_rooms()
    known: dict[str, Any] = vars(measures) | vars(planned)
    found: dict[str, Any] = {}
    for room in (COMMON, paper):
        for module in reversed(modules_of(room, noun)):
            known |= vars(importlib.import_module(module))
        file = HERE / room / "tables.yaml"
        if noun == "table" and file.is_file():
            found |= read_tables(file, known)
        found |= {part.name: part for part in known.values() if isinstance(part, Declared)}
    return found
