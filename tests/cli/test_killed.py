"""Test that a step that is killed or cannot allocate memory prints the reason and advice."""

import signal
import subprocess
import sys

import pytest
from facts import absent

from xmlc.cli import is_step
from xmlc.suite.report.status import error_message, failures

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems have no parent of a step"
)

START = (
    "import os, sys, signal\nfrom xmlc.cli._killed import go_on_in_child\ngo_on_in_child('xmlc "
    "tune')\n"
)


def ended(code, **options):
    return subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, **options
    )


def test_killed_step_reports_missing_memory_and_fix(tmp_path):
    done = ended("bytearray(1 << 28)\nos.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 128 + signal.SIGKILL
    facts = ["xmlc tune", "SIGKILL", "GB", "--cores 1", "mem_mb=", "threads=1", "models="]
    assert absent(done.stderr, facts) == []
    log = tmp_path / "demo/tuning/plt.log"
    log.parent.mkdir(parents=True)
    log.write_text("tuning plt: 10 %\n" + done.stderr)
    (failure,) = failures(tmp_path)
    assert failure.log == log
    assert "memory" in failure.reason


def test_another_signal_is_named():
    done = ended("os.kill(os.getpid(), signal.SIGSEGV)")
    assert done.returncode == 128 + signal.SIGSEGV
    assert absent(error_message(done.stderr), "xmlc tune", "SIGSEGV") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_is_passed_to_step_without_message(number):
    code = f"signal.signal({int(number)}, lambda number, frame: os._exit(7))\n"
    code += "print('ready', flush=True)\nsignal.pause()"
    waiting = [sys.executable, "-c", START + code]
    with subprocess.Popen(
        waiting, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.wait() == 7
        assert process.stderr.read() == ""
    unhandled = ended(
        f"signal.signal({int(number)}, signal.SIG_DFL)\nos.kill(os.getpid(), {int(number)})"
    )
    assert (unhandled.returncode, unhandled.stderr) == (128 + number, "")


def test_step_ends_with_its_parent():
    code = "print(os.getpid(), flush=True)\nsignal.pause()"
    with subprocess.Popen(
        [sys.executable, "-c", START + code], stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        process.kill()
        # This is the end of the output, because no process holds the pipe.
        assert process.stdout.read() == ""


@pytest.mark.parametrize("status", [0, 3])
def test_status_and_output_come_from_step(status):
    done = ended(f"print('out')\nprint('err', file=sys.stderr)\nsys.exit({status})")
    assert (done.returncode, done.stdout, done.stderr) == (status, "out\n", "err\n")


def test_only_steps_run_below_parent_process():
    names = ["tune", "train", "labels", "show", "status", "fit", "trian"]
    assert [*filter(is_step, names)] == ["tune", "train", "labels"]


@pytest.mark.parametrize(("command", "word"), [("tune", "--cores 1"), ("fit", "--threads")])
def test_failed_allocation_prints_one_message(monkeypatch, capsys, command, word):
    from xmlc import cli

    def main(**about):
        raise MemoryError("8.00 TiB")

    monkeypatch.setattr(cli.group, "main", main)
    with pytest.raises(SystemExit):
        cli.main([command])
    said = capsys.readouterr().err
    assert absent(said, "xmlc: error", "8.00 TiB", word) == []
    assert ("snakemake" in said) == (command == "tune")
