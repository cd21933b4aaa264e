"""Test that the cost of a step counts its whole process from the start."""

import os
import subprocess
import sys
import weakref

import numpy as np

from xmlc.core.memory import peak_bytes
from xmlc.suite.provenance import environment
from xmlc.suite.provenance.environment import cpu_seconds, in_turns, step_costs


def test_seconds_count_from_process_start():
    """The seconds before a program imports the package count, too."""
    code = "import time; begun = time.monotonic(); import numpy, scipy.sparse\n"
    code += "from xmlc.suite.provenance.environment import process_seconds\n"
    code += "least = time.monotonic() - begun; print(least, process_seconds())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    least, found = map(float, done.stdout.split())
    assert 0 < least <= found


def test_seconds_are_read_from_system_process_data(monkeypatch):
    fields = " ".join(map(str, range(4, 22)))
    stat = f"7 (a (b) c) S {fields} {250 * os.sysconf('SC_CLK_TCK')} 23"
    monkeypatch.setattr(environment.Path, "read_text", lambda path, encoding: stat)
    monkeypatch.setattr(environment.time, "clock_gettime", lambda clock: 262.5)
    assert environment.process_seconds() == 12.5


def test_cpu_time_counts_work_and_ended_children_but_no_waiting(monkeypatch):
    times = os.times_result((0.5, 1.5, 4.0, 8.0, 100.0))
    monkeypatch.setattr(environment.time, "process_time", lambda: 2.0)
    monkeypatch.setattr(environment.os, "times", lambda: times)
    assert cpu_seconds() == 14


def test_step_costs_contain_written_bytes_and_identity(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.npy").write_bytes(b"123")
    (tmp_path / "b.json").write_bytes(b"12")
    costs = step_costs("train", 2, "yeast", "plt", "80", written=tmp_path)
    expected = {"name": "train", "dataset": "yeast", "model": "plt", "split": "80", "method": None}
    assert costs | expected | {"written_bytes": 5, "threads": 2} == costs
    assert 1e6 < costs["peak_bytes"] <= peak_bytes()
    assert step_costs("rank", 1, "yeast")["written_bytes"] is None


def test_steps_of_one_process_share_its_cpu_seconds():
    first = step_costs("rank", 1, "yeast")["cpu_seconds"]
    second = step_costs("rank", 1, "yeast")["cpu_seconds"]
    assert 0 <= second <= cpu_seconds() - first


def test_task_result_is_released_before_next_round():
    before = []

    def task():
        assert all(reference() is None for reference in before)
        result = np.zeros(3)
        before.append(weakref.ref(result))
        return result

    _, results = in_turns({"a": task}, rounds=2, at_least=1e-3)
    assert before[-1]() is results["a"]


def test_tasks_take_turns_and_short_ones_are_repeated(monkeypatch):
    calls = []
    monkeypatch.setattr(environment, "timed", lambda task: (task(), 0.25))
    tasks = {name: lambda name=name: calls.append(name) or 7 for name in "ab"}
    seconds, results = in_turns(tasks, rounds=2)
    assert calls == ["a", "b", "a", "b"]
    assert seconds == {"a": [0.25, 0.25], "b": [0.25, 0.25]}
    assert results == {"a": 7, "b": 7}
    calls.clear()
    in_turns({"a": tasks["a"]}, rounds=1, at_least=0.9)
    assert calls == ["a"] * 4
