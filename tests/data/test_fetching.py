"""Single files: resume, retries, versions of a file, servers that say nothing or too much; Google Drive without it."""

import gzip
import os
import signal
import socket
import subprocess
import sys
import time

import gdown
import pytest
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.core.files import locked
from xmlc.data import fetching
from xmlc.data.fetching import NotThere, fetch_drive, fetch_http

CONTENT = bytes(range(256)) * 40
OLD = "Sun, 06 Nov 1994 08:49:37 GMT"
VALIDATORS = ({"ETag": '"one"'}, {"Last-Modified": OLD}, {"ETag": 'W/"one"', "Last-Modified": OLD})
FETCH = "import sys; from pathlib import Path; from xmlc.data.fetching import fetch_http;"
FETCH += "fetch_http(sys.argv[1], Path(sys.argv[2], 'killed'), Path(sys.argv[2], 'partial'))"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


def ranges(server):
    return [headers.get("Range") for _, headers in server.requests]


def fetched(server, tmp_path, path="/f"):
    fetch_http(server.url + path, tmp_path / "got", tmp_path / "partial")
    assert parts(tmp_path) == []
    return (tmp_path / "got").read_bytes()


def parts(tmp_path):
    return [file for file in (tmp_path / "partial").iterdir() if file.suffix != ".lock"]


@pytest.mark.parametrize("headers", VALIDATORS)
def test_a_transfer_that_breaks_off_twice_goes_on_where_it_stopped(server, tmp_path, headers):
    server.headers["/f"] = headers
    server.cuts["/f"] = [100, 50]
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", "bytes=150-"]
    assert {headers.get("If-Range") for _, headers in server.requests[1:]} <= {'"one"', OLD}


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"one"'}])
def test_a_file_that_changes_between_two_halves_is_not_joined(server, tmp_path, headers):
    server.headers["/f"], server.cuts["/f"] = headers, [100]

    def change(path):
        server.files["/f"] = CONTENT[::-1]

    server.after = change
    assert fetched(server, tmp_path) == CONTENT[::-1]
    assert ranges(server) == [None, None]


@pytest.mark.parametrize("headers", VALIDATORS[:2])
def test_a_server_that_does_not_look_at_if_range_is_found_out(server, tmp_path, headers):
    server.headers["/f"], server.cuts["/f"], server.careless = dict(headers), [100], True

    def change(path):
        server.files["/f"] = b"!" * len(CONTENT)
        server.headers["/f"] = {"ETag": '"two"', "Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"}
        server.after = lambda path: None

    server.after = change
    assert fetched(server, tmp_path) == b"!" * len(CONTENT)
    assert ranges(server) == [None, "bytes=100-", None]


def test_passing_errors_are_retried_and_lasting_ones_are_not(server, tmp_path):
    server.statuses["/f"] = [500, 503, 429]
    assert fetched(server, tmp_path) == CONTENT
    server.requests.clear()
    server.statuses["/f"] = [401]
    with pytest.raises(XmlcError, match="answered 401"):
        fetch_http(server.url + "/f", tmp_path / "other", tmp_path / "partial")
    assert len(server.requests) == 1
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_missing_file_is_told_from_a_failure(server, tmp_path, status):
    server.statuses["/f"] = [status]
    with pytest.raises(NotThere, match=str(status)):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    assert len(server.requests) == 1


def test_a_file_that_changed_between_two_runs_is_not_stitched_together(server, tmp_path):
    server.headers["/f"] = {"ETag": '"one"'}
    server.cuts["/f"] = [100]
    server.statuses["/f"] = [None, 500, 500, 500]
    with pytest.raises(XmlcError, match="after 4 attempts"):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    assert not (tmp_path / "got").exists()
    server.files["/f"], server.headers["/f"] = CONTENT[::-1], {"ETag": '"two"'}
    server.requests.clear()
    assert fetched(server, tmp_path) == CONTENT[::-1]
    assert server.requests[0][1]["If-Range"] == '"one"'


def test_a_range_that_was_not_asked_for_is_not_appended(server, tmp_path):
    server.headers["/f"], server.cuts["/f"] = {"ETag": '"one"'}, [100]
    server.wrong_range["/f"] = 7
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", None]


def test_a_range_shorter_than_asked_for_is_not_taken_for_the_whole(server, tmp_path):
    server.headers["/f"], server.cuts["/f"] = {"ETag": '"one"'}, [100]
    server.short_ranges["/f"] = [60]
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", "bytes=160-"]


def test_a_compressed_file_stays_as_it_is_where_the_server_calls_it_a_compressed_transfer(server, tmp_path):
    server.files["/f.gz"] = gzip.compress(CONTENT)
    server.headers["/f.gz"] = {"Content-Encoding": "gzip"}
    assert fetched(server, tmp_path, "/f.gz") == server.files["/f.gz"]


def test_text_html_is_refused_even_where_the_page_is_a_fragment(server, tmp_path):
    server.files["/f"] = b"<p>Too many users have viewed this file</p>"
    server.headers["/f"] = {"Content-Type": "text/html; charset=utf-8"}
    with pytest.raises(XmlcError, match="found an HTML page"):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    server.files["/f"] = b"1 1 1\n0 0:1\n"  # a server that calls everything text/html
    assert fetched(server, tmp_path) == b"1 1 1\n0 0:1\n"


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(fetching, "SILENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        with pytest.raises(XmlcError, match=r"[Rr]ead timed out.*, after 4 attempts"):
            fetch_http(url, tmp_path / "got", tmp_path / "partial")
    assert not (tmp_path / "got").exists()


@pytest.mark.parametrize("headers", [{"ETag": '"one"'}, {}])
def test_a_killed_download_goes_on_if_the_file_has_a_version_and_else_begins_anew(server, tmp_path, headers):
    server.files["/f"], server.headers["/f"], server.drip = CONTENT * 40, headers, (70000, 0.1)
    killed = subprocess.Popen([sys.executable, "-c", FETCH, server.url + "/f", str(tmp_path)])
    while not any(file.stat().st_size > 70000 for file in tmp_path.glob("partial/*.part")):
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    server.drip = 1 << 20, 0
    assert fetched(server, tmp_path) == CONTENT * 40
    assert [bool(asked) for asked in ranges(server)] == [False, bool(headers)]


def test_another_process_that_fetches_the_same_is_waited_for(server, tmp_path):
    fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    (lock,) = (tmp_path / "partial").iterdir()
    with locked(lock):
        command = [sys.executable, "-c", FETCH, server.url + "/f", str(tmp_path)]
        waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr.readline() == f"xmlc: waiting for another process, which fetches {server.url}/f\n"
        assert len(server.requests) == 1
    waiting.communicate()
    assert waiting.returncode == 0
    assert len(server.requests) == 2
    assert (tmp_path / "killed").read_bytes() == CONTENT


def test_a_full_disk_leaves_no_part(server, tmp_path, monkeypatch):
    server.headers["/f"] = {"ETag": '"one"'}

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetching, "_append", full)
    with pytest.raises(OSError, match=r"No space .*got"):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    assert parts(tmp_path) == []


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
    assert parts(tmp_path) == []


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
    assert parts(tmp_path) == []
