"""Kernels compiled ahead of a run or of a first request."""

import json
import os
import subprocess
import sys

import pytest
from repository import ROOT

import xmlc
from xmlc.core.errors import XmlcError

DEMO = ROOT / "config/demo.yaml"


@pytest.mark.slow
def test_steps_compile_nothing_beyond_their_part(tmp_path):
    """Jobs that cannot store kernels would compile them each time."""
    command = [
        sys.executable,
        str(ROOT / "tests/support/compiled_steps.py"),
        str(DEMO),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
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
