"""A process is told from another one of its number, and an ended one from one that runs."""

import os
import subprocess
import sys

import pytest

from xmlc.processes import Process, this_process

NAME = "from xmlc.processes import this_process; print(this_process(), flush=True); input()"


def test_a_name_says_everything():
    process = this_process()
    assert process.pid == os.getpid()
    assert Process.parse(str(process)) == process
    assert Process.parse("node-7.site-00000001-00000002-34-56") == ("node-7.site", "00000001", "00000002", 34, 56)


@pytest.mark.parametrize("name", ["", "model", "a-00000001-00000002-34", "a/b-00000001-00000002-34-56", "-1-2-3-4-5"])
def test_other_names_are_of_no_process(name):
    assert Process.parse(name) is None


def test_a_process_has_ended_when_it_is_killed_even_before_its_parent_looks():
    running = subprocess.Popen([sys.executable, "-c", NAME], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process = Process.parse(running.stdout.readline().strip())
    assert process.pid == running.pid
    assert not process.has_ended
    running.kill()
    os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie now
    assert process.has_ended
    running.communicate()
    assert process.has_ended


def test_another_process_of_the_same_number_is_another_one():
    this = this_process()
    assert not this.has_ended
    assert this._replace(started=this.started - 1).has_ended
    assert this._replace(boot="00000000").has_ended, "the machine was started anew"


def test_on_another_machine_nothing_is_known_to_have_ended():
    other = this_process()._replace(place="00000000", boot="00000000", pid=2**22 + 1)
    assert not other.is_visible
    assert not other.has_ended
