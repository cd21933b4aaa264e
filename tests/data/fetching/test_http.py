"""Single files: resume, retries, versions of a file, slow, dead and endless servers."""

import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from file_server import serve

from xmlc.data.fetching import http
from xmlc.data.fetching.http import NotThere, fetch_http
from xmlc.data.fetching.limits import Limits
from xmlc.data.fetching.parts import Part, Version
from xmlc.errors import XmlcError

CONTENT = bytes(range(256)) * 40
OLD = "Sun, 06 Nov 1994 08:49:37 GMT"
VALIDATORS = ({"ETag": '"one"'}, {"Last-Modified": OLD}, {"ETag": 'W/"one"', "Last-Modified": OLD})
HASTY = Limits(least_rate=1e5, seconds=0.3)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(http, "FIRST_PAUSE", 0.001)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


def ranges(server):
    return [headers.get("Range") for _, headers in server.requests]


def fetched(server, tmp_path, path="/f"):
    fetch_http(server.url + path, tmp_path / "got", tmp_path / "partial")
    assert list((tmp_path / "partial").iterdir()) == []
    return (tmp_path / "got").read_bytes()


@pytest.mark.parametrize("headers", VALIDATORS)
def test_a_transfer_that_breaks_off_twice_goes_on_where_it_stopped(server, tmp_path, headers):
    server.headers["/f"] = headers
    server.cuts["/f"] = [100, 50]
    assert fetched(server, tmp_path) == CONTENT
    assert ranges(server) == [None, "bytes=100-", "bytes=150-"]
    assert {headers.get("If-Range") for _, headers in server.requests[1:]} <= {'"one"', OLD}


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"one"'}, {"Last-Modified": "Sun, 06 Nov 2094 08:49:37 GMT"}])
def test_a_file_that_changes_between_two_halves_is_not_joined(server, tmp_path, headers):
    """What names no version, a weak one, or a time that may be that of two files, is begun anew."""
    server.headers["/f"], server.cuts["/f"] = headers, [100]

    def change(path):
        server.files["/f"] = CONTENT[::-1]

    server.after = change
    assert fetched(server, tmp_path) == CONTENT[::-1]
    assert ranges(server) == [None, None]


@pytest.mark.parametrize("headers", VALIDATORS[:2])
@pytest.mark.parametrize("length", [len(CONTENT), len(CONTENT) + 1])
def test_a_server_that_does_not_look_at_if_range_is_found_out(server, tmp_path, headers, length):
    server.headers["/f"], server.cuts["/f"], server.careless = dict(headers), [100], True

    def change(path):
        server.files["/f"] = b"!" * length
        if length == len(CONTENT):  # a change of the length shows even where the version stays the same
            server.headers["/f"] = {"ETag": '"two"', "Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"}
        server.after = lambda path: None

    server.after = change
    assert fetched(server, tmp_path) == b"!" * length
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


def test_a_part_as_long_as_the_file_starts_afresh(server, tmp_path):
    server.headers["/f"] = {"ETag": '"one"'}
    (tmp_path / "partial").mkdir()
    part = Part.of(tmp_path / "partial", server.url + "/f")
    part.begin(Version('"one"', len(CONTENT)))
    part.file.write_bytes(b"?" * len(CONTENT))
    assert fetched(server, tmp_path) == CONTENT


def test_a_compressed_file_stays_as_it_is_where_the_server_calls_it_a_compressed_transfer(server, tmp_path):
    server.files["/f.gz"] = gzip.compress(CONTENT)
    server.headers["/f.gz"] = {"Content-Encoding": "gzip"}
    assert fetched(server, tmp_path, "/f.gz") == server.files["/f.gz"]


def test_a_server_that_is_not_there_is_an_error_of_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(http, "FIRST_PAUSE", 0.001)
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


def given_up(url, tmp_path, limits, said):
    """Fetch what is refused with such a sentence; return how many seconds that took."""
    began = time.monotonic()
    with pytest.raises(XmlcError, match=said):
        fetch_http(url, tmp_path / "got", tmp_path / "partial", limits)
    assert not (tmp_path / "got").exists()
    return time.monotonic() - began


def test_a_server_that_drips_is_given_up(server, tmp_path):
    server.drip = 1, 0.02
    seconds = given_up(
        server.url + "/f", tmp_path, HASTY, r"sent \d+ bytes within 0\.3 seconds, expected 30000.* 2 att"
    )
    assert seconds < 2
    assert list((tmp_path / "partial").iterdir()) == []


def test_a_server_that_drips_its_headers_is_given_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(2) as pool:
        ends = []

        def drip():
            with suppress(OSError):
                connection = listener.accept()[0]
                while not ends:
                    connection.sendall(b"H")
                    time.sleep(0.05)

        for _ in range(2):
            pool.submit(drip)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        assert given_up(url, tmp_path, HASTY, "sent 0 bytes within") < 2
        ends.append(True)


def test_a_server_that_says_nothing_is_given_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        assert given_up(url, tmp_path, HASTY, r"(sent 0 bytes within|[Rr]ead timed out).*, after 2 attempts") < 2


def test_a_slow_server_that_is_fast_enough_is_waited_for(server, tmp_path):
    server.drip = 500, 0.05
    fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial", Limits(least_rate=2000, seconds=0.4))
    assert (tmp_path / "got").read_bytes() == CONTENT


def test_a_download_that_takes_too_long_goes_on_with_the_same_command(server, tmp_path):
    server.headers["/f"] = {"ETag": '"one"'}
    server.drip = 500, 0.05
    brief = Limits(least_rate=1, seconds=1, hours=0.3 / 3600)
    given_up(server.url + "/f", tmp_path, brief, r"more than .* hours; the same command goes on.*download\.hours")
    server.drip = 1 << 20, 0
    assert fetched(server, tmp_path) == CONTENT
    assert int(ranges(server)[1].removeprefix("bytes=").rstrip("-")) > 0


def test_a_file_that_is_too_large_is_refused_by_its_length_and_by_what_comes(server, tmp_path):
    small = Limits(gigabytes=5e-6)
    given_up(server.url + "/f", tmp_path, small, r"more than 5e-06 GB.*raise download\.gigabytes")
    server.lengthless = True
    given_up(server.url + "/f", tmp_path, small, r"more than 5e-06 GB")
    assert list((tmp_path / "partial").iterdir()) == []


def test_a_full_disk_leaves_no_part(server, tmp_path, monkeypatch):
    server.headers["/f"] = {"ETag": '"one"'}

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(http, "_save", full)
    with pytest.raises(OSError, match=r"No space .*got"):
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
    assert list((tmp_path / "partial").iterdir()) == []
