"""Which files a step depends on: exactly those that it imports."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

from xmlc.models.registry import ESTIMATORS, estimator_files
from xmlc.sources import PACKAGE, imported_modules, source_files

DOCS = ROOT / "docs"


def imported_at_run_time(module):
    """Files of the package that importing a module really loads."""
    code = (
        f"import sys, {module}\n"
        "print('\\n'.join(m.__file__ for n, m in sorted(sys.modules.items()) if n.split('.')[0] == 'xmlc'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["xmlc.cli.steps.train", "xmlc.cli.tables.table", "xmlc.models.plt"])
def test_closure_covers_what_is_imported(module, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # from elsewhere the paths are absolute
    files = set(source_files(module))
    assert imported_at_run_time(module) <= files | {f for f in files if f.endswith("__init__.py")}


def test_steps_do_not_depend_on_one_another():
    table, threshold, train = (
        source_files(f"xmlc.cli.{step}") for step in ("tables.table", "steps.threshold", "steps.train")
    )
    assert not [file for file in table if "/models/" in file or "/thresholds/" in file]
    assert not [file for file in threshold if "/models/" in file or "/tables/" in file]
    assert not [file for file in train if "/models/plt/" in file or "/thresholds/" in file or "/metrics/" in file]


@pytest.mark.parametrize(
    ("estimator", "rooms"),
    [
        ("plt", {"plt"}),
        ("parabel", {"plt"}),  # its trees are PLTs
        ("oplt", {"oplt", "plt"}),  # it learns with a PLT's kernels, and becomes one
        ("fastxml", {"fastxml"}),
        ("ldsm", {"ldsm"}),
        ("swnn", {"nearest"}),
        ("br", {"linear"}),
        ("pcc", {"linear"}),
        ("omikuji-parabel", {"peers"}),
    ],
)
def test_an_estimator_depends_on_no_other_but_what_it_is_built_on(estimator, rooms):
    parts = [Path(file).parts for file in source_files(*estimator_files(estimator))]
    below = [part[part.index("models") + 1 :] for part in parts if "models" in part]
    assert {names[0] for names in below if len(names) > 1} == rooms


def private_of_others(file):
    """Return the private modules that a file imports from the folder of an estimator that is not its own."""
    own = file.relative_to(PACKAGE).parts[1] if file.is_relative_to(PACKAGE / "models") else None
    found = re.findall(r"^xmlc\.models\.(\w+)\.(?:\w+\.)*_\w", "\n".join(sorted(imported_modules(file))), re.MULTILINE)
    return [folder for folder in found if folder != own and (PACKAGE / "models" / folder).is_dir()]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_estimator_imports_a_private_module_of_another(estimator):
    files = [Path(file).resolve() for file in source_files(*estimator_files(estimator))]
    assert {file: found for file in files if (found := private_of_others(file))} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from xmlc.models.plt import PLT", set()),
        ("from xmlc.models.plt.weights import NodeWeights", set()),
        ("from xmlc.models._averages import mean_top_k", set()),
        ("from xmlc.models.plt.weights._nodes import NodeWeights", {"plt"}),
        ("import xmlc.models.fastxml._grow", {"fastxml"}),
    ],
)
def test_private_modules_of_others_are_found(line, found, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(line)
    assert set(private_of_others(file)) == found


def test_the_page_of_closures_is_current():
    assert runpy.run_path(str(DOCS / "closures.py"))["page"]() == (DOCS / "closures.md").read_text(encoding="utf-8"), (
        "call `make closures`"
    )


def test_binary_relevance_and_chains_do_not_depend_on_one_another():
    br, pcc = ({Path(file).stem for file in source_files(*estimator_files(name))} for name in ("br", "pcc"))
    assert not br & {"classifier_chain", "_chain"}
    assert not pcc & {"binary_relevance", "_relevance"}


def test_lazy_imports_count_and_type_checking_does_not(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "import numpy\n"
        "if TYPE_CHECKING:\n    import xmlc.runtime.progress\n"
        "def f():\n    from xmlc.trees import complete\n"
    )
    assert imported_modules(file) == {"xmlc", "xmlc.trees", "xmlc.trees.complete"}
    files = source_files(str(file))
    assert str(file) in files
    assert any(name.endswith("trees/label_tree.py") for name in files)
    assert not any(name.endswith("progress.py") for name in files)


def test_imports_are_found_in_every_kind_of_statement(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import typing\n"
        "try:\n    import xmlc.errors\nexcept OSError:\n    import xmlc.files\n"
        "else:\n    import xmlc.csr\nfinally:\n    import xmlc.kernels.bits\n"
        "while True:\n    with open('x'):\n        import xmlc.runtime.threads\n"
        "if typing.TYPE_CHECKING:\n    import xmlc.runtime.progress\nelif 1:\n    import xmlc.runtime.parallel\n"
        "class A:\n    async def f(self):\n"
        "        match self:\n            case 1:\n                import xmlc.samples\n"
        "def __getattr__(name):\n    import xmlc.sources\n"
    )
    found = {"errors", "files", "csr", "kernels", "kernels.bits", "samples"}
    found |= {"runtime", "runtime.threads", "runtime.parallel"}
    assert imported_modules(file) == {"xmlc"} | {f"xmlc.{name}" for name in found}
