"""Test the log lines of a long step while it runs."""

import numba
import pytest

import xmlc
from xmlc.core import kernel_cache, progress
from xmlc.core.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """Return a list with the time of a clock, which stands still until a test sets it."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_log_shows_share_time_rate_and_remaining_time(clock, capsys):
    with Progress(4e6, "training", "nnz") as shown:
        clock[0] += 5
        shown.update(0.5e6)  # It is too soon for a line.
        clock[0] += 25
        shown.update(0.5e6)
        clock[0] += 90
        shown.update(3e6)
    lines = capsys.readouterr().err.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "training: 25% 1.00M/4.00M [00:30<01:30, 33.3k nnz/s]",
        "training: 100% 4.00M/4.00M [02:00<00:00, 33.3k nnz/s]",
    ]


@pytest.mark.parametrize("shown", [True, False])
def test_set_progress_overrides_variable(capsys, monkeypatch, shown):
    # The variable is restored after the test.
    monkeypatch.setenv("XMLC_PROGRESS", str(int(not shown)))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    xmlc.set_progress(shown)
    with Progress(2, "adding") as counting:
        counting.update(1)
    assert ("adding:  50%" in capsys.readouterr().err) == shown


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("folder", ["here", "nowhere"])
def test_compilation_is_logged_once_with_its_cache(capsys, monkeypatch, tmp_path, told, folder):
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(progress, "_reported", set())
    monkeypatch.setenv("XMLC_PROGRESS", str(int(told)))
    monkeypatch.setattr(kernel_cache, "kernel_folder", lambda: tmp_path / folder)
    with Progress(2, "adding", shown=False):
        assert numba.njit(lambda x: x + 1)(1) == 2
        assert numba.njit(lambda x: x + 3)(1) == 4
    said = capsys.readouterr().err
    assert said.count("adding: compiling kernels") == told
    assert ("(cached" in said) == (told and folder == "here")
    assert numba.njit(lambda x: x + 2)(1) == 3
    assert capsys.readouterr().err == ""  # No listener for compilations is left.
