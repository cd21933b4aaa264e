"""Test the command line: operating system errors are sentences, and no incomplete files remain."""

import errno
import os
import subprocess
import sys
import weakref

import click
import pytest
from command_line import run
from facts import absent, raises_with
from repository import ROOT

from xmlc.cli import group
from xmlc.core.errors import XmlcError
from xmlc.suite.steps.synth import command as synth

SYNTH = ("synth", "demo", "--catalogue", ROOT / "config/datasets.yaml", "--out")
LIMITED = """
import resource, sys
resource.setrlimit(resource.{limit}, ({value}, {value}))
from xmlc.cli import main
main(sys.argv[1:])
"""


def limited(limit, value, *arguments):
    """Call `xmlc` in a process with a limit on the bytes of a file or on the number of open
    files.
    """
    code = [sys.executable, "-c", LIMITED.format(limit=limit, value=value), *map(str, arguments)]
    return subprocess.run(code, capture_output=True, text=True, timeout=120)


def fail_as(number):
    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number), "results/there")

    return fail


@pytest.mark.parametrize("name", ["fit", "train"])
def test_system_error_is_reported_as_sentence(name, monkeypatch, capsys):
    command = group.get_command(None, name)
    monkeypatch.setattr(command, "invoke", fail_as(errno.ENOSPC))
    monkeypatch.setattr(command, "parse_args", lambda ctx, arguments: [])
    assert run(name) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"xmlc: error: results/there: {os.strerror(errno.ENOSPC)}")
    assert error.count("\n") == 1


def test_error_releases_its_objects_before_it_is_printed(monkeypatch, tmp_path):
    """Deleted files use the disk as long as they are open, and the log may be on this disk."""
    there = []

    def fail(*arguments):
        file = (tmp_path / "half").open("wb")
        there.append(weakref.ref(file))
        again = lambda: (file, again)  # noqa: E731  # in a cycle
        try:
            raise OSError(errno.ENOSPC, "Full")
        except OSError as error:
            raise XmlcError("nothing was written") from error

    monkeypatch.setattr(synth, "invoke", fail)
    monkeypatch.setattr(
        click, "echo", lambda *arguments, **options: there.append(there[0]() is None)
    )
    assert run(*SYNTH, "out") == 1
    assert there[1] is True


def test_program_error_keeps_traceback(monkeypatch):
    def fail(*arguments):
        raise OSError("own")

    monkeypatch.setattr(synth, "invoke", fail)
    with raises_with(OSError, "own"):
        run(*SYNTH, "out")


def test_incomplete_file_is_removed(tmp_path):
    done = limited("RLIMIT_FSIZE", 4096, *SYNTH, tmp_path / "tiny")
    assert done.returncode == 1
    assert f"xmlc: error: {tmp_path}/tiny/" in done.stderr  # A line on compilation may come first.
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_failed_standard_output_is_reported_as_sentence(tmp_path):
    code = [sys.executable, "-c", LIMITED.format(limit="RLIMIT_FSIZE", value=0), "--help"]
    with open(tmp_path / "output", "w") as output:
        done = subprocess.run(code, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert absent(done.stderr, "standard output", os.strerror(errno.EFBIG)) == []
    assert done.stderr.count("\n") == 1
