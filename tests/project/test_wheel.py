"""The wheel works in an empty environment outside the clone.

The source archive contains all files.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from repository import ROOT
from tutorials import run_bash

from xmlc import data, inference, metrics, models, thresholds
from xmlc.core.kernel_cache import kernel_folder

pytestmark = [pytest.mark.slow, pytest.mark.needs("lint", "release")]
# llvmlite, NumPy, numba and SciPy take 366 of 370
MOST_PACKAGES = 12
MOST_MEGABYTES = 380
OF_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}
SIZES = """
import json
from importlib.metadata import distributions

sizes = {}
for one in distributions():
    sizes[one.name] = sum(file.locate().stat().st_size for file in one.files)
print(json.dumps(sizes))
"""
PROGRAM = """
def evaluate(train: str, test: str) -> tuple[float, float]:
    X, Y = load(train)
    X_test, Y_test = load(test)
    model = PLT(arity=16).fit(X, Y)
    method = OFO(a=1, b=20).fit(model.predict_proba(X), Y)
    label_sets = method.predict(model.predict_proba(X_test, threshold=1e-4))
    labels, scores = model.predict_top_k(X_test, 5)
    # An error that mypy must see: without our types a score is Any, and --strict refuses an ignore
    # that hides nothing.
    wrong: str = model.score(X_test, Y_test)  # type: ignore[assignment]
    return macro_f(Y_test, label_sets), precision_at_k(Y_test, labels, 5)
"""


def run(*command, folder):
    done = subprocess.run(
        [*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_the_clone():
    options = ("-z", "--cached", "--others", "--exclude-standard")
    listed = run("git", "ls-files", *options, folder=ROOT).split("\0")
    return {name for name in listed if name and (ROOT / name).exists()}


def released():
    """Return the files of the clone. The files behind a link of the package replace the link."""
    names = in_the_clone()
    for link in [name for name in names if (ROOT / name).is_symlink()]:
        names.remove(link)
        target = (ROOT / link).resolve().relative_to(ROOT).as_posix()
        for name in in_the_clone():
            if name == target or name.startswith(f"{target}/"):
                names.add(link + name.removeprefix(target))
    return names


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a folder with the wheel and the source archive of all files that git does not
    ignore.
    """
    folder = tmp_path_factory.mktemp("release")
    for name in in_the_clone():
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target, follow_symlinks=False)
    run(sys.executable, "-m", "build", "--outdir", "dist", "source", folder=folder)
    return folder


@pytest.fixture(scope="module")
def python(built):
    """Return the Python of an environment that contains only the wheel and its dependencies,
    without pip.
    """
    run(sys.executable, "-m", "venv", "--without-pip", "empty", folder=built)
    python = built / "empty/bin/python"
    install(python, *built.glob("dist/*.whl"))
    return python


def install(python, *what):
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    run(*pip, "--constraint", ROOT / "constraints.txt", *what, folder=python.parent)


def test_wheel_contains_package_and_archive_contains_all_files(built):
    (wheel,) = built.glob("dist/*.whl")
    (archive,) = built.glob("dist/*.tar.gz")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == {name for name in released() if name.startswith("xmlc/")}
    assert {"xmlc/shipped/Snakefile", "xmlc/shipped/config/papers/plt2016.yaml"} < names
    with tarfile.open(archive) as opened:
        files = {member.name.partition("/")[2] for member in opened if member.isfile()}
    made = {name for name in files if name.startswith("xmlc_suite.egg-info/")}
    assert files - made - OF_SETUPTOOLS == released()


def test_wheel_of_the_files_of_an_image_is_complete(built, tmp_path):
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            source = built / "source" / line[1:]
            target = tmp_path / "source" / line[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True)
            else:
                shutil.copy(source, target)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", "dist", "source", folder=tmp_path)
    wheels = [next(folder.glob("dist/*.whl")) for folder in (tmp_path, built)]
    of_image, whole = (zipfile.ZipFile(wheel).namelist() for wheel in wheels)
    assert sorted(of_image) == sorted(whole)


def test_base_install_is_small(python):
    sizes = json.loads(run(python, "-I", "-c", SIZES, folder=python.parent))
    assert len(sizes) <= MOST_PACKAGES, sizes
    assert sum(sizes.values()) / 1e6 <= MOST_MEGABYTES, sizes


def test_import_works_in_folder_that_contains_clone_in_clone_and_below(python, tmp_path):
    (tmp_path / "xmlc").symlink_to(ROOT)
    for folder in (tmp_path, tmp_path / "xmlc", tmp_path / "xmlc/docs"):
        said = run(python, "-c", "from xmlc import PLT; print(PLT.__name__)", folder=folder)
        assert said == "PLT\n"


def test_type_checkers_resolve_public_names(python, tmp_path):
    rooms = (data, inference, metrics, models, thresholds)
    imports = [f"from {room.__name__} import {', '.join(room.__all__)}\n" for room in rooms]
    (tmp_path / "mine.py").write_text("".join(imports) + PROGRAM)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path]
    said = run(*mypy, "--python-executable", python, "mine.py", folder=tmp_path)
    assert "Success" in said


def test_study_runs_with_wheel_and_writes_only_in_its_folder(built, tmp_path):
    """This Python provides all other packages, but xmlc comes from the wheel alone."""
    (wheel,) = built.glob("dist/*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    before = sorted((tmp_path / "site").rglob("*"))
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path / "site"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": os.fspath(kernel_folder().parent),  # the wheel's kernels are the same
    }
    run_bash("xmlc new mine", tmp_path, environment)
    commands = re.findall(r"^    (.*\n)", (tmp_path / "mine/README.md").read_text(), re.M)
    said = run_bash("".join(commands), tmp_path / "mine", environment)
    page = (ROOT / "docs/study.md").read_text()
    (shown,) = re.findall(r"^```text\n(\*\*.*?)```$", page, re.M | re.S)
    assert shown in said
    looking = "xmlc compare accepted results/tables && xmlc status && xmlc fingerprint"
    run_bash(f"{looking} && xmlc results", tmp_path / "mine", environment)
    assert sorted((tmp_path / "site").rglob("*")) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine", "site"]
