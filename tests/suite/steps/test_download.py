"""Test how a source of a dataset is chosen and checked, and the command for it."""

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import time
from dataclasses import replace

import pytest
from archive_cases import put, tar_of, zip_of
from command_line import run
from facts import contents, raises_with
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.config.sources import check_source, source_of
from xmlc.suite.steps import fetching
from xmlc.suite.steps.download import download
from xmlc.suite.steps.fetching import fetch

TRAIN = b"1 2 2\n0 0:1\n"
TEST = b"1 2 2\n1 1:1\n"
FILES = {"train.txt": TRAIN, "test.txt": TEST}
GOOD = zip_of({f"d/{name}": content for name, content in FILES.items()})
TINY = Dataset("tiny")
HTML = b"<!DOCTYPE html><html><title>Quota exceeded</title></html>"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with serve() as server:
        yield server


@pytest.fixture
def resources(tmp_path):
    return tmp_path / "resources"


@pytest.fixture
def get(resources):
    """Return a function that downloads a dataset and returns its origin."""
    return lambda entry, mirror=None: download(entry, resources / "tiny", mirror)


def test_alternative_is_used_and_reported_if_first_source_fails(server, resources, capsys, get):
    server.files = {
        "/quota.zip": HTML,
        "/short.zip": GOOD[:-30],
        "/other.zip": zip_of({"a": b"0 1:1", "b": b"0 1:1"}),
    }
    urls = [f"{server.url}/{name}.zip" for name in ("gone", "quota", "short", "other")]
    sources = [Dataset("tiny", url=url) for url in urls]
    layout = {"train": ["a"], "test": ["b"], "format": "svmlight", "zero_based": False}
    sources[-1] = replace(sources[-1], **layout)
    assert get(replace(sources[0], alternatives=sources[1:])) == urls[-1]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == urls[:-1]
    assert layout.items() <= read_json(resources / "tiny/source.json").items()


def test_copies_in_git_repositories_are_tried_in_order_and_checked(
    tmp_path, server, resources, get
):
    """Google Drive refuses the download, as for EURLex-4K.

    The first copy was replaced, the second is gone, and the third is correct.
    """
    blobs = {}
    for name, content in (("train.txt", gzip.compress(TRAIN, mtime=0)), ("test.txt", TEST)):
        (tmp_path / name).write_bytes(content)
        command = ["git", "hash-object", tmp_path / name]
        blobs[name] = subprocess.check_output(command, text=True).strip()
        server.files |= {f"/changed/{name}": TEST + b"\n", f"/right/{name}": content}
    alternatives = []
    for place in ("changed", "gone", "right"):
        urls = {}
        for name, blob in blobs.items():
            urls[name] = {"url": f"{server.url}/{place}/{name}", "blob": blob}
        alternatives.append(Dataset("tiny", urls=urls))
    entry = Dataset("tiny", url=f"{server.url}/refuses.zip", alternatives=alternatives)
    assert get(entry) == f"{server.url}/right/train.txt {server.url}/right/test.txt"
    # as from an address without compression
    assert (resources / "tiny/train.txt").read_bytes() == TRAIN
    requested = list(dict.fromkeys(server.requests))
    assert requested[:3] == ["/refuses.zip", "/changed/train.txt", "/gone/train.txt"]


def test_all_sources_are_named_and_old_folder_is_kept_if_all_fail(server, resources, get):
    server.files = {"/a.zip": GOOD}
    b = Dataset("tiny", url=f"{server.url}/b.zip", homepage="HOME")
    entry = replace(b, url=f"{server.url}/a.zip", alternatives=[b])
    get(entry)
    before = contents(resources)
    server.files = {"/b.zip": HTML}
    with raises_with(XmlcError, "/a.zip", "/b.zip", "HOME", "resources/manual/tiny/"):
        get(entry)
    assert contents(resources) == before


def test_changed_content_of_a_catalogue_address_is_refused(server, resources, get):
    server.files = {"/a.zip": GOOD, "/b.zip": zip_of({"train.txt": TEST, "test.txt": TEST})}
    for name in "aba":
        get(Dataset("tiny", url=f"{server.url}/{name}.zip"))
    assert len(read_json(resources / "digests/tiny.json")) == 2
    server.files["/a.zip"] = server.files["/b.zip"]
    with raises_with(XmlcError, "train.txt", "digests/tiny.json"):
        get(Dataset("tiny", url=f"{server.url}/a.zip"))


@pytest.mark.parametrize("place", ["mirror/tiny", "resources/manual/tiny"])
def test_recorded_source_depends_only_on_content_of_the_folder(tmp_path, resources, place, get):
    mirror = str(tmp_path / "mirror")
    folder = put(tmp_path / place, FILES)
    (tmp_path / "mirror").mkdir(exist_ok=True)

    def source_in(mirror=mirror):
        return source_of(TINY, mirror, resources)

    before = source_in()
    assert [text.split()[0] for text in before] == ["test.txt", "train.txt"]
    get(TINY, mirror)
    put(folder, {"README": b"", "train.txt.gz": b"passed over"})
    os.utime(folder / "train.txt")
    shutil.copytree(tmp_path / "mirror", tmp_path / "elsewhere")
    assert source_in() == source_in(str(tmp_path / "elsewhere")) == before
    (folder / "train.txt").write_bytes(TEST)
    edited = source_in()
    assert edited[0] == before[0]
    assert edited[1] != before[1]
    # No recorded digest contradicts the new content.
    assert get(TINY, mirror) == str(folder)
    shutil.rmtree(folder)
    # The source of the copy is recorded, and a new mirror fetches nothing that exists.
    for other in (mirror, None, "/no/such/folder", "http://localhost/far/"):
        assert source_in(other) == edited
    (resources / "tiny/source.json").write_text("{")
    assert source_in(None) == []
    assert source_in("http://localhost/far/") == ["http://localhost/far/tiny"]


def test_dataset_from_an_address_is_not_fetched_again_from_a_new_mirror(
    server, resources, tmp_path, get
):
    server.files = {"/tiny.zip": GOOD}
    for name, content in FILES.items():
        server.files |= {f"/tiny/{name}": content, f"/b/tiny/{name}": content}
    put(tmp_path / "mirror/tiny", FILES)
    of_address = Dataset("tiny", url=f"{server.url}/tiny.zip")
    for entry, first in ((of_address, None), (of_address, server.url), (TINY, server.url)):
        before = source_of(entry, first, resources)
        get(entry, first)
        for mirror in (None, server.url, f"{server.url}/b", str(tmp_path / "mirror")):
            assert source_of(entry, mirror, resources) == before
        # The user's own files are used.
        put(resources / "manual/tiny", FILES)
        assert source_of(entry, None, resources) != before
        shutil.rmtree(resources)


# Maps a response to what it is.
NO_DATA = {
    b"\xef\xbb\xbf  \n<HTML>": "an HTML page",
    gzip.compress(HTML, mtime=0): "an HTML page",
    b"version https://git-lfs.github.com/spec/v1\noid sha256:29\n": "a Git LFS pointer",
    b'{"error": {"code": 403, "message": "quota"}}': "JSON",
    lzma.compress(b"[1]"): "JSON",
    b" \n\n": "an empty file",
    bz2.compress(b""): "an empty file",
    gzip.compress(b"1 2 3\n" * 99, mtime=0)[:12]: "damaged",
}


@pytest.mark.parametrize("content", NO_DATA)
def test_responses_other_than_data_are_refused(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with raises_with(XmlcError, f"found {NO_DATA[content]}"):
        fetch(str(tmp_path / "f"), tmp_path / "got")


@pytest.mark.parametrize(
    "content", [tar_of(FILES), b"@relation x", b"0 | a:1\n", b"<?xml?><labels>"]
)
def test_data_are_fetched(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    fetch(str(tmp_path / "f"), tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == content


@pytest.mark.parametrize("packed", [False, True])
def test_invalid_response_is_not_recorded_and_correct_file_is_accepted_later(
    server, resources, packed, get
):
    entry = Dataset("tiny", urls={name: f"{server.url}/{name}" for name in FILES})
    if packed:
        entry = Dataset("tiny", url=f"{server.url}/a.zip")
    server.files = {"/train.txt": HTML, "/test.txt": TEST, "/a.zip": HTML}
    with pytest.raises(XmlcError):
        get(entry)
    assert contents(resources) == {}
    server.files |= {"/train.txt": TRAIN, "/a.zip": GOOD}
    get(entry)
    assert (resources / "tiny/train.txt").read_bytes() == TRAIN


# Files in the mirror, and the function that copies them
COPIES = {
    "file": (FILES, shutil, "copyfile"),
    "archive": ({"a.zip": GOOD}, shutil, "copyfileobj"),
    "address": ({}, fetching, "Progress"),
}


@pytest.mark.parametrize("case", COPIES)
def test_full_disk_stops_download_and_leaves_no_files(
    tmp_path, server, resources, monkeypatch, case, get
):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    files, *place = COPIES[case]
    monkeypatch.setattr(*place, full)
    server.files = {"/a.zip": GOOD}
    put(tmp_path / "m/tiny", files)
    with pytest.raises(OSError) as error:
        get(Dataset("tiny", url=f"{server.url}/a.zip"), str(tmp_path / "m"))
    assert error.value.filename == str(resources / "tiny")
    assert list(resources.iterdir()) == []
    # The download is tried once.
    assert len(server.requests) == (case == "address")


def test_search_continues_if_mirror_returns_a_page_for_a_missing_file(server, resources, get):
    names = ("train.txt", "train.txt.gz", "test.txt", "test.txt.gz")
    server.files = {f"/tiny/{name}": HTML for name in names}
    with raises_with(XmlcError, "/tiny/train.txt"):
        get(TINY, server.url)
    assert not (resources / "tiny").exists()
    found = {"train.txt.gz": gzip.compress(TRAIN), "test.txt.bz2": bz2.compress(TEST)}
    server.files |= {f"/tiny/{name}": content for name, content in found.items()}
    assert get(TINY, server.url) == f"{server.url}/tiny"
    assert read_json(resources / "tiny/source.json")["files"].keys() == found.keys()


def test_failing_mirror_is_not_skipped(server, resources, get):
    server.statuses["/tiny/train.txt"] = [500] * 4
    server.files = {"/a.zip": GOOD}
    with raises_with(XmlcError, "/tiny/train.txt", "500"):
        get(Dataset("tiny", url=server.url + "/a.zip"), server.url)


@pytest.mark.parametrize("name", ["Möbius Lüge & Söhne", "a'b\"c$d", "100%25"])
def test_folders_and_addresses_with_special_names_are_found(
    tmp_path, server, name, monkeypatch, get
):
    put(tmp_path / name / "tiny", FILES)
    monkeypatch.setenv("HOME", str(tmp_path))
    server.files = {f"/M%C3%B6bius%20x/tiny/{name}": content for name, content in FILES.items()}
    places = [str(tmp_path / name), f"~/{name}/"]
    places += [f"{server.url}/Möbius x", f"{server.url}/M%C3%B6bius%20x/"]
    for place in places:
        get(TINY, place)
        assert (tmp_path / "resources/tiny/train.txt").read_bytes() == TRAIN


def test_command_names_the_used_source(tmp_path, server, resources, capsys):
    server.files = {"/a.zip": GOOD}
    (tmp_path / "c.yaml").write_text(f"tiny: {{url: '{server.url}/a.zip'}}\n")
    places = ("--catalogue", tmp_path / "c.yaml", "--mirror", tmp_path)
    assert run("download", "tiny", "--out", resources / "tiny", *places) == 0
    assert f"{server.url}/a.zip" in capsys.readouterr().err
    assert list(read_json(resources / "digests/tiny.json")) == [f"{server.url}/a.zip"]


def test_dataset_needs_an_address_or_a_copy_in_the_mirror(tmp_path, resources):
    mirror = tmp_path / "mirror"
    put(mirror / "medical", {"train.txt.gz": b"", "test.txt": b""})
    (mirror / "empty").mkdir()
    put(resources / "manual/own", {"own.zip": b""})

    def check(name, mirror=None, url=None):
        check_source(Dataset(name, url=url), mirror and str(mirror), resources, ["yeast"])

    check("medical", mirror)
    check("medicl", "http://localhost/mirror")
    check("own")
    for place in (None, mirror):
        check("far", place, url="http://localhost/x.zip")
    for name, place, facts in (
        ("medicl", mirror, ["medicl/", "medical"]),
        ("yeas", None, ["yeast"]),
        ("medical", None, ["mirror"]),
        ("far", tmp_path / "nowhere", ["nowhere"]),
        ("far", "ftp://host", ["ftp://host"]),
        ("empty", mirror, ["empty/"]),
    ):
        with raises_with(XmlcError, *facts):
            check(name, place)
    (mirror / "medical/test.txt").unlink()
    with raises_with(XmlcError, "medical", "train.txt.gz", "test.txt"):
        check("medical", mirror)
