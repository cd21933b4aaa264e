"""Kernels compiled ahead of a run: what of a suite, and whether that is all."""

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
# A program of others has nothing to compile, and need not be installed.
PROGRAM = "benchmarks/peers/omikuji_parabel.py:OmikujiParabel"
THEIRS = model_of("theirs", PROGRAM, {})


def test_parts_are_what_the_configuration_names():
    parts = {part.title: part.arguments for part in parts_of(DEMO)}
    assert list(parts) == ["plt", "fastxml", "data", "ranking", "inference", "thresholds"]
    assert parts["fastxml"] == {"estimator": "fastxml", "hyperparameters": {"n_trees": 10}}
    assert set(parts["thresholds"]["methods"]) >= {"sto", "ofo-ab", "for-micro-f"}
    assert "gfm-sizes" in parts["inference"]["methods"]


def test_only_the_processes_that_compile_are_told_their_threads(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    list(compile_parts([THEIRS], 1))
    assert "NUMBA_NUM_THREADS" not in os.environ  # numba would refuse to change its pool in this process


def test_a_part_is_compiled_once_for_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    other = model_of("theirs", PROGRAM, {"a": 1})
    assert missing([THEIRS, other]) == [THEIRS, other]
    compile_part(THEIRS)
    assert missing([THEIRS, other]) == [other]
    monkeypatch.setattr("xmlc.compiling.cpu_name", lambda: "another processor")
    assert missing([THEIRS]) == [THEIRS]
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))  # nothing can be kept there
    compile_part(THEIRS)
    assert missing([THEIRS]) == [THEIRS]


@pytest.mark.slow
def test_a_step_compiles_nothing_that_its_part_has_not(tmp_path):
    """Otherwise a first run would compile it after all, on one core."""
    command = [sys.executable, str(ROOT / "tests/support/compiled_steps.py"), str(DEMO), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("kind", ["estimator", "thresholds", "inference"])
def test_unknown_names_are_refused_before_anything_is_compiled(kind):
    with pytest.raises(XmlcError) as error:
        xmlc.compile_kernels("gmf") if kind == "estimator" else xmlc.compile_kernels(**{kind: ["gmf"]})
    assert "'gmf'" in str(error.value)


def test_a_folder_that_cannot_be_written_to_is_not_complete(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setattr("xmlc.compiling.compile_parts", lambda parts, cores: map(compile_part, parts))
    for folder, complete in (("kernels", True), ("file", False)):
        assert xmlc.compile_kernels(PROGRAM, to=tmp_path / folder) is complete
    assert not os.environ.get("NUMBA_CACHE_DIR")


@pytest.mark.slow
def test_first_requests_compile_nothing_where_the_folder_is_complete(tmp_path):
    """A server may only read the folder."""
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
