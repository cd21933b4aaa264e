"""Google Drive, as far as it can be tried without it."""

import time

import gdown
import pytest

from xmlc.data.fetching import drive
from xmlc.data.fetching.drive import fetch_drive
from xmlc.data.fetching.limits import Limits
from xmlc.errors import XmlcError

CONTENT = bytes(range(256)) * 40


def test_drive_gets_the_options_that_its_version_knows_and_always_begins_anew(tmp_path, monkeypatch):
    calls = []

    def of_today(id, output, quiet, resume, use_cookies, progress, timeout, retries):
        raise AssertionError("called with what would resume")

    def of_version_six(id, output, quiet=False, use_cookies=True, timeout=None, resume=False, retries=0):
        calls.append((quiet, use_cookies, timeout > 0, resume, retries))
        for start in range(0, len(CONTENT), 1000):
            output.write(CONTENT[start : start + 1000])
        assert output.tell() == len(CONTENT)
        return output

    def of_old(id, output, quiet):
        output.write(CONTENT)
        output.flush()
        return output

    for number, download in enumerate((of_version_six, of_old)):
        monkeypatch.setattr(gdown, "download", download)
        fetch_drive("identifier", tmp_path / str(number), tmp_path / "partial")
        assert (tmp_path / str(number)).read_bytes() == CONTENT
    assert calls == [(True, False, True, False, 0)]
    assert list((tmp_path / "partial").iterdir()) == []


def test_drive_errors_are_ours(tmp_path, monkeypatch):
    def refuse(id, output, quiet):
        output.write(b"half")
        raise RuntimeError("Too many users\n  have viewed it")

    monkeypatch.setattr(gdown, "download", refuse)
    with pytest.raises(XmlcError, match=r"did not hand it out \(Too many users have viewed it\)"):
        fetch_drive("identifier", tmp_path / "got", tmp_path / "partial")
    monkeypatch.setattr(gdown, "download", lambda id, output, quiet: None)
    with pytest.raises(XmlcError, match="did not hand it out"):
        fetch_drive("identifier", tmp_path / "got", tmp_path / "partial")
    assert list(tmp_path.iterdir()) == [tmp_path / "partial"]
    assert list((tmp_path / "partial").iterdir()) == []


def test_drive_that_drips_or_never_ends_is_given_up(tmp_path, monkeypatch):
    def drip(id, output, quiet):
        while True:
            output.write(b"x")
            time.sleep(0.01)

    monkeypatch.setattr(gdown, "download", drip)
    monkeypatch.setattr(drive, "GDOWNS_CHUNK", 1)
    for limits, said in (
        (Limits(least_rate=1e4, seconds=0.2), r"sent \d+ bytes within 0\.2 seconds, expected 2000"),
        (Limits(least_rate=1, seconds=0.2, hours=0.1 / 3600), "more than .* hours"),
        (Limits(least_rate=1, seconds=0.2, gigabytes=5e-9), "more than 5e-09 GB"),
    ):
        with pytest.raises(XmlcError, match=said):
            fetch_drive("identifier", tmp_path / "got", tmp_path / "partial", limits)
        assert list((tmp_path / "partial").iterdir()) == []
