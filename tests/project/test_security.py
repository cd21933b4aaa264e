"""The package never executes stored data as code."""

import ast

import numpy as np
import pytest
from facts import raises_with

from xmlc.core.files import atomic_folder
from xmlc.core.sources import PACKAGE
from xmlc.kernels.indices import Malformed
from xmlc.kernels.stored import load_array

UNPICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
UNSAFE_CALLS = {"eval", "exec", "os.system", "os.popen", "yaml.unsafe_load", "yaml.full_load"}


def unsafe(node):
    """Yield each module or call of a node that could execute stored data."""
    modules = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    for module in modules:
        if module.split(".")[0] in UNPICKLING:
            yield module
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        options = {word.arg: ast.unparse(word.value) for word in node.keywords}
        is_pickled = called == "np.load" and options.get("allow_pickle") != "False"
        if called in UNSAFE_CALLS or options.get("shell") == "True" or is_pickled:
            yield called


def test_stored_data_are_never_unpickled_or_evaluated():
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            found += [f"{name}: {what}" for what in unsafe(node)]
    assert found == [
        # numba raises UnpicklingError if a kernel's file is cut off
        "core/kernel_cache.py: pickle",
        # loads another library's estimator or vectorizer if the user trusts it
        "models/pickled.py: joblib",
        "models/pickled.py: joblib",
    ]


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("was called",))


def test_pickled_array_is_refused_without_execution(tmp_path):
    with atomic_folder(tmp_path / "model") as folder:
        np.save(folder / "weights.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with raises_with(Malformed, "weights.npy"):
        load_array(tmp_path / "model/weights.npy")
