"""Kernels compiled ahead of a run: the parts of a suite, and their completeness."""

import json
import os
import subprocess
import sys

import pytest
from repository import ROOT

import xmlc
from xmlc.compiling import compile_part, compile_parts, missing, model_of
from xmlc.core.errors import XmlcError
from xmlc.suite.steps.compile import parts_of

DEMO = ROOT / "config/demo.yaml"
# A foreign program has no kernels to compile, and it need not be installed.
PROGRAM = "benchmarks/baselines/omikuji_parabel.py:OmikujiParabel"
THEIRS = model_of("theirs", PROGRAM, {})


def test_parts_follow_the_configuration():
    parts = {part.title: part.arguments for part in parts_of(DEMO)}
    assert list(parts) == ["one-vs-rest", "plt", "stacking", "data", "ranking", "inference", "thresholds"]
    assert parts["plt"] == {"estimator": "plt", "hyperparameters": {"arity": 16}}
    assert set(parts["thresholds"]["methods"]) >= {"sto", "ofo-ab", "for-micro-f"}
    assert "meuf" in parts["inference"]["methods"]


def test_compiling_leaves_thread_setting_of_this_process_unchanged(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    list(compile_parts([THEIRS], 1))
    assert "NUMBA_NUM_THREADS" not in os.environ  # numba cannot change its thread pool in this process


def test_part_is_missing_until_compiled_with_same_content(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    other = model_of("theirs", PROGRAM, {"a": 1})
    assert missing([THEIRS, other]) == [THEIRS, other]
    compile_part(THEIRS)
    assert missing([THEIRS, other]) == [other]
    monkeypatch.setattr("xmlc.compiling.cpu_name", lambda: "another processor")
    assert missing([THEIRS]) == [THEIRS]
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))  # a file cannot contain the cache
    compile_part(THEIRS)
    assert missing([THEIRS]) == [THEIRS]


@pytest.mark.slow
def test_steps_compile_nothing_beyond_their_part(tmp_path):
    """A first run would compile such kernels on one core."""
    command = [sys.executable, str(ROOT / "tests/support/compiled_steps.py"), str(DEMO), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("kind", ["estimator", "thresholds", "inference"])
def test_unknown_names_are_refused_before_compilation(kind):
    with pytest.raises(XmlcError) as error:
        xmlc.compile_kernels("gmf") if kind == "estimator" else xmlc.compile_kernels(**{kind: ["gmf"]})
    assert "'gmf'" in str(error.value)


def test_unwritable_folder_is_reported_as_incomplete(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr("xmlc.compiling.compile_parts", lambda parts, cores: map(compile_part, parts))
    for folder, complete in (("kernels", True), ("file", False)):
        assert xmlc.compile_kernels(PROGRAM, to=tmp_path / folder) is complete
    assert not os.environ.get("NUMBA_CACHE_DIR")


@pytest.mark.slow
def test_first_requests_compile_nothing_if_folder_is_complete(tmp_path):
    """The server can only read the folder."""
    kernels, model = tmp_path / "kernels", tmp_path / "model"
    assert xmlc.compile_kernels("plt", to=kernels)
    for file in [*kernels.rglob("*"), kernels]:
        file.chmod(0o555 if file.is_dir() else 0o444)
    for part in ("train", "serve"):
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/support/first_request.py"), part, model],
            capture_output=True, text=True, check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(kernels)},
        )  # fmt: skip
        assert json.loads(done.stdout) == []
