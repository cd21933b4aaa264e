"""Small real datasets come complete from a local server or a mirror; every error has a remedy."""

import hashlib
import sys
import time

import pooch
import pytest
from facts import raises_with
from file_server import serve
from repository import ROOT

from xmlc.core.errors import InvalidParameterError, MissingFileError, XmlcError
from xmlc.data import fetch, fetching
from xmlc.suite.config.catalogue import load_catalogue

TRAIN = b"2 3 2\n0,1 0:0.5 2:1\n1 1:2\n"
TEST = b"1 3 2\n0 1:3\n"
LISTED = load_catalogue(ROOT / "config/datasets.yaml")


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serve the dataset `tiny`, whose files are stored in `tmp_path`."""
    digests = {
        "train.txt": hashlib.sha256(TRAIN).hexdigest(),
        "test.txt": hashlib.sha256(TEST).hexdigest(),
    }
    with serve() as server:
        server.files = {"/tiny/train.txt": TRAIN, "/tiny/test.txt": TEST}
        monkeypatch.setitem(fetching.CATALOGUE, "tiny", (f"{server.url}/tiny", digests))
        monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / name)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        yield server


def cached(tmp_path):
    return sorted(file.name for file in tmp_path.rglob("*") if file.is_file())


def assert_tiny(parts):
    (X, Y), (X_test, Y_test) = parts
    assert X.toarray().tolist() == [[0.5, 0, 1], [0, 2, 0]]
    assert Y.toarray().tolist() == [[True, True], [False, True]]
    assert X_test.toarray().tolist() == [[0, 3, 0]]
    assert Y_test.toarray().tolist() == [[True, False]]


def test_files_are_downloaded_once(server, tmp_path):
    server.statuses["/tiny/train.txt"] = [500]
    server.cuts["/tiny/test.txt"] = [5]
    assert_tiny(fetch("tiny"))
    assert len(server.requests) == 4
    assert_tiny(fetch("tiny"))
    assert len(server.requests) == 4
    assert cached(tmp_path) == ["test.txt", "train.txt"]


def test_damaged_file_in_the_cache_is_downloaded_again(server, tmp_path):
    fetch("tiny")
    (tmp_path / "xmlc/tiny/train.txt").write_bytes(TRAIN[:-4])
    assert_tiny(fetch("tiny"))


def test_other_content_is_refused_and_not_kept(server, tmp_path):
    server.files["/tiny/train.txt"] = b"<html>sign in</html>"
    with raises_with(XmlcError, "tiny", "train.txt", "hash", "mirror="):
        fetch("tiny")
    assert cached(tmp_path) == []


def test_missing_network_is_an_error_with_remedy(server, tmp_path):
    server.shutdown()
    server.server_close()
    with raises_with(XmlcError, "tiny", "mirror=", "tiny/train.txt"):
        fetch("tiny")
    assert cached(tmp_path) == []


def test_error_names_the_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with raises_with(XmlcError, "pooch", "'.[data]'"):
        fetch("scene")


@pytest.mark.parametrize("name", ["scenes", "../scene"])
def test_unknown_name_is_refused_with_the_nearest(name):
    with raises_with(InvalidParameterError, repr(name), "scene"):
        fetch(name)


def test_incomplete_mirrors_are_refused(tmp_path):
    with raises_with(MissingFileError, tmp_path / "none"):
        fetch("tiny", tmp_path / "none")
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny/train.txt").write_bytes(TRAIN)
    with raises_with(InvalidParameterError, "scene", "tiny"):
        fetch("scene", tmp_path)
    with raises_with(MissingFileError, "tiny/test.txt", ".xz"):
        fetch("tiny", tmp_path)


def test_names_of_labels_are_read_from_their_file(tmp_path, server, monkeypatch):
    header = "@relation r\n@attribute f numeric\n@attribute sea {0,1}\n@data\n"
    contents = {
        "train.arff": f"{header}0.5,1\n2,0\n".encode(),
        "test.arff": f"{header}3,1\n".encode(),
        "labels.xml": b'<labels><label name="sea"></label></labels>',
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    server.files = {f"/m/{name}": content for name, content in contents.items()}
    monkeypatch.setitem(fetching.CATALOGUE, "tiny", (f"{server.url}/m", digests))
    (X, Y), (X_test, Y_test) = fetch("tiny")
    assert X.toarray().tolist() == [[0.5], [2]]
    assert Y.toarray().tolist() == [[True], [False]]
    assert X_test.toarray().tolist() == [[3]]
    assert Y_test.toarray().tolist() == [[True]]


@pytest.mark.parametrize("name", fetching.CATALOGUE)
def test_catalogue_and_suite_have_the_same_files(name):
    address, digests = fetching.CATALOGUE[name]
    assert all(len(digest) == 64 for digest in digests.values())
    entry = LISTED[name]
    if entry.drive:  # the suite's yeast has another format
        assert name == "yeast"
        return
    names = [*entry.train, *entry.test]
    if entry.labels:
        names.append(entry.labels)
    assert [*digests] == names
    assert [entry.address(file)["url"] for file in names] == [f"{address}/{file}" for file in names]


@pytest.mark.needs("mirror")
@pytest.mark.parametrize("name", fetching.CATALOGUE)
def test_mirror_has_published_sizes(name, mirror):
    (X, Y), (X_test, Y_test) = fetch(name, mirror)
    published = LISTED[name].published
    assert (X.shape[0], Y.shape[1]) == (published["n_train"], published["m"])
    assert X_test.shape[1] == X.shape[1]
    assert Y_test.shape[1] == Y.shape[1]
