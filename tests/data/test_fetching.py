"""Single files: retries, servers that refuse, break off or say nothing; Google Drive without it."""

import socket

import gdown
import pytest
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.data import fetching
from xmlc.data.fetching import NotThere, fetch_drive, fetch_http

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    with serve() as server:
        server.files["/f"] = CONTENT
        yield server


def test_passing_errors_and_broken_transfers_are_tried_again(server, tmp_path):
    server.statuses["/f"], server.cuts["/f"] = [500, 429], [100]
    fetch_http(server.url + "/f", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert len(server.requests) == 4
    server.cuts["/f"] = [0, 1, 2, 3]
    with pytest.raises(XmlcError, match="after 4 attempts"):
        fetch_http(server.url + "/f", tmp_path / "got")


@pytest.mark.parametrize(("status", "error"), [(401, XmlcError), (403, NotThere), (404, NotThere), (410, NotThere)])
def test_lasting_errors_are_not_and_a_missing_file_is_told_from_a_failure(server, tmp_path, status, error):
    server.statuses["/f"] = [status]
    with pytest.raises(XmlcError, match=str(status)) as raised:
        fetch_http(server.url + "/f", tmp_path / "got")
    assert type(raised.value) is error
    assert len(server.requests) == 1


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(fetching, "SILENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        with pytest.raises(XmlcError, match="timed out"):
            fetch_http(url, tmp_path / "got")


def test_drive_gives_a_file_or_our_error(tmp_path, monkeypatch):
    def download(id, output, quiet, use_cookies):
        with open(output, "w") as file:
            file.write(id)
        if id == "refused":
            raise gdown.exceptions.FileURLRetrievalError("Too many users have viewed it")

    monkeypatch.setattr(gdown, "download", download)
    fetch_drive("identifier", tmp_path / "got")
    assert (tmp_path / "got").read_text() == "identifier"
    with pytest.raises(XmlcError, match="Too many users have viewed it"):
        fetch_drive("refused", tmp_path / "got")
