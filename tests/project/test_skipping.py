"""What is skipped is summed up by its reason, and fails where everything is promised to be there."""

import os
import subprocess
import sys
import tomllib

import pytest
from needs import EXTRAS
from repository import ROOT

FILE = """
import pytest

@pytest.mark.needs("absent")
@pytest.mark.parametrize("case", [1, 2])
def test_marked(case):
    raise AssertionError("ran without what it needs")

@pytest.fixture
def tool():
    from needs import require
    return require("present")

def test_fixture(tool):
    assert tool == "here"

@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert False
"""
PLUGIN = """
from needs import NEEDS, Need

NEEDS["absent"] = Need(lambda: None, "no such thing", "make thing")
NEEDS["present"] = Need(lambda: "here", "never", "never")
"""


def run(folder, *options, **environment):
    (folder / "test_some.py").write_text(FILE)
    (folder / "test_whole_file.py").write_text("import pytest\npytest.skip('not today', allow_module_level=True)\n")
    (folder / "more_needs.py").write_text(PLUGIN)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = needs(*names)\naddopts = -rfE --strict-markers\n")
    path = os.pathsep.join([str(folder), str(ROOT / "tests/support")])
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("XMLC_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "needs", "-p", "more_needs", *options],
        cwd=folder,
        env=clean | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
    )


def test_each_reason_is_one_line_with_its_remedy(tmp_path):
    done = run(tmp_path, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("skipped", "SKIPPED"))]
    assert lines == ["skipped 2 tests: no such thing (make thing)", "skipped 1 test: not today"]
    assert "1 passed, 3 skipped, 1 xfailed" in done.stdout


def test_where_all_is_required_nothing_may_be_skipped(tmp_path):
    done = run(tmp_path, "--continue-on-collection-errors", XMLC_REQUIRE_ALL="1")
    assert done.returncode == 1
    assert "XMLC_REQUIRE_ALL is set, but: Skipped: no such thing (make thing)" in done.stdout
    assert "XMLC_REQUIRE_ALL is set, but: Skipped: not today" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("name", EXTRAS)
def test_an_extra_is_looked_for_by_its_packages(name):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {line.split(">")[0] for line in extras[name]} - {line.split(">")[0] for line in extras["test"]}
    assert named == set(EXTRAS[name])
