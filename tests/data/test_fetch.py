"""Single files: resume, retries, versions of a file, and what servers hand out instead of data."""

import gzip
from pathlib import Path

import gdown
import pytest
from file_server import serve

from xmlc.data import fetch
from xmlc.data.fetch import NotThere, check_is_data, fetch_drive, fetch_http
from xmlc.errors import XmlcError

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetch, "FIRST_PAUSE", 0.001)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


def ranges(server):
    return [headers.get("Range") for _, headers in server.requests]


def fetched(server, tmp_path, path="/f"):
    fetch_http(server.url + path, tmp_path / "got", tmp_path / "partial")
    assert list((tmp_path / "partial").iterdir()) == []
    return (tmp_path / "got").read_bytes()


def test_a_transfer_that_breaks_off_twice_goes_on_where_it_stopped(server, tmp_path):
    server.cuts["/f"] = [100, 50]
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", "bytes=150-"]


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
    server.cuts["/f"] = [100]
    server.wrong_range["/f"] = 7
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", None]


def test_a_range_shorter_than_asked_for_is_not_taken_for_the_whole(server, tmp_path):
    server.cuts["/f"] = [100]
    server.short_ranges["/f"] = [60]
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", "bytes=160-"]


def test_a_part_as_long_as_the_file_starts_afresh(server, tmp_path):
    part = fetch._part(tmp_path / "partial", server.url + "/f")
    part.write_bytes(b"?" * len(CONTENT))
    assert fetched(server, tmp_path) == CONTENT


def test_a_compressed_file_stays_as_it_is_where_the_server_calls_it_a_compressed_transfer(server, tmp_path):
    server.files["/f.gz"] = gzip.compress(CONTENT)
    server.headers["/f.gz"] = {"Content-Encoding": "gzip"}
    assert fetched(server, tmp_path, "/f.gz") == server.files["/f.gz"]


def test_a_server_that_is_not_there_is_an_error_of_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "FIRST_PAUSE", 0.001)
    with serve() as server:
        url = server.url + "/f"
    with pytest.raises(XmlcError, match="after 4 attempts"):
        fetch_http(url, tmp_path / "got", tmp_path / "partial")


def test_text_html_is_refused_even_where_the_page_is_a_fragment(server, tmp_path):
    server.files["/f"] = b"<p>Too many users have viewed this file</p>"
    server.headers["/f"] = {"Content-Type": "text/html; charset=utf-8"}
    with pytest.raises(XmlcError, match="found an HTML page"):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    server.files["/f"] = b"1 1 1\n0 0:1\n"  # a server that calls everything text/html
    assert fetched(server, tmp_path) == b"1 1 1\n0 0:1\n"


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE html><title>Quota",
        b"\xef\xbb\xbf  \n<HTML>",
        b"<!-- saved --><html>",
        b"<?xml version='1.0'?><!DOCTYPE html>",
        b"<head><script>",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:29\nsize 6\n",
        b"",
    ],
)
def test_what_is_not_data_is_refused(tmp_path, head):
    (tmp_path / "f").write_bytes(head)
    with pytest.raises(XmlcError, match="found a"):
        check_is_data(tmp_path / "f")


@pytest.mark.parametrize(
    "head", [b"1 2 3\n", b"PK\x03\x04", b'<?xml version="1.0"?><labels xmlns="x"><label name="a"/>', b"@relation x"]
)
def test_data_is_not_refused(tmp_path, head):
    (tmp_path / "f").write_bytes(head)
    check_is_data(tmp_path / "f")


def test_drive_gets_the_options_that_its_version_knows(tmp_path, monkeypatch):
    calls = []

    def of_today(id, output, quiet, resume, use_cookies, progress, timeout, retries):
        calls.append((quiet, resume, use_cookies, timeout > 0, retries > 0))
        progress(3, 7)
        progress(7, 7)
        Path(output).write_bytes(CONTENT)
        return output

    def of_old(id, output, quiet):
        Path(output).write_bytes(CONTENT)
        return output

    for number, download in enumerate((of_today, of_old)):
        monkeypatch.setattr(gdown, "download", download)
        fetch_drive("identifier", tmp_path / str(number), tmp_path / "partial")
        assert (tmp_path / str(number)).read_bytes() == CONTENT
    assert calls == [(True, True, False, True, True)]
    assert list((tmp_path / "partial").iterdir()) == []


def test_drive_errors_are_ours(tmp_path, monkeypatch):
    def refuse(id, output, quiet):
        raise RuntimeError("Too many users\n  have viewed it")

    monkeypatch.setattr(gdown, "download", refuse)
    with pytest.raises(XmlcError, match=r"did not hand it out \(Too many users have viewed it\)"):
        fetch_drive("identifier", tmp_path / "got", tmp_path / "partial")
    monkeypatch.setattr(gdown, "download", lambda id, output, quiet: None)
    with pytest.raises(XmlcError, match="did not hand it out"):
        fetch_drive("identifier", tmp_path / "got", tmp_path / "partial")
    assert not (tmp_path / "got").exists()
