"""The imports of the code agree with the layers in docs/architecture.md."""

import ast
import re
import subprocess
import sys

import pytest
from imports import imported_modules
from repository import ROOT

from xmlc.core.sources import PACKAGE

TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
LAYERS = {
    name: int(layer)
    for layer, name in re.findall(r"^\| (\d+) \| `([\w.]+)` \|", TEXT, re.MULTILINE)
}
WALK = TEXT.partition("## The walk of one number")[2].partition("\n## ")[0]
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 600
MOST_LINES_OF_RULES = 200


def package_of(dotted):
    """Return the package of a module in the table of layers, or None if the table does not list
    it.
    """
    parts = dotted.split(".")[1:]
    name = ".".join(parts[: 2 if parts[:1] == ["suite"] else 1])
    return name if name in LAYERS else None


def modules_of(package):
    folder = PACKAGE / package.replace(".", "/")
    return sorted(folder.rglob("*.py")) or [folder.with_suffix(".py")]


def test_every_package_has_a_layer():
    packages = {file.parent.name for file in PACKAGE.glob("*/__init__.py")} - {"suite"}
    packages |= {file.stem for file in PACKAGE.glob("*.py")} - {"__init__"}
    packages |= {f"suite.{file.parent.name}" for file in PACKAGE.glob("suite/*/__init__.py")}
    assert packages == set(LAYERS)


@pytest.mark.parametrize("own", LAYERS)
def test_a_package_imports_only_lower_layers(own):
    for file in modules_of(own):
        packages = {package_of(name) for name in imported_modules(file)} - {own, None}
        assert not [package for package in packages if LAYERS[package] >= LAYERS[own]], file


def test_the_library_does_not_import_the_suite():
    library = [file for file in MODULES if "suite" not in file.relative_to(PACKAGE).parts]
    assert len(library) > 100
    assert [file for file in library if "xmlc.suite" in " ".join(imported_modules(file))] == []
    # The package imports public names on demand.
    assert "xmlc.suite" not in (PACKAGE / "__init__.py").read_text()


def test_library_imports_only_its_dependencies():
    """The test hides every package that is not in `allowed`. Then it imports each module."""
    allowed = {"numba", "numpy", "scipy", "tqdm", "xxhash", "llvmlite", "xmlc"}
    library = [
        file.relative_to(PACKAGE.parent)
        for file in MODULES
        if file.relative_to(PACKAGE).parts[0] not in ("suite", "cli")
    ]
    names = [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in library]
    code = f"""
import importlib, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        is_known = top in {allowed!r} or top in sys.stdlib_module_names
        if not is_known and not top.startswith("_"):
            raise ModuleNotFoundError(top)
sys.meta_path.insert(0, Missing())
for name in {names!r}:
    importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_shared_paper_code_imports_no_paper():
    shared = [
        *(PACKAGE / "suite/papers").glob("*.py"),
        *(PACKAGE / "suite/papers/common").glob("*.py"),
    ]
    papers = re.compile(r"xmlc\.suite\.papers\.[a-z]+\d{4}\b")
    for file in shared:
        assert [name for name in imported_modules(file) if papers.match(name)] == [], file


def test_the_package_imports_no_benchmark():
    assert [
        file
        for file in MODULES
        if re.search(r"^\s*(from|import) benchmarks\b", file.read_text(), re.M)
    ] == []


def test_modules_are_short():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in MODULES}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_rules_are_short_and_name_no_paper():
    """Code for a single paper belongs in the paper's own package."""
    texts = {
        file: file.read_text() for file in [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]
    }
    assert [
        file for file, text in texts.items() if len(text.splitlines()) > MOST_LINES_OF_RULES
    ] == []
    assert [
        file for file, text in texts.items() if re.search(r"(plt|gfm|swnn|ldsm|oplt)20\d\d", text)
    ] == []


def test_files_and_functions_in_walkthrough_exist():
    steps = re.findall(r"`([\w./-]+\.(?:py|smk|yaml)|Snakefile)(?::([\w.]+))?`", WALK)
    assert len(steps) > 10
    for file, function in steps:
        name = function.rpartition(".")[2]
        text = (ROOT / file).read_text(encoding="utf-8")
        assert (
            re.search(rf"^\s*(def|class|rule|use rule) {name}\b|^{name} = ", text, re.M) or not name
        ), (file, name)


def test_kernels_neither_raise_nor_print():
    """Kernels return numbers, and their callers raise errors."""
    found = 0
    wrong = []
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                "njit" in ast.unparse(one) for one in node.decorator_list
            ):
                found += 1
                inner = {type(part).__name__ for part in ast.walk(node)} & {"Raise", "Assert"}
                wrong += [f"{file}:{node.name}"] if inner or "print(" in ast.unparse(node) else []
    assert found > 100
    assert wrong == []
