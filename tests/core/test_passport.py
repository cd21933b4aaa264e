"""What a step cost: all of its process, from its start to now."""

import subprocess
import sys
import time
import weakref

import numpy as np

from xmlc.core.passport import cpu_seconds, in_turns, peak_bytes, step_costs


def test_seconds_are_those_since_the_process_began():
    # A program that sleeps before it imports anything of ours: those seconds count.
    code = "import time; time.sleep(0.5); from xmlc.core.passport import process_seconds; print(process_seconds())"
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    waited = time.monotonic() - started
    assert 0.5 <= float(done.stdout) <= waited + 0.02  # the system counts hundredths of a second


def test_processor_time_counts_work_and_ended_children_but_no_waiting():
    before = cpu_seconds()
    time.sleep(0.2)
    assert cpu_seconds() - before < 0.15
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(3_000_000))"], check=True)
    assert cpu_seconds() - before > 0.05


def test_a_step_tells_what_it_wrote_and_what_it_is(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.npy").write_bytes(b"123")
    (tmp_path / "b.json").write_bytes(b"12")
    costs = step_costs("train", 2, "yeast", "plt", "80", written=tmp_path)
    assert (costs["name"], costs["dataset"], costs["model"], costs["portion"]) == ("train", "yeast", "plt", "80")
    assert (costs["method"], costs["written_bytes"], costs["threads"]) == (None, 5, 2)
    assert 1e6 < costs["peak_bytes"] <= peak_bytes()
    assert step_costs("rank", 1, "yeast")["written_bytes"] is None


def test_steps_of_a_process_share_its_processor_seconds():
    first, second = (step_costs("rank", 1, "yeast") for _ in range(2))
    assert 0 <= second["cpu_seconds"] <= cpu_seconds() - first["cpu_seconds"]


def test_what_a_task_returned_is_let_go_before_it_runs_again():
    before: list[weakref.ref] = []

    def task():
        assert all(reference() is None for reference in before)
        result = np.zeros(3)
        before.append(weakref.ref(result))
        return result

    _, results = in_turns({"a": task}, rounds=2, at_least=1e-3)
    assert before[-1]() is results["a"]


def test_tasks_take_turns_and_short_ones_are_repeated():
    calls = []
    seconds, results = in_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b") or 7}, rounds=2)
    assert calls == ["a", "b", "a", "b"]
    assert [len(seconds[name]) for name in "ab"] == [2, 2]
    assert results == {"a": None, "b": 7}
    calls.clear()
    in_turns({"a": lambda: calls.append("a")}, rounds=1, at_least=0.01)
    assert len(calls) > 10
