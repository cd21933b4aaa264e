"""tests/ has the folders of xmlc/, and the test of a module is found by its name, as CONTRIBUTING.md says."""

import re
from pathlib import Path

from repository import ROOT

from xmlc.sources import PACKAGE

TESTS = ROOT / "tests"
OF_NO_MODULE = {"cluster", "hostile", "project", "published", "support", "workflow"}
MOST_LINES, LONG = 300, 60
# Long modules that are tested in files of other names. A command and what it calls are tested at once where neither has
# anything to show without the other; classes that hold what others read are tested where they are read.
ELSEWHERE = {
    "bench/plt/test_plt.py": ["cli/tools/bench.py"],
    "cli/data/test_synth.py": ["data/synthetic/dataset.py"],
    "cli/steps/test_forest.py": ["measuring/sweeps.py"],
    "cli/steps/test_infer.py": ["inference/predictions.py", "measuring/inference.py", "measuring/label_sets.py"],
    "cli/steps/test_join.py": ["cli/steps/train.py"],
    "cli/steps/test_thresholds.py": ["measuring/evaluation.py"],
    "cli/steps/test_tune.py": ["tuning/plan.py", "tuning/result.py"],
    "data/fetching/test_http.py": ["data/fetching/limits.py", "data/fetching/supervised.py"],
    "data/test_prepare.py": ["data/prepared.py"],
    "models/oplt/test_estimator.py": ["models/oplt/tree.py"],
    "papers/plt2016/test_tables.py": ["tables/notes.py", "tables/table.py", "tables/titles.py"],
    "suites/test_reading.py": ["suites/suite.py"],
    "tuning/test_journal.py": ["tuning/objective.py"],
}


def named(module):
    """Return the folder in which the tests of a module are, and the name of its file without `test_`."""
    path = module.with_suffix("")
    return Path(*(part.lstrip("_") for part in path.parent.parts)), path.name.lstrip("_")


MODULES = sorted(file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py") if file.name != "__init__.py")
NAMES = {named(module) for module in MODULES}
FOLDERS = {folder for folder, _ in NAMES}
FILES = sorted(file.relative_to(TESTS) for file in TESTS.rglob("test_*.py"))


def is_about(file, name):
    return re.fullmatch(rf"test_{name}(_\w+)?\.py", file.name)


def of_a_module_or_folder(file):
    """Whether a file of tests is called after a module of the same folder, or after that folder."""
    names = [name for folder, name in NAMES if folder == file.parent]
    return file.parent in FOLDERS and any(is_about(file, name) for name in [*names, file.parent.name])


def test_every_file_of_tests_is_called_after_a_module_or_a_folder():
    own = [file for file in FILES if file.parts[0] not in OF_NO_MODULE]
    assert [str(file) for file in own if not of_a_module_or_folder(file)] == []


def has_tests(module):
    """Whether tests are found by the name of a module or of its folder; those of kernels are anywhere in the folder."""
    folder, name = named(module)
    private = any(part.startswith("_") for part in module.parts)
    folders = {folder, folder.parent} if folder.name == "kernels" and private else {folder}
    beside = [file for file in FILES if file.parent in folders]
    return any(private or is_about(file, name) or is_about(file, folder.name) for file in beside)


def is_long(module):
    lines = (PACKAGE / module).read_text(encoding="utf-8").splitlines()
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines) > LONG


def test_every_long_module_has_tests_of_its_name():
    untested = {str(module) for module in MODULES if is_long(module) and not has_tests(module)}
    listed = {module for modules in ELSEWHERE.values() for module in modules}
    assert untested - listed == set(), "name a test file after each, or say in ELSEWHERE which one tests it"
    assert listed - untested == set(), "these need not be in ELSEWHERE"
    assert {Path(file) for file in ELSEWHERE} <= set(FILES)


def test_files_of_tests_are_short():
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in TESTS.rglob("*.py")}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}
