"""Steps and estimators depend only on the modules that they need."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from imports import imported_modules

from xmlc.core.sources import PACKAGE
from xmlc.models.registry import ESTIMATORS
from xmlc.suite.provenance.code import NO_EFFECT, estimator_files, step_files
from xmlc.suite.provenance.sources import source_files

RECORDS = ", ".join(
    f"xmlc.suite.results.records.{file.stem}"
    for file in PACKAGE.glob("suite/results/records/[a-z]*.py")
)
LISTING = (
    "from xmlc.suite.papers import figure_of, rooms, tables_of; figure_of('1', 'plt2016'); "
    "[*map(tables_of, rooms())]"
)


def files_of(estimator):
    """Return the files that make a model of an estimator stale."""
    return source_files(*estimator_files(estimator), without=NO_EFFECT)


STATEMENTS = {
    "import xmlc.metrics.measures, xmlc.suite.results.columns": "numba",
    "import xmlc.models.plt, xmlc.models.linear.binary_relevance, xmlc.suite.steps.thresholds": (
        "sklearn"
    ),
    "import xmlc.suite.config.project": "numba pandas matplotlib",
    f"import {RECORDS}": "numba pandas matplotlib",
    LISTING: "numba matplotlib",
    "import xmlc.suite.steps.download": "gdown numba pooch",
}


@pytest.mark.parametrize("statement", STATEMENTS, ids=STATEMENTS.get)
def test_unneeded_packages_are_not_imported(statement):
    code = f"""{statement}
import sys
print([name for name in {STATEMENTS[statement].split()} if name in sys.modules])"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_steps_do_not_depend_on_one_another():
    table = " ".join(step_files("table"))
    train = " ".join(step_files("train"))
    assert not re.search("/(models|thresholds)/", table)
    assert not re.search("/(models/plt|thresholds|metrics)/", train)


@pytest.mark.parametrize(
    ("estimator", "folders"),
    [
        ("plt", {"plt"}),
        ("parabel", {"plt"}),  # Parabel's trees are PLTs.
        ("oplt", {"oplt", "plt"}),  # OPLT learns with the kernels of a PLT and can become a PLT.
        ("fastxml", {"fastxml"}),
        ("ldsm", {"ldsm"}),
        ("swnn", {"nearest"}),
        ("br", {"linear"}),
        ("vw-cmt", set()),
    ],
)
def test_estimator_depends_only_on_its_building_blocks(estimator, folders):
    found = re.findall(r"/models/(\w+)/", "\n".join(map(str, files_of(estimator))))
    assert set(found) - {"trees"} == folders


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_estimator_imports_a_private_module_of_another(estimator):
    for file in map(Path, files_of(estimator)):
        modules = "\n".join(imported_modules(file))
        private = re.findall(r"^xmlc\.models\.(\w+)\.(?:\w+\.)*_\w", modules, re.MULTILINE)
        folders = {name for name in private if (PACKAGE / "models" / name).is_dir()}
        assert folders <= {file.parent.name}, file


def test_binary_relevance_and_chains_do_not_depend_on_one_another():
    assert "chain" not in " ".join(Path(file).stem for file in files_of("br"))
    assert "relevance" not in " ".join(Path(file).stem for file in files_of("pcc"))
