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
RULES = [ROOT / "Snakefile", *ROOT.glob("workflow/**/*.smk")]
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
    """No package of the library is in a higher layer than the suite."""
    for file in modules_of(own):
        packages = {package_of(name) for name in imported_modules(file)} - {own, None}
        assert [package for package in packages if LAYERS[package] >= LAYERS[own]] == [], file


def test_library_imports_only_its_dependencies():
    """The test hides every package that is not in `allowed`. Then it imports each module."""
    allowed = {"numba", "numpy", "scipy", "tqdm", "xxhash", "llvmlite", "xmlc"}
    names = []
    for file in MODULES:
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[1] not in ("suite", "cli"):
            names.append(".".join(parts).removesuffix(".__init__"))
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


def files_with(pattern, files):
    """Return the files whose text contains a regular expression."""
    found = []
    for file in files:
        if re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE):
            found.append(file)
    return found


def test_shared_paper_code_imports_no_paper():
    papers = PACKAGE / "suite/papers"
    for file in [*papers.glob("*.py"), *papers.glob("common/*.py")]:
        imported = " ".join(imported_modules(file))
        assert not re.search(r"xmlc\.suite\.papers\.[a-z]+\d{4}\b", imported), file


def test_the_package_imports_no_benchmark():
    assert files_with(r"^\s*(from|import) benchmarks\b", MODULES) == []


def test_modules_and_rules_are_short():
    for file in [*MODULES, *RULES]:
        most = MOST_LINES_OF_RULES if file in RULES else MOST_LINES
        assert len(file.read_text(encoding="utf-8").splitlines()) <= most, file


def test_rules_name_no_paper():
    """Code for a single paper belongs in the paper's own package."""
    assert files_with(r"(plt|gfm|swnn|ldsm|oplt)20\d\d", RULES) == []


def test_files_and_functions_in_walkthrough_exist():
    steps = re.findall(r"`([\w./-]+\.(?:py|smk|yaml)|Snakefile)(?::([\w.]+))?`", WALK)
    assert steps
    for file, function in steps:
        text = (ROOT / file).read_text(encoding="utf-8")
        name = function.rpartition(".")[2]
        defined = rf"^\s*(def|class|rule|use rule) {name}\b|^{name} = "
        assert not name or re.search(defined, text, re.MULTILINE), (file, name)


def test_kernels_neither_raise_nor_print():
    """Kernels return numbers, and their callers raise errors."""
    kernels = []
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                if "njit" in decorators:
                    kernels.append((file, node))
    assert len(kernels) > 100
    for file, kernel in kernels:
        kinds = {type(part) for part in ast.walk(kernel)}
        assert not kinds & {ast.Raise, ast.Assert}, (file, kernel.name)
        assert "print(" not in ast.unparse(kernel), (file, kernel.name)
