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
MOST_FILES, MOST_PYTHON_IN_RULES, MOST_LINES_OF_RULES, MOST_UNTYPED = 30, 2, 150, 40
MOST_LINES = 600
IN_A_RULE = re.compile(r"^(use rule|rule|checkpoint)\b")


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


def test_private_modules_of_label_trees_stay_within_their_folders():
    for folder in ("plt", "oplt"):
        home = PACKAGE / "models" / folder
        private = re.compile(rf"xmlc\.models\.{folder}\.(\w+\.)*_\w")
        others = [file for file in MODULES if not file.is_relative_to(home)]
        assert {file: name for file in others for name in imported_modules(file) if private.match(name)} == {}


def test_modules_are_read_in_one_sitting():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_records_and_settings_are_types():
    untyped = sum(file.read_text(encoding="utf-8").count("dict[str, Any]") for file in MODULES)
    assert untyped <= MOST_UNTYPED


def test_rules_are_short_and_hold_no_python_but_that_of_common():
    files = sorted((ROOT / "workflow/rules").glob("*.smk"))
    assert all(len(file.read_text().splitlines()) <= MOST_LINES_OF_RULES for file in files)
    lines = [line for file in files if file.name != "common.smk" for line in python_of(file)]
    assert len(lines) <= MOST_PYTHON_IN_RULES, "\n".join(lines)
    text = "".join(file.read_text() for file in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")])
    assert not re.search(r"(plt|gfm|swnn|ldsm|oplt)20\d\d", text), "what one paper needs stands in its room"


def python_of(file):
    """Return the lines of a rule file that stand in no rule, empty ones and comments left out."""
    found, depth = [], None
    for line in file.read_text(encoding="utf-8").splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if depth is not None and indent > depth:
            continue
        depth = indent if IN_A_RULE.match(line.lstrip()) else None
        if depth is None:
            found.append(line)
    return found


def test_the_walk_names_files_and_functions_that_exist():
    steps = re.findall(r"`([\w./-]+\.(?:py|smk|yaml)|Snakefile)(?::([\w.]+))?`", WALK)
    files = list(dict.fromkeys(file for file, _ in steps))
    assert 10 < len(files) <= MOST_FILES
    for file, function in steps:
        path = ROOT / file
        assert path.is_file(), file
        if function:
            assert function in defined_in(path), f"{file} has no {function}"


def defined_in(path):
    """Return the names of functions, classes and methods, and of constants and rules."""
    if path.suffix != ".py":
        return set(re.findall(r"^\s*(?:use rule|rule) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


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
