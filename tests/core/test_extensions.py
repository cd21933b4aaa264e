"""Test users' files and the modules next to them: their imports, and the files on which steps
depend.
"""

import sys
from pathlib import Path

import pytest
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.core.extensions import import_file
from xmlc.core.sources import PACKAGE
from xmlc.suite.provenance.sources import source_files

FILES = {
    "mine_a.py": "import numpy\nfrom helper_a import POWER\nimport helper_b as b\nfrom "
    "kit_a.deep.low import DEPTH\nFOUND = POWER, b.X, DEPTH\ndef late():\n    import "
    "helper_late\n    return helper_late.X\n",
    "helper_a.py": "from helper_c import THREE\nfrom xmlc.kernels.arrays import *\nPOWER = THREE\n",
    "helper_b.py": "X = 4\n",
    "helper_c.py": "THREE = 3\n",
    "helper_late.py": "import mine_a\nX = 5\n",
    "unused_a.py": "",
    "kit_a/__init__.py": "",
    "kit_a/deep/__init__.py": "",
    "kit_a/deep/low.py": "from ..twin import DEPTH\n",
    "kit_a/twin.py": "from . import base\nDEPTH = base.B\n",
    "kit_a/base.py": "B = 7\n",
    "pack_a/__init__.py": "",
    "pack_a/model.py": "from .part import Q\nfrom . import other\nFOUND = Q\n",
    "pack_a/part.py": "Q = 1\n",
    "pack_a/other.py": "",
    "spaces_a/plain.py": "R = 8\n",
    "mine_c.py": "from spaces_a import plain\nFOUND = plain.R\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def own_files(file):
    return {name for name in source_files(file) if PACKAGE not in Path(name).resolve().parents}


def test_neighbouring_modules_are_imported_now_and_later(folder):
    module = import_file("mine_a.py")
    assert module.FOUND == (3, 4, 7)
    assert module.late() == 5
    assert sys.modules["mine_a"] is module
    assert import_file("pack_a/model.py").FOUND == 1
    assert import_file(folder / "mine_c.py").FOUND == 8
    assert sys.path[-1] == str(folder / "pack_a")


def test_steps_depend_on_exactly_the_imported_modules(folder):
    kit = {"__init__", "deep/__init__", "deep/low", "twin", "base"}
    mine = {f"kit_a/{name}.py" for name in kit}
    mine |= {f"helper_{name}.py" for name in ("a", "b", "c", "late")}
    assert own_files("mine_a.py") == mine | {"mine_a.py"}
    assert any(name.endswith("kernels/arrays.py") for name in source_files("mine_a.py"))
    pack = {f"pack_a/{name}.py" for name in ("__init__", "model", "part", "other")}
    assert own_files("pack_a/model.py") == pack
    assert own_files("mine_c.py") == {"mine_c.py", "spaces_a/plain.py"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import random\n", "random"),
        ("import math\n", "math"),
        ("import helper_b\n", "helper_b"),
        ("import os, helper_b\n", "helper_b"),
    ],
)
def test_duplicate_module_name_is_refused(folder, text, name):
    import_file("mine_a.py")  # imports `helper_b`
    (folder / "elsewhere").mkdir()
    (folder / f"elsewhere/{name}.py").write_text("X = 99\n")
    (folder / "elsewhere/method.py").write_text(text)
    with raises_with(XmlcError, "method.py", f"import {name}", f"elsewhere/{name}.py"):
        import_file("elsewhere/method.py")


@pytest.mark.parametrize(
    "text", ["from spaces_b import far\n", "from .part import Q\n", "from . import other\n"]
)
def test_duplicate_name_of_an_indirect_module_is_refused(folder, text):
    (folder / "spaces_b").mkdir()
    (folder / "spaces_b/far.py").write_text("R = 8\n")
    (folder / "mine_e.py").write_text("import helper_b, spaces_b.far\n")
    import_file("mine_e.py")
    new = folder / "elsewhere/pack_b"
    (new / "spaces_b").mkdir(parents=True)
    for name in ("__init__.py", "helper_b.py", "spaces_b/far.py"):
        (new / name).write_text("R = 9\n")
    for name in ("part.py", "other.py"):
        (new / name).write_text("import helper_b\nQ = 2\n")
    (new / "method.py").write_text(text)
    with raises_with(XmlcError, "pack_b", "Rename it"):
        import_file("elsewhere/pack_b/method.py")


def test_neighbour_that_is_only_mentioned_may_have_a_common_name(folder):
    (folder / "random.py").write_text("A = 1\n")
    (folder / "mine_b.py").write_text('"""Draw numbers.\n\nimport random\n"""\nA = 2\n')
    assert import_file("mine_b.py").A == 2


def test_file_may_declare_another_encoding(folder):
    (folder / "mine_b.py").write_bytes(b"# -*- coding: latin-1 -*-\nNAME = '\xe9'\n")
    assert import_file("mine_b.py").NAME == "\u00e9"


def test_neighbour_may_be_a_link_to_another_folder(folder):
    (folder / "shared").mkdir()
    (folder / "shared/linked_a.py").write_text("X = 6\n")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/linked_a.py").symlink_to(folder / "shared/linked_a.py")
    (folder / "elsewhere/method_a.py").write_text("from linked_a import X\n")
    assert import_file("elsewhere/method_a.py").X == 6


def test_each_neighbour_is_read_once(folder):
    names = [f"round_a{number}" for number in range(30)]
    for name in names:
        (folder / f"{name}.py").write_text("def late():\n    import " + ", ".join(names) + "\n")
    assert import_file("round_a0.py").late() is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import not_installed_a\n", ["mine_b.py", "'not_installed_a'"]),
        ("from .helper_b import X\n", ["mine_b.py", "__init__.py"]),
        ("import broken_a\n", "broken_a.py:1"),
    ],
)
def test_failed_import_is_named(folder, text, said):
    (folder / "broken_a.py").write_text("a = (\n")
    (folder / "mine_b.py").write_text(text)
    with raises_with(XmlcError, said):
        import_file("mine_b.py")
    assert "mine_b" not in sys.modules
