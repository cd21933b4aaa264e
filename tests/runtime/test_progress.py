"""What a log says of a long step while it runs."""

from types import SimpleNamespace

import numba
import pytest

from xmlc.runtime import progress
from xmlc.runtime.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_tells_share_time_rate_and_what_is_left(clock, capsys):
    with Progress(4e6, "training", "nnz") as shown:
        clock[0] += 5
        shown.update(0.5e6)  # too soon for a line
        clock[0] += 25
        shown.update(0.5e6)
        clock[0] += 90
        shown.update(3e6)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "training: 25 %, 00:30, 33.3k nnz/s, 01:30 left",
        "training: 100 %, 02:00, 33.3k nnz/s, 00:00 left",
    ]


def test_compiling_is_told_once_and_is_no_part_of_the_work(clock, capsys, monkeypatch):
    monkeypatch.setattr(progress, "_told", set())

    def compile_one(inner=True):
        shown.notify(SimpleNamespace(is_start=True))
        clock[0] += 20
        if inner:  # a kernel that this one calls
            compile_one(inner=False)
        shown.notify(SimpleNamespace(is_start=False))

    with Progress(4, "training", "nodes") as shown:
        compile_one()
        clock[0] += 5
        shown.update(1)
        compile_one()
        clock[0] += 5
        shown.update(1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["training: compiling kernels", "training: 50 %"]
    assert lines[1] == "training: 50 %, 00:10, 0.20 nodes/s, 00:10 left"


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize(("variable", "told"), [(None, True), ("0", False), ("1", True)])
def test_numba_says_when_it_compiles_and_a_variable_switches_all_off(capsys, monkeypatch, shown, variable, told):
    monkeypatch.setattr(progress, "_told", set())
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.delenv("XMLC_PROGRESS", raising=False)
    if variable:
        monkeypatch.setenv("XMLC_PROGRESS", variable)
    with Progress(2, "adding", shown=shown) as counting:
        assert numba.njit(lambda x: x + 1)(1) == 2
        counting.update(1)
    said = capsys.readouterr().err
    assert ("adding: compiling kernels" in said) == told
    assert ("adding: 50 %" in said) == (told and shown)
    assert numba.njit(lambda x: x + 2)(1) == 3
    assert capsys.readouterr().err == ""  # nobody listens any more
