"""What SECURITY.md and docs/hostile.md say: each test that they name is there, each sentence is in the source."""

import ast
import re

import numpy as np
import pytest
from repository import ROOT

from xmlc.files import atomic_folder
from xmlc.gate.arrays import Malformed
from xmlc.gate.stored import load_array
from xmlc.sources import PACKAGE

PAGE = (ROOT / "docs/hostile.md").read_text(encoding="utf-8")
REFUSALS = re.findall(r"^\| .+? \| ``?(.+?)``? \| `(\S+?)::(\S+)` \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`tests/(\S+?)::(\S+?)`", PAGE + (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
SOURCES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}
UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
OWN_KERNELS = "runtime/kernel_entries.py"  # what this user compiled
UNSAFE_CALLS = {"eval", "exec", "os.system", "os.popen", "yaml.unsafe_load", "yaml.full_load"}


def sentences():
    """Every text of the package, with … for what is put into it."""
    for tree in SOURCES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_every_test_that_is_named_is_there():
    assert len(NAMED) > 10
    named = {*NAMED, *((file, f"test_{name}") for _, file, name in REFUSALS)}
    missing = {
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / "tests" / file).is_file()
        or not re.search(rf"^def {test}\(", (ROOT / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert missing == set()


def test_every_sentence_is_in_the_source():
    assert len(REFUSALS) == len(re.findall(r"^\| [^|]+ \| `", PAGE, re.MULTILINE)) > 40
    texts = set(sentences())
    assert [said for said, _, _ in REFUSALS if not any(said in text for text in texts)] == []


def test_nothing_from_disk_is_unpickled_or_evaluated():
    """But for compiled kernels, whose folder only their user can write to."""
    found = []
    for file, tree in SOURCES.items():
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and name != OWN_KERNELS:
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                found += [f"{name}: {module}" for module in modules if module.split(".")[0] in UNPICKLING]
            if isinstance(node, ast.Call):
                called, options = ast.unparse(node.func), {word.arg: ast.unparse(word.value) for word in node.keywords}
                found += [f"{name}: {called}"] * (called in UNSAFE_CALLS or options.get("shell") == "True")
                found += [f"{name}: np.load"] * (called == "np.load" and options.get("allow_pickle") != "False")
    assert found == []


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("was called",))


def test_an_array_that_is_a_pickle_is_refused_and_not_called(tmp_path):
    with atomic_folder(tmp_path / "model") as folder:
        # The attack itself: such a file is written here only to be refused below.
        np.save(folder / "weights.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(Malformed, match="no whole array of numpy"):
        load_array(tmp_path / "model/weights.npy")
