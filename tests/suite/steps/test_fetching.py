"""Test fetching of single files: retries, refusing or silent servers, broken transfers, and a fake Google Drive."""

import gzip
import lzma
import socket
import zlib

import gdown
import pytest
from facts import raises_with
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.suite.steps import fetching
from xmlc.suite.steps.fetching import NotThere, fetch_drive, fetch_http

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


def test_temporary_errors_and_broken_transfers_are_retried(server, tmp_path):
    server.statuses["/f"], server.cuts["/f"] = [500, 429], [100]
    fetch_http(server.url + "/f", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert len(server.requests) == 4
    server.cuts["/f"] = [0, 1, 2, 3]
    with raises_with(XmlcError, "4"):
        fetch_http(server.url + "/f", tmp_path / "got")


@pytest.mark.parametrize(
    ("status", "error"), [(401, XmlcError), (403, NotThere), (404, NotThere), (410, NotThere), (206, XmlcError)]
)
def test_permanent_errors_are_not_retried_and_missing_files_are_distinguished(server, tmp_path, status, error):
    server.statuses["/f"] = [status]
    with raises_with(XmlcError, str(status)) as raised:
        fetch_http(server.url + "/f", tmp_path / "got")
    assert type(raised.value) is (NotThere if status in (403, 404, 410) else XmlcError)
    assert len(server.requests) == 1


NO_ADDRESSES = ["http://", "localhost/x", "gopher://localhost/x", "http://a b/x", "http://[half/x"]


@pytest.mark.parametrize("place", ["/loop", "/ftp", "/nowhere", *NO_ADDRESSES])
def test_invalid_addresses_and_redirects_are_not_retried(server, tmp_path, monkeypatch, place):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", None)
    for path, location in {"/loop": "/loop", "/ftp": "ftp://localhost/x", "/nowhere": "http://[half"}.items():
        server.files[path], server.statuses[path], server.headers[path] = b"", [302] * 99, {"Location": location}
    with raises_with(XmlcError, "after 1 "):
        fetch_http(place if place in NO_ADDRESSES else server.url + place, tmp_path / "got")


@pytest.mark.parametrize(("number", "attempts"), [(socket.EAI_NONAME, 1), (socket.EAI_AGAIN, 4)])
def test_unknown_host_is_not_retried_but_failed_lookup_is(tmp_path, monkeypatch, number, attempts):
    def look_up(*arguments):
        raise socket.gaierror(number, "no such host")

    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with raises_with(XmlcError, f"after {attempts} "):
        fetch_http("http://somewhere.example/x", tmp_path / "got")


def chunked(content):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:100], content[100:], b""))


GZ, XZ = gzip.compress(CONTENT, mtime=0), lzma.compress(CONTENT)
LENGTH = {"length": {}, "no length": {"Content-Length": None}, "chunks": {"Transfer-Encoding": "chunked"}}


@pytest.mark.parametrize("length", LENGTH)
@pytest.mark.parametrize(
    ("path", "coding", "sent", "expected"),
    [
        ("/f.zip", "gzip", GZ, CONTENT),
        ("/f.zip?a=b.gz", "X-GZIP", GZ, CONTENT),
        ("/f.txt", "gzip", gzip.compress(CONTENT[:9]) + gzip.compress(CONTENT[9:]), CONTENT),
        ("/f.zip", "deflate", zlib.compress(CONTENT), CONTENT),
        ("/f.zip", "identity", CONTENT, CONTENT),
        ("/f.txt.gz", None, GZ, GZ),
        ("/f.txt.gz", "gzip", GZ, GZ),
        ("/f.txt.gz", "gzip", gzip.compress(GZ), GZ),
        ("/f.txt.gz", "deflate", zlib.compress(GZ), GZ),
        ("/f.txt.gz", "deflate", zlib.compress(CONTENT), CONTENT),
        ("/f.zip", "", CONTENT, CONTENT),
        ("/f.txt.xz", "gzip", gzip.compress(XZ), XZ),
        ("/f.txt.xz", "xz", XZ, XZ),
        ("/f.zip", "gzip", CONTENT, CONTENT),
    ],
)
def test_encoded_file_is_decoded(server, tmp_path, path, coding, sent, expected, length):
    server.files[path] = chunked(sent) if length == "chunks" else sent
    server.headers[path] = {"Content-Length": None, **LENGTH[length]} if length != "length" else {}
    server.headers[path] |= {"Content-Encoding": coding}
    fetch_http(server.url + path, tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == expected
    assert [*tmp_path.iterdir()] == [tmp_path / "got"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [0, 1, 5, 50, -9, -5, -2])
def test_truncated_chunks_are_fetched_again(server, tmp_path, cut):
    server.files["/f"], server.headers["/f"] = (
        chunked(CONTENT),
        {"Content-Length": None, "Transfer-Encoding": "chunked"},
    )
    server.cuts["/f"] = [len(chunked(CONTENT)) + cut if cut < 0 else cut]
    fetch_http(server.url + "/f", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert len(server.requests) == 1 + (cut != -2)  # the last line end does not matter


@pytest.mark.parametrize(("coding", "sent"), [("gzip", GZ), ("deflate", zlib.compress(CONTENT))])
@pytest.mark.parametrize("length", [{"Content-Length": None}, {"Content-Length": "9"}, {}])
def test_truncated_encoded_file_is_fetched_again(server, tmp_path, coding, sent, length):
    server.files["/f"], server.cuts["/f"] = sent, [len(sent) - 1, 3]
    server.headers["/f"] = {"Content-Encoding": coding} | length
    if length.get("Content-Length"):
        with pytest.raises(XmlcError):
            fetch_http(server.url + "/f", tmp_path / "got")
        return
    fetch_http(server.url + "/f", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert len(server.requests) == 3


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, br", "unheard-of"])
def test_unsupported_encoding_is_refused_by_name(server, tmp_path, coding):
    server.headers["/f"] = {"Content-Encoding": coding}
    with raises_with(XmlcError, coding):
        fetch_http(server.url + "/f", tmp_path / "got")
    assert len(server.requests) == 1


def test_silent_server_is_abandoned(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(fetching, "SILENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        with pytest.raises(XmlcError):
            fetch_http(url, tmp_path / "got")


def test_google_drive_gives_a_file_or_an_xmlc_error(tmp_path, monkeypatch):
    def download(id, output, quiet, use_cookies):
        with open(output, "w") as file:
            file.write(id)
        if id == "refused":
            raise gdown.exceptions.FileURLRetrievalError("Too many users have viewed it")

    monkeypatch.setattr(gdown, "download", download)
    fetch_drive("identifier", tmp_path / "got")
    assert (tmp_path / "got").read_text() == "identifier"
    with raises_with(XmlcError, "Too many users have viewed it"):
        fetch_drive("refused", tmp_path / "got")
