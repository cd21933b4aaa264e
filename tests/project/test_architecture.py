"""The house as docs/architecture.md draws it, held against the code."""

import ast
import re

import pytest
from repository import ROOT

from xmlc.core.sources import PACKAGE, imported_modules

TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
FLOORS = {room: int(floor) for floor, room in re.findall(r"^\| (\d+) \| `(\w+)` \|", TEXT, re.MULTILINE)}
WALK = TEXT.partition("## The walk of one number")[2].partition("\n## ")[0]
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES, MOST_LINES_OF_RULES = 600, 150


def room_of(dotted):
    return dotted.split(".")[1] if "." in dotted else None


def test_every_room_has_its_floor():
    rooms = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in MODULES} - {"__init__"}
    assert rooms == set(FLOORS)


@pytest.mark.parametrize("own", FLOORS)
def test_no_room_imports_another_of_its_floor_or_one_above(own):
    files = [PACKAGE / f"{own}.py"] if (PACKAGE / f"{own}.py").exists() else sorted((PACKAGE / own).rglob("*.py"))
    for file in files:
        rooms = {room_of(name) for name in imported_modules(file)} & set(FLOORS) - {own}
        assert not [room for room in rooms if FLOORS[room] >= FLOORS[own]], file


def test_what_all_papers_share_imports_no_paper():
    shared = [*(PACKAGE / "papers").glob("*.py"), *(PACKAGE / "papers/common").glob("*.py")]
    papers = re.compile(r"xmlc\.papers\.[a-z]+\d{4}\b")
    assert {file: name for file in shared for name in imported_modules(file) if papers.match(name)} == {}


def test_the_package_imports_no_benchmark():
    assert [file for file in MODULES if re.search(r"^\s*(from|import) benchmarks\b", file.read_text(), re.M)] == []


def test_modules_are_read_in_one_sitting():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_rules_are_short_and_name_no_paper():
    """What one paper needs stands in its room."""
    texts = {file: file.read_text() for file in [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]}
    assert [file for file, text in texts.items() if len(text.splitlines()) > MOST_LINES_OF_RULES] == []
    assert [file for file, text in texts.items() if re.search(r"(plt|gfm|swnn|ldsm|oplt)20\d\d", text)] == []


def test_the_walk_names_files_and_functions_that_exist():
    steps = re.findall(r"`([\w./-]+\.(?:py|smk|yaml)|Snakefile)(?::([\w.]+))?`", WALK)
    assert len(steps) > 10
    for file, function in steps:
        name = function.rpartition(".")[2]
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^\s*(def|class|rule|use rule) {name}\b|^{name} = ", text, re.M) or not name, (file, name)


def test_kernels_raise_and_print_nothing():
    """A kernel that kernels call has no place for the values of a message (see `xmlc.core.numba_private.Library`)."""
    found, wrong = 0, []
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(one) for one in node.decorator_list):
                found += 1
                inner = {type(part).__name__ for part in ast.walk(node)} & {"Raise", "Assert"}
                wrong += [f"{file}:{node.name}"] if inner or "print(" in ast.unparse(node) else []
    assert found > 100
    assert wrong == []
