"""Test that no outdated kernel runs, and that each version of a kernel is compiled once."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shared_kernels
from repository import ROOT

from xmlc.core import kernel_cache

DECORATOR = re.compile(r"^\s*@(njit|overload|intrinsic)\b", re.MULTILINE)
KERNEL = "from xmlc.core.kernel_cache import njit\n\n\n@njit\ndef "
PROGRAM = {
    "xmlc/a/inner.py": f"{KERNEL}inner(x):\n    return x + 1\n",
    "xmlc/a/__init__.py": "from xmlc.a.constants import SUMMAND\n",
    "xmlc/a/constants.py": "from xmlc.a.more import MORE\n\nSUMMAND = MORE + 10\n",
    "xmlc/a/more.py": "MORE = 100\n",
    "xmlc/a/outer.py": "from xmlc.a import SUMMAND\n"
    f"from xmlc.a import inner as other\n{KERNEL}outer(x):\n"
    "    return other_inner(x) + SUMMAND\n\n\nother_inner = other.inner\n",
    "xmlc/suite/step.py": "from xmlc.a.outer import outer\n",
    "run.py": "{imports}from xmlc.a.outer import outer\nprint(outer(1), "
    "sum(outer.stats.cache_misses.values()))\n",
}
IMPORTS = {"script": "", "numba first": "import numba\n", "command line": "import xmlc.cli\n"}


def run_python(*arguments, **variables):
    """Run Python without numba's variables, except those given."""
    environment = {name: value for name, value in os.environ.items() if "NUMBA_" not in name}
    for name, value in variables.items():
        environment[name] = str(value)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def project(tmp_path):
    """Make a package with the real cache and two kernels: one calls the other.

    Return its folder and a function that runs it.
    """
    folder = tmp_path / "a project"
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("xmlc/core", "xmlc/cli"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for file in (ROOT / "xmlc").glob("*.py"):
        shutil.copy(file, folder / "xmlc")
    for name, text in PROGRAM.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def run(how="script", **variables):
        """Return the result of ``outer(1)``, and how many kernels were compiled."""
        (folder / "run.py").write_text(PROGRAM["run.py"].format(imports=IMPORTS[how]))
        cache = {"XDG_CACHE_HOME": str(tmp_path / "user's")}
        done = run_python(folder / "run.py", PYTHONPATH=folder, **cache | variables)
        return tuple(map(int, done.stdout.split()))

    return folder, run


def edit(folder, name, old, new):
    file = folder / name
    text = file.read_text()
    time = file.stat().st_mtime
    assert old in text
    file.write_text(text.replace(old, new, 1))
    # Python would reuse old bytecode of the same second and size for the new text.
    os.utime(file, (time + 5, time + 5))


def test_edited_kernel_runs_new_code_for_every_call_form(project):
    folder, run = project
    assert run() == (112, 1)
    for number, how in enumerate(IMPORTS, 1):
        edit(folder, "xmlc/a/inner.py", f"x + {number}", f"x + {number + 1}")
        assert run(how) == (112 + number, 1)
    assert run() == (112 + len(IMPORTS), 0)


@pytest.mark.slow
def test_comments_docstrings_and_the_suite_compile_nothing(project):
    folder, run = project
    assert run() == (112, 1)
    for name in ("inner", "outer", "more"):
        docstring = f'"""A docstring of {name},\n\nof three lines."""\n# and a comment\n\n'
        edit(folder, f"xmlc/a/{name}.py", "", docstring)
    edit(folder, "xmlc/suite/step.py", "import outer", "import outer\n\nSTEP = outer")
    assert run() == (112, 0)
    # A changed constant counts, whatever module defines it.
    edit(folder, "xmlc/a/more.py", "100", "200")
    assert run() == (212, 1)


@pytest.mark.slow
def test_alternating_versions_compile_once_and_oldest_are_removed(project):
    folder, run = project
    assert run() == (112, 1)
    edit(folder, "xmlc/a/inner.py", "x + 1", "x + 2")
    assert run() == (113, 1)
    for old, new in (("2", "1"), ("1", "2")):
        edit(folder, "xmlc/a/inner.py", f"x + {old}", f"x + {new}")
        assert run() == (111 + int(new), 0)
    for number in range(2, 1 + kernel_cache.KEPT):
        edit(folder, "xmlc/a/inner.py", f"x + {number}", f"x + {number + 1}")
        assert run()[1] == 1
    assert len(list((folder / "xmlc/__pycache__").glob("kernels-*"))) == kernel_cache.KEPT


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["given", "read-only package", "read-only"])
def test_cache_uses_a_writable_folder(project, kind):
    folder, run = project
    user = folder.parent / "user's"
    given = folder.parent / "given"
    variables = {}
    if kind == "given":
        variables["NUMBA_CACHE_DIR"] = given
    else:
        # A file in place of the folder stops all users, but a read-only folder would not stop root.
        (folder / "xmlc/__pycache__").touch()
        if kind == "read-only":
            user.touch()
    assert run(**variables) == (112, 1)
    assert run(**variables) == (112, int(kind == "read-only"))
    place = {"given": given, "read-only package": user / "xmlc"}.get(kind)
    assert place is None or re.fullmatch(r"kernels-[0-9a-f]{16}", os.listdir(place)[0])
    edit(folder, "xmlc/a/inner.py", "x + 1", "x + 2")
    assert run(**variables) == (113, 1)


def test_cache_stores_every_kernel_under_unique_name():
    for file in kernel_cache.PACKAGE.rglob("*.py"):
        names = []
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                imported = [alias.name for alias in node.names]
                assert file.name == "kernel_cache.py" or "njit" not in imported, file
            if isinstance(node, ast.FunctionDef) and "njit" in "".join(
                map(ast.unparse, node.decorator_list)
            ):
                names.append(node.name)
        assert len(names) == len(set(names)), file


def test_user_kernels_stay_in_numba_cache(tmp_path):
    (tmp_path / "theirs.py").write_text(
        "import numba\n\n\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
    )
    code = "import xmlc.core.kernel_cache, theirs\ntheirs.twice(1)\n"
    code += "print(theirs.twice.stats.cache_path)"
    done = run_python("-c", code, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert Path(done.stdout.strip()) == tmp_path / "__pycache__"
    assert list((tmp_path / "__pycache__").glob("*.nbi"))


CALLS = """
import math
import numba
from xmlc.core.kernel_cache import njit


@numba.njit
def root(x):
    return math.sqrt(x)


@njit
def factorial(x):
    return x * factorial(x - 1) if x > 1 else root(x)


@njit
def outer(x):
    return factorial(x) / 7 + root(x)


@numba.njit
def theirs(x):
    return outer(x) + factorial(x)


print(outer(3.0), theirs(3.0), factorial(3.0), root(4.0))
print(sum(outer.stats.cache_misses.values()), sum(factorial.stats.cache_misses.values()))
"""


def test_kernels_may_be_recursive_and_call_one_another(tmp_path):
    (tmp_path / "calls.py").write_text(CALLS)
    variables = {"NUMBA_CACHE_DIR": tmp_path / "kept", "PYTHONPATH": ROOT}
    for n_compiled in (1, 0):
        done = run_python(tmp_path / "calls.py", **variables)
        *results, of_outer, of_factorial = map(float, done.stdout.split())
        np.testing.assert_allclose(results, (6 / 7 + 3**0.5, 6 / 7 + 3**0.5 + 6, 6, 2), rtol=1e-12)
        assert of_outer == n_compiled
        assert of_factorial <= n_compiled


@pytest.mark.slow
def test_truncated_cache_file_is_recompiled(project):
    folder, run = project
    assert run() == (112, 1)
    for ending in (".nbi", ".nbc"):
        for file in (folder / "xmlc/__pycache__").rglob(f"*{ending}"):
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        assert run() == (112, 1)
    assert run() == (112, 0)


@pytest.mark.slow
def test_cache_is_off_without_file_locks(project):
    folder, run = project
    edit(folder, "xmlc/core/files.py", "fcntl.flock(handle", "raise OSError(95, 'no locks', handle")
    assert run() == run() == (112, 1)
    assert not list((folder / "xmlc/__pycache__").rglob("*.nb[ci]"))


@pytest.mark.slow
def test_simultaneous_processes_compile_each_kernel_once(tmp_path):
    (tmp_path / "kernels_of_a_test.py").write_text(shared_kernels.SOURCE)
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "shared"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "tests/support/shared_kernels.py"), str(tmp_path)]
    running = [
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    found = [json.loads(process.communicate()[0]) for process in running]
    assert all(one["results"] == found[0]["results"] for one in found)
    assert sum(one["compiled"] for one in found) == 8
    assert len(list((tmp_path / "shared").rglob("*.nbc"))) == 8


def test_only_algorithm_and_data_packages_contain_kernels():
    """Otherwise an edit of a record, for example, would compile all kernels again."""
    packages = set()
    for file in kernel_cache.PACKAGE.rglob("*.py"):
        if DECORATOR.search(file.read_text("utf-8")):
            packages.add(file.relative_to(kernel_cache.PACKAGE).parts[0])
    assert packages == {"kernels", "data", "metrics", "inference", "thresholds", "models"}


def test_warning_about_unwritable_cache_cannot_be_disabled(tmp_path):
    (tmp_path / "file").touch()
    variables = {"XMLC_PROGRESS": 0, "NUMBA_CACHE_DIR": tmp_path / "file", "PYTHONPATH": ROOT}
    done = run_python("-c", "import xmlc.kernels.csr, xmlc.kernels.top_k", **variables)
    assert done.stderr.count(str(tmp_path / "file")) == 1
