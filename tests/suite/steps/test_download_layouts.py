"""Test that mirror, manual folder and catalogue addresses give the same dataset in any layout."""

import lzma

import pytest
from archive_cases import put, zip_of
from facts import raises_with
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.steps.download import download
from xmlc.suite.steps.prepare import prepare
from xmlc.suite.steps.prepared import Prepared

VW = {"a_train.vw": b"2 | 3:0.5 1:1\n1 | 2:2\n", "a_test.vw": b"2 | 1:4 3:1\n"}
OWN = {"train.txt": b"2 4 2\n1 1:1 3:0.5\n0 2:2\n", "test.txt": b"1 4 2\n1 1:4 3:1\n"}
LAYOUTS = {
    "vw": VW,
    "mixed": {"a_train.vw": VW["a_train.vw"], "a_test.vw.xz": lzma.compress(VW["a_test.vw"])},
    "svm": {"a_train.svm": b"1 1:1\n", "a_test.svm": b"2 2:1\n"},
    "own.xz": {f"{name}.xz": lzma.compress(content) for name, content in OWN.items()},
    "archive": {"a.zip": zip_of(VW)},
}


@pytest.fixture
def server():
    with serve() as server:
        server.files = {f"/far/{name}": content for name, content in VW.items()}
        yield server


def entry_of(server):
    """Return an entry like ALOI: two Vowpal Wabbit files with addresses, and a manual
    alternative.
    """
    other = Dataset(
        "tiny", train="a_train.svm", test="a_test.svm", format="svmlight", zero_based=False
    )
    urls = {name: f"{server.url}/far/{name}" for name in VW}
    parts = {"train": "a_train.vw", "test": "a_test.vw"}
    return Dataset("tiny", **parts, format="vw", zero_based=False, urls=urls, alternatives=[other])


def prepared(folder, server, place, files):
    """Fetch the dataset from a place with these files.

    Return the dataset's origin, and the digest and the arrays of the prepared data.
    """
    resources = folder / place / "resources"
    mirror = None
    if place == "address":
        mirror = f"{server.url}/m"
        server.files |= {f"/m/tiny/{name}": content for name, content in files.items()}
    elif place == "mirror":
        mirror = str(folder / "a mirror")
        put(folder / "a mirror/tiny", files)
    elif files:
        put(resources / "manual/tiny", files)
    entry = entry_of(server)
    origin = download(entry, resources / "tiny", mirror)
    meta, train, test = prepare(entry, resources / "tiny", folder / place / "data")
    return origin, [meta["digest"], train[0].toarray().tolist(), test[0].toarray().tolist()]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_dataset_in_every_place(tmp_path, server, layout):
    files = LAYOUTS[layout]
    origins = {
        "mirror": f"{tmp_path}/a mirror/tiny",
        "manual": f"{tmp_path}/manual/resources/manual/tiny",
    }
    if layout != "archive":  # The files of a web address cannot be listed.
        origins["address"] = f"{server.url}/m/tiny"
    data = []
    for place, expected in origins.items():
        origin, found = prepared(tmp_path, server, place, files)
        assert origin == expected
        data.append(found)
    assert data == data[:1] * len(data)
    # Other files have another digest.
    _, downloaded = prepared(tmp_path, server, "download", {})
    assert (downloaded == data[0]) == (layout in ("vw", "mixed", "archive"))


def test_compressed_copy_of_train_txt_stays_compressed(tmp_path):
    entry = Dataset("tiny", urls={name: f"http://localhost/none/{name}" for name in OWN})
    put(tmp_path / "mirror/tiny", LAYOUTS["own.xz"])
    download(entry, tmp_path / "tiny", str(tmp_path / "mirror"))
    assert read_json(tmp_path / "tiny/source.json")["train"] == ["train.txt.xz"]


# Maps facts of the message to invalid copies.
INVALID = {
    "a_train.vw, a_test.vw; a_train.svm": {"a_train.vw": VW["a_train.vw"]},
    "a_train.vw: ; JSON": {"a_train.vw": b"{}", "a_test.vw": b"{}"},
    "a.zip: ; a_train.vw": {"a.zip": zip_of({"other": b""})},
    "a.zip: ; HTML": {"a.zip": b"<!DOCTYPE html>"},
    "a.csv, b.csv; a_train.vw, a_test.vw": {"a.csv": b"1,2\n", "b.csv": b"1,2\n"},
}


@pytest.mark.parametrize("place", ["mirror", "manual"])
@pytest.mark.parametrize("facts", INVALID)
def test_incomplete_or_invalid_copies_of_a_dataset_are_refused(tmp_path, server, place, facts):
    with raises_with(XmlcError, *facts.split("; ")):
        prepared(tmp_path, server, place, INVALID[facts])
    assert not (tmp_path / place / "resources/tiny").exists()
    assert server.requests == [], "no address is requested"


@pytest.mark.parametrize("place", ["mirror/tiny", "resources/manual/tiny"])
@pytest.mark.parametrize("packed", [False, True])
def test_filter_is_copied_in_every_layout(tmp_path, place, packed):
    entry = Dataset("tiny", filter="filter.txt")
    files = OWN | {"filter.txt": b"0 0\n"}
    if packed:
        files = {"a.zip": zip_of(files)}
    (tmp_path / "mirror").mkdir()
    put(tmp_path / place, files)
    download(entry, tmp_path / "resources/tiny", str(tmp_path / "mirror"))
    prepare(entry, tmp_path / "resources/tiny", tmp_path / "data")
    assert Prepared(tmp_path / "data").left_out("test").toarray().tolist() == [[True, False]]


def test_filter_of_every_true_label_is_refused(tmp_path):
    put(tmp_path, OWN | {"filter.txt": b"0 1\n"})
    with raises_with(XmlcError, "1 test instances"):
        prepare(Dataset("tiny", filter="filter.txt"), tmp_path, tmp_path / "data")
