"""Test fetching of single files: retries, refusing or silent servers, broken transfers, and a fake
Google Drive.
"""

import gzip
import lzma
import socket
import time
from pathlib import Path

import gdown
import pytest
from facts import raises_with
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.suite.config.catalogue import DRIVE
from xmlc.suite.steps import fetching
from xmlc.suite.steps.fetching import Unreachable, copy

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


@pytest.fixture
def get(server, tmp_path):
    """Return a function that fetches a file of the server and returns its content."""

    def get(path="/f"):
        copy(server.url + path, tmp_path / "got")
        return (tmp_path / "got").read_bytes()

    return get


def test_temporary_errors_and_broken_transfers_are_retried(server, get):
    server.statuses["/f"] = [500, 429]
    server.cuts["/f"] = [100]
    assert get() == CONTENT
    assert len(server.requests) == 4
    server.cuts["/f"] = [0, 1, 2, 3]
    with raises_with(XmlcError, "4"):
        get()


@pytest.mark.parametrize("status", [206, 401, 403, 404, 410, 500])
def test_answer_other_than_the_whole_file_is_refused(server, get, tmp_path, status):
    # A missing file is requested once.
    is_missing = status in (403, 404, 410)
    attempts = 1 if is_missing else 4
    server.statuses["/f"] = [status] * attempts
    with raises_with(XmlcError, status) as raised:
        get()
    assert isinstance(raised.value, Unreachable) != is_missing
    assert len(server.requests) == attempts
    assert not (tmp_path / "got").exists()


@pytest.mark.parametrize("location", ["/f", "ftp://localhost/x", "http://[half"])
def test_invalid_redirects_are_refused(server, get, location):
    server.statuses["/f"] = [302] * 199
    server.headers["/f"] = {"Location": location}
    with pytest.raises(Unreachable):
        get()


@pytest.mark.parametrize("address", ["http://", "http://a b/x", "http://[half/x"])
def test_invalid_addresses_are_refused(server, tmp_path, address):
    with pytest.raises(Unreachable):
        copy(address, tmp_path / "got")


def test_host_that_was_not_found_is_looked_up_again(tmp_path, monkeypatch):
    lookups = []

    def look_up(*arguments):
        lookups.append(arguments)
        raise socket.gaierror(socket.EAI_AGAIN, "no such host")

    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with raises_with(Unreachable, "after 4 "):
        copy("http://somewhere.example/x", tmp_path / "got")
    assert len(lookups) == 4


def test_new_download_replaces_a_file_and_has_the_rights_of_other_files(get, tmp_path):
    (tmp_path / "other").touch()
    (tmp_path / "got").write_text("old")
    assert get() == CONTENT
    assert (tmp_path / "got").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert sorted(tmp_path.iterdir()) == [tmp_path / "got", tmp_path / "other"]


def chunked(content):
    return b"64\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        content[:100],
        len(content) - 100,
        content[100:],
    )


GZ = gzip.compress(CONTENT, mtime=0)
XZ = lzma.compress(CONTENT)
LENGTHS = {
    "length": {},
    "no length": {"Content-Length": None},
    "chunks": {"Content-Length": None, "Transfer-Encoding": "chunked"},
}


TWO = gzip.compress(CONTENT[:9]) + gzip.compress(CONTENT[9:])
# Maps a path and its encoding to the sent and the decoded content.
ENCODED = {
    ("/f.zip?a=b.gz", "X-GZIP"): (GZ, CONTENT),
    ("/f.txt", "gzip"): (TWO, CONTENT),
    ("/f.zip", "identity"): (CONTENT, CONTENT),
    ("/f.txt.gz", None): (GZ, GZ),
    ("/f.txt.gz", "gzip"): (GZ, GZ),
    ("/f.txt.xz", "gzip"): (gzip.compress(XZ), XZ),
    ("/f.txt.xz", "xz"): (XZ, XZ),
    ("/f.zip", "gzip"): (CONTENT, CONTENT),
}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("path", "coding"), ENCODED)
def test_encoded_file_is_decoded(server, get, tmp_path, path, coding, length):
    sent, expected = ENCODED[path, coding]
    server.files[path] = chunked(sent) if length == "chunks" else sent
    server.headers[path] = LENGTHS[length] | {"Content-Encoding": coding}
    assert get(path) == expected
    assert [*tmp_path.iterdir()] == [tmp_path / "got"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [0, 5, 50, -9, -5, -2])
def test_truncated_chunks_are_fetched_again(server, get, cut):
    sent = chunked(CONTENT)
    server.files["/f"] = sent
    server.headers["/f"] = LENGTHS["chunks"]
    server.cuts["/f"] = [cut % len(sent)]
    assert get() == CONTENT
    assert len(server.requests) == 1 + (cut != -2)  # the last line end does not matter


@pytest.mark.parametrize("length", ["length", "no length"])
def test_truncated_encoded_file_is_fetched_again(server, get, length):
    server.files["/f"] = GZ
    server.cuts["/f"] = [len(GZ) - 1, 3]
    server.headers["/f"] = {"Content-Encoding": "gzip"} | LENGTHS[length]
    assert get() == CONTENT
    assert len(server.requests) == 3
    # No attempt has as many bytes as this header says.
    server.headers["/f"]["Content-Length"] = "9"
    with pytest.raises(XmlcError):
        get()


@pytest.mark.parametrize("coding", ["br", "gzip, br", "unheard-of"])
def test_unsupported_encoding_is_refused_by_name(server, get, coding):
    server.headers["/f"] = {"Content-Encoding": coding}
    with raises_with(XmlcError, coding):
        get()
    assert len(server.requests) == 1


def test_silent_server_is_abandoned(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(fetching, "SILENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        with pytest.raises(XmlcError):
            copy(url, tmp_path / "got")


def test_google_drive_gives_a_file_or_an_xmlc_error(tmp_path, monkeypatch):
    def download(url, output, quiet, use_cookies):
        Path(output).write_text(url)
        if url == DRIVE + "refused":
            raise gdown.exceptions.FileURLRetrievalError("Too many users have viewed it")

    monkeypatch.setattr(gdown, "download", download)
    copy(DRIVE + "identifier", tmp_path / "got")
    assert (tmp_path / "got").read_text() == "https://drive.google.com/uc?id=identifier"
    with raises_with(XmlcError, "Too many users have viewed it"):
        copy(DRIVE + "refused", tmp_path / "got")
