"""Test tasks on threads: their order, errors and numbers of threads."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict

import pytest
from facts import raises_with

from xmlc.core import parallel
from xmlc.core.errors import XmlcError
from xmlc.core.parallel import row_blocks, run_tasks
from xmlc.core.threads import resolve_threads

MOST = 300  # Maximum seconds to wait. Only a busy machine needs more than a moment.


class Events:
    """Hold an event for each task."""

    def __init__(self):
        self._events = defaultdict(threading.Event)

    def set(self, i):
        self._events[i].set()

    def wait(self, i):
        assert self._events[i].wait(MOST)


@pytest.fixture
def failed(monkeypatch):
    """Return a list that gets an item as soon as `run_tasks` without `then` has noticed an
    error.
    """
    heard = []

    class Told(threading.Condition):
        def notify_all(self):
            super().notify_all()
            heard.append(True)

    monkeypatch.setattr(parallel, "Condition", Told)
    return heard


def wait_for(condition):
    """Wait until a list is no longer empty. A signal handler could not set an event."""
    until = time.monotonic() + MOST
    while not condition:
        assert time.monotonic() < until
        time.sleep(0.001)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_keep_order_of_tasks_and_wait_in_threads(n_jobs):
    taken = []
    begun = []
    ahead = []
    ended = Events()

    def work(i):
        begun.append(i)
        ahead.append(len(begun) - len(taken))
        if n_jobs > 1 and i % 2 == 0:
            ended.wait(i + 1)
        ended.set(i)
        return i

    assert run_tasks(work, [(i,) for i in range(20)], n_jobs, then=taken.append) == []
    assert taken == list(range(20))
    assert max(ahead) <= n_jobs
    ended.__init__()
    assert run_tasks(work, [(i,) for i in range(20)], n_jobs) == list(range(20))


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("then", [None, lambda result: None])
def test_task_error_reaches_caller(n_jobs, then):
    begun = Events()

    def work(i):
        begun.set(i)
        if i == 2:
            if n_jobs > 1:
                begun.wait(3)  # If `then` is given, task 3 waits for this task.
            raise ValueError("piece 2")
        return i

    with raises_with(ValueError, "piece 2"):
        run_tasks(work, [(i,) for i in range(50)], n_jobs, then=then)


def test_no_task_starts_after_error(failed):
    begun = []

    def work(i):
        begun.append(i)
        if i == 1:
            raise ValueError("piece 1")
        wait_for(failed)

    with raises_with(ValueError, "piece 1"):
        run_tasks(work, [(i,) for i in range(50)], 2)
    assert sorted(begun) == [0, 1]


def test_row_blocks_cover_every_row_once():
    assert row_blocks(0, 4) == []
    assert row_blocks(10, 4) == [(0, 4), (4, 8), (8, 10)]


def test_thread_counts_follow_scikit_learn():
    assert resolve_threads(3) == 3
    assert resolve_threads(-1) >= 1
    with raises_with(XmlcError, "n_jobs=0"):
        resolve_threads(0)


def test_job_uses_requested_threads():
    """Snakemake does not limit numba's threads.

    The command line sets any number, also beyond the number of cores.
    """
    code = (
        "from xmlc.core.threads import set_process_threads, resolve_threads; "
        "set_process_threads(3);import numba; print(numba.get_num_threads(), "
        "resolve_threads(None))"
    )
    environment = {**os.environ}
    environment.pop("NUMBA_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split() == ["3", "3"]


@pytest.fixture
def interruptible():
    """Make Ctrl-C raise an error.

    Python ignores Ctrl-C in a process that a shell started in the background.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interruption_stops_between_tasks_and_never_inside_one(n_jobs, failed):
    """An interruption within a kernel's conversions would crash the process (numba 0.68)."""
    ended = []

    def work(i):
        if i == 2:
            os.kill(os.getpid(), signal.SIGINT)  # The main thread gets this signal.
        if i >= 2:
            wait_for(failed)
        ended.append(i)

    with pytest.raises(KeyboardInterrupt):
        run_tasks(work, [(i,) for i in range(200)], n_jobs)
    assert {0, 1, 2} <= {*ended} <= {*range(n_jobs + 2)}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_existing_signal_handlers_are_kept():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        assert (
            run_tasks(lambda i: signal.raise_signal(signal.SIGINT), [(i,) for i in range(3)], 1)
            == [None] * 3
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT] * 3
