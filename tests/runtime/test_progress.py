"""What a log says of a long step while it runs."""

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


def test_of_an_unknown_amount_it_tells_how_much_is_done(clock, capsys):
    with Progress(0, "downloading", "B") as shown:
        clock[0] += 20
        shown.update(3e6)
    assert capsys.readouterr().err == "downloading: 3.00M B, 00:20, 150k B/s\n"


def test_a_quiet_one_says_nothing(clock, capsys):
    with Progress(10, "x", shown=False) as shown:
        clock[0] += 1000
        shown.update(1)
    assert capsys.readouterr().err == ""
