"""Kernels compiled ahead of a run or of a first request."""

import json
import os
import subprocess
import sys

import pytest
from repository import ROOT

import xmlc
from xmlc.core.errors import XmlcError
from xmlc.suite.config.suite import read_suite
from xmlc.suite.steps.compile import compile_groups, kernels_of

DEMO = ROOT / "config/demo.yaml"


def test_groups_follow_the_configuration():
    groups = kernels_of(read_suite(DEMO))
    assert list(groups) == [
        "one-vs-rest",
        "plt",
        "stacking",
        "oracle",
        "data",
        "ranking",
        "inference",
        "thresholds",
    ]
    assert groups["plt"].args == ("plt", {"arity": 16})
    assert set(groups["thresholds"].args[0]) >= {"sto", "ofo-ab", "for-micro-f"}
    assert "meuf" in groups["inference"].args[0]
    assert list(kernels_of(read_suite(DEMO), ["plt"])) == [
        "plt",
        "data",
        "ranking",
        "inference",
        "thresholds",
    ]


def test_compiling_leaves_thread_setting_of_this_process_unchanged(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    compile_groups([kernels_of(read_suite(DEMO))["oracle"]], 1)
    # numba cannot change its thread pool in this process
    assert "NUMBA_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_steps_compile_nothing_beyond_their_part(tmp_path):
    """A first run would compile such kernels on one core."""
    command = [
        sys.executable,
        str(ROOT / "tests/support/compiled_steps.py"),
        str(DEMO),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("kind", ["estimator", "thresholds", "inference"])
def test_unknown_names_are_refused_before_compilation(kind):
    with pytest.raises(XmlcError) as error:
        xmlc.compile_kernels("gmf") if kind == "estimator" else xmlc.compile_kernels(
            **{kind: ["gmf"]}
        )
    assert "'gmf'" in str(error.value)


@pytest.mark.slow
def test_first_requests_compile_nothing_after_compile_kernels(tmp_path):
    """The server can only read the folder."""
    kernels = tmp_path / "kernels"
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    code = "import xmlc; xmlc.compile_kernels('plt')"
    subprocess.run([sys.executable, "-c", code], check=True, env=variables)
    for file in [*kernels.rglob("*"), kernels]:
        file.chmod(0o555 if file.is_dir() else 0o444)
    for part in ("train", "serve"):
        command = [
            sys.executable,
            str(ROOT / "tests/support/first_request.py"),
            part,
            tmp_path / "model",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
        assert json.loads(done.stdout) == []
