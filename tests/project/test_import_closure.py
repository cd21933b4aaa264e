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


@pytest.mark.parametrize(
    ("statement", "packages"),
    [
        ("import xmlc.metrics.measures, xmlc.suite.results.columns", "numba"),
        (
            "import xmlc.models.plt, xmlc.models.linear.binary_relevance, "
            "xmlc.suite.steps.thresholds",
            "sklearn",
        ),
        ("import xmlc.suite.config.project", "numba pandas matplotlib"),
        (f"import {RECORDS}", "numba pandas matplotlib"),
        (LISTING, "numba matplotlib"),
        ("import xmlc.suite.steps.download", "gdown numba pooch"),
    ],
    ids=["measures", "steps", "configuration", "records", "tables", "download"],
)
def test_unneeded_packages_are_not_imported(statement, packages):
    code = (
        f"{statement}\nimport sys\nprint([name for name in {packages.split()} if name in "
        "sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


def test_steps_do_not_depend_on_one_another():
    table, train = (step_files(step) for step in ("table", "train"))
    assert not [file for file in table if "/models/" in file or "/thresholds/" in file]
    assert not [
        file
        for file in train
        if "/models/plt/" in file or "/thresholds/" in file or "/metrics/" in file
    ]


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
        ("pcc", {"linear"}),
        ("vw-cmt", set()),
    ],
)
def test_estimator_depends_only_on_its_building_blocks(estimator, folders):
    parts = [Path(file).parts for file in files_of(estimator)]
    below = [part[part.index("models") + 1 :] for part in parts if "models" in part]
    assert {names[0] for names in below if len(names) > 1} - {"trees"} == folders


def private_of_others(file):
    """Return the folders of other estimators from which a file imports private modules."""
    own = file.relative_to(PACKAGE).parts[1] if file.is_relative_to(PACKAGE / "models") else None
    found = re.findall(
        r"^xmlc\.models\.(\w+)\.(?:\w+\.)*_\w",
        "\n".join(sorted(imported_modules(file))),
        re.MULTILINE,
    )
    return [folder for folder in found if folder != own and (PACKAGE / "models" / folder).is_dir()]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_estimator_imports_a_private_module_of_another(estimator):
    files = [Path(file).resolve() for file in files_of(estimator)]
    assert {file: found for file in files if (found := private_of_others(file))} == {}


def test_binary_relevance_and_chains_do_not_depend_on_one_another():
    br = {Path(file).stem for file in files_of("br")}
    pcc = {Path(file).stem for file in files_of("pcc")}
    assert not br & {"classifier_chain", "_chain"}
    assert not pcc & {"binary_relevance", "_relevance"}
