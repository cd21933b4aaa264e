"""Definitions of tables and figures, in a package for each paper and in ``common`` for all.

``tables.yaml``, ``figures.yaml`` and ``claims.yaml`` declare a paper's tables, figures and claims,
with functions in ``tables.py``, ``figures.py`` and ``claims.py``. ``titles.yaml`` has the printed
names of models, which every package can print.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.metrics import measures
from xmlc.suite.config import planned
from xmlc.suite.papers.claims import CLAIMS, Claim, claims_table
from xmlc.suite.papers.plotting import FigureSpec
from xmlc.suite.papers.tables import TableSpec
from xmlc.suite.results.columns import check_quantities
from xmlc.suite.results.titles import name_models
from xmlc.suite.schemas import converted, nearest, read_yaml

COMMON = "common"
HERE = Path(__file__).parent
KINDS = {"table": TableSpec, "figure": FigureSpec}
# Keys whose values are names of functions
FUNCTIONS = ("rows", "noted_by", "points", "measured_by", "chosen_by")
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


def files_of(paper: str, noun: str) -> list[str]:
    """Return the YAML files with the same definitions."""
    places = product((paper, COMMON), MODULES[noun])
    files = [HERE / room / f"{name}.yaml" for room, name in places]
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
        file = HERE / room / f"{noun}s.yaml"
        if file.is_file():
            found |= read_declared(file, KINDS[noun], known)
    file = HERE / paper / f"{CLAIMS}.yaml"
    if noun == "table" and file.is_file():
        functions = vars(importlib.import_module(f"{__name__}.{paper}.{CLAIMS}"))
        claims = read_declared(file, Claim, vars(planned) | functions)
        found[CLAIMS] = claims_table([*claims.values()])
    return found


def read_declared(file: Path, kind: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Read tables, figures or claims from YAML, in which names of functions and names in capitals
    stand for the values that are ``known``.
    """

    def valued(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            return {name: valued(value, name) for name, value in part.items()}
        if isinstance(part, list):
            items: list[Any] = []
            for item in part:
                value = valued(item, key)
                # A list, or a constant with several items, adds each.
                if not isinstance(item, dict) and isinstance(value, list | tuple | dict):
                    items += value
                else:
                    items.append(value)
            return items
        if key in FUNCTIONS and part not in known:
            problem = f"found {part!r}, expected a function in {file.with_suffix('.py')}"
            raise XmlcError(f"{file}: {key}: {problem}")
        if key in FUNCTIONS or str(part).isupper():
            return known.get(part, part)
        return part

    content = converted(valued(read_yaml(file)), dict[str, kind], str(file))
    for name, spec in content.items():
        if isinstance(spec, TableSpec):
            check_quantities(f"{file}: {name}", [*spec.keys, *spec.quantities])
    return {name: replace(spec, name=name) for name, spec in content.items()}
