"""Which source a dataset comes from when there are several, how each is checked, and the command around it."""

import bz2
import gzip
import json
import os
import re
import shutil
import subprocess

import pytest
from archive_cases import zip_of
from click.testing import CliRunner
from file_server import serve

from xmlc.cli import group
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.data import fetching
from xmlc.data.catalogue import Dataset, load_catalogue
from xmlc.data.download import check_sources, download, source_of

TRAIN, TEST = b"1 2 2\n0 0:1\n", b"1 2 2\n1 1:1\n"
GOOD = zip_of({"d/train.txt": TRAIN, "d/test.txt": TEST})
HTML = b"<!DOCTYPE html><html><title>Quota exceeded</title></html>"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(fetching, "FIRST_PAUSE", 0.001)
    with serve() as server:
        yield server


@pytest.fixture
def resources(tmp_path):
    return tmp_path / "resources"


def mirror_of(folder, name="tiny", **files):
    (folder / name).mkdir(parents=True)
    for file, content in files.items():
        (folder / name / file.replace("_", ".")).write_bytes(content)
    return str(folder)


def files_left(resources):
    """Everything under ``resources`` but unfinished downloads, temporary names included."""
    return [path for path in resources.rglob("*") if path.is_file() and ".partial" not in path.parts]


def test_an_alternative_is_taken_where_the_first_source_fails_and_that_is_said(server, resources):
    server.files = {"/quota.zip": HTML, "/short.zip": GOOD[:-30], "/other.zip": zip_of(dict.fromkeys("ab", b"0 1:1"))}
    other = Dataset("tiny", "svmlight", False, ("a",), ("b",), sources=(("url", server.url + "/other.zip"),))
    urls = tuple(("url", f"{server.url}/{name}.zip") for name in ("gone", "quota", "short"))
    said = []
    origin = download(Dataset("tiny", sources=urls, alternatives=(other,)), resources / "tiny", on_missing=said.append)
    assert origin == f"{server.url}/other.zip"
    assert [text.split(": ")[0] for text in said] == [address for _, address in urls]
    source = read_json(resources / "tiny/source.json")
    assert (source["format"], source["zero_based"], source["train"]) == ("svmlight", False, ["a"])


def test_copies_in_git_repositories_are_tried_in_turn_and_other_content_is_refused(tmp_path, server, resources):
    """As of EURLex-4K: Drive refuses, a first copy was replaced, a second is gone, the third, compressed, is right."""
    blobs = {}
    for name, content in (("train.txt", gzip.compress(TRAIN, mtime=0)), ("test.txt", TEST)):
        (tmp_path / name).write_bytes(content)
        blobs[name] = subprocess.check_output(["git", "hash-object", tmp_path / name], text=True).strip()
        server.files |= {f"/changed/{name}": TEST + b"\n", f"/right/{name}": content}
    catalogue = tmp_path / "c.yaml"
    copies = [{name: {"url": f"{server.url}/{place}/{name}", "blob": blob} for name, blob in blobs.items()}
              for place in ("changed", "gone", "right")]  # fmt: skip
    alternatives = [{"urls": urls, "train": "train.txt", "test": "test.txt"} for urls in copies]
    catalogue.write_text(json.dumps({"tiny": {"url": f"{server.url}/refuses.zip", "alternatives": alternatives}}))
    said = []
    origin = download(load_catalogue(catalogue)["tiny"], resources / "tiny", on_missing=said.append)
    assert origin == f"{server.url}/right/train.txt {server.url}/right/test.txt"
    assert (resources / "tiny/train.txt").read_bytes() == TRAIN, "as an address without compression gives it"
    assert [text.split(": ")[0].removeprefix(server.url) for text in said] == [
        "/refuses.zip", "/changed/train.txt", "/gone/train.txt"
    ]  # fmt: skip
    assert re.search(f"found another file, git blob [0-9a-f]{{40}}, expected {blobs['train.txt']}", said[1])
    server.files["/right/train.txt"] = server.files["/changed/train.txt"]
    with pytest.raises(XmlcError, match=r"/right/train\.txt: found another file, git blob"):
        download(load_catalogue(catalogue)["tiny"], resources / "other")
    assert not (resources / "other").exists()


def test_every_source_is_named_when_all_fail(server, resources):
    server.files = {"/b.zip": HTML}
    entry = Dataset("tiny", sources=(("url", server.url + "/a.zip"), ("url", server.url + "/b.zip")), homepage="HOME")
    with pytest.raises(XmlcError) as error:
        download(entry, resources / "tiny")
    text = str(error.value)
    for part in ("tiny: ", "/a.zip: ", "/b.zip: found an HTML page", "see HOME"):
        assert part in text
    assert text.count("manual/tiny/") == 1
    assert files_left(resources) == []
    assert not (resources / "tiny").exists()


def test_a_failed_download_leaves_the_old_folder_as_it_was(server, resources):
    server.files = {"/a.zip": GOOD}
    entry = Dataset("tiny", sources=(("url", server.url + "/a.zip"),))
    download(entry, resources / "tiny")
    before = {path: path.read_bytes() for path in files_left(resources)}
    server.files = {"/a.zip": HTML}
    with pytest.raises(XmlcError, match="HTML"):
        download(entry, resources / "tiny")
    assert {path: path.read_bytes() for path in files_left(resources)} == before


def test_what_an_address_of_the_catalogue_gives_may_not_change(server, resources):
    sources = [Dataset("tiny", sources=(("url", f"{server.url}/{name}.zip"),)) for name in "ab"]
    server.files = {"/a.zip": GOOD, "/b.zip": zip_of({"train.txt": TEST, "test.txt": TEST})}
    for entry in (*sources, sources[0]):
        download(entry, resources / "tiny")
    assert len(read_json(resources / "digests/tiny.json")) == 2
    server.files["/a.zip"] = server.files["/b.zip"]
    with pytest.raises(XmlcError, match=r"train\.txt has changed: found SHA-256 [0-9a-f]{64}, recorded") as error:
        download(sources[0], resources / "tiny")
    assert f"delete {resources}/digests/tiny.json and give the same command again" in str(error.value)


@pytest.mark.parametrize("place", ["mirror/tiny", "resources/manual/tiny"])
def test_what_a_copy_is_made_from_changes_with_the_content_of_a_folder_and_nothing_else(tmp_path, resources, place):
    mirror, folder = str(tmp_path / "mirror"), tmp_path / place
    mirror_of(folder.parent, train_txt=TRAIN, test_txt=TEST)
    (tmp_path / "mirror").mkdir(exist_ok=True)

    def of(mirror=mirror):
        return source_of(Dataset("tiny"), mirror, resources)

    before = of()
    assert [text.split()[0] for text in before] == ["test.txt", "train.txt"]
    assert download(Dataset("tiny"), resources / "tiny", mirror) == str(folder)
    (folder / "README").touch()
    (folder / "train.txt.gz").write_bytes(b"passed over")
    os.utime(folder / "train.txt")
    shutil.copytree(tmp_path / "mirror", tmp_path / "elsewhere")
    assert of() == of(str(tmp_path / "elsewhere")) == before
    (folder / "train.txt").write_bytes(TEST)
    assert of()[0] == before[0]
    assert of()[1] != before[1]
    assert download(Dataset("tiny"), resources / "tiny", mirror) == str(folder), "no digest stands against it"
    edited = of()
    (folder / "test.txt").rename(folder / "test.txt.txt")
    assert of() == edited[1:]
    shutil.rmtree(folder)
    assert of() == of(None) == of("/no/such/folder") == edited, "what the copy was made from"
    assert of("http://localhost/far/") == ["http://localhost/far/tiny"]
    (resources / "tiny/source.json").write_text("{")
    assert of(None) == []


def test_a_mirror_that_answers_a_page_for_a_missing_file_is_searched_further(server, resources):
    server.files = {f"/tiny/{part}.txt{suffix}": HTML for part in ("train", "test") for suffix in ("", ".gz")}
    with pytest.raises(XmlcError, match=r"/tiny/train\.txt: found an HTML page"):
        download(Dataset("tiny"), resources / "tiny", server.url)
    assert files_left(resources) == []
    server.files |= {"/tiny/train.txt.gz": gzip.compress(TRAIN), "/tiny/test.txt.bz2": bz2.compress(TEST)}
    assert download(Dataset("tiny"), resources / "tiny", server.url) == f"{server.url}/tiny"
    assert sorted(read_json(resources / "tiny/source.json")["files"]) == ["test.txt.bz2", "train.txt.gz"]


@pytest.mark.parametrize("wrong", [b'{"error": "quota"}', b"Too many requests", b"404", gzip.compress(b"[]", mtime=0)])
@pytest.mark.parametrize("way", ["mirror", "files", "archive", "hand"])
def test_what_is_no_data_is_not_recorded_and_does_not_block_the_right_file(server, resources, wrong, way):
    urls = {name: f"{server.url}/tiny/{name}" for name in ("train.txt", "test.txt")}
    sources = {"files": (("urls", urls),), "archive": (("url", f"{server.url}/a.zip"),)}
    entry = Dataset("tiny", sources=sources.get(way, ()))
    (resources / "manual/tiny").mkdir(parents=True)
    for train in (wrong, TRAIN):
        server.files = {"/tiny/train.txt": train, "/tiny/test.txt": TEST}
        server.files["/a.zip"] = zip_of({"train.txt": train, "test.txt": TEST})
        if way == "hand":
            for name in urls:
                (resources / "manual/tiny" / name).write_bytes(server.files[f"/tiny/{name}"])
        if train is wrong:
            with pytest.raises(XmlcError, match=r"train\.txt.*found (JSON|a text|no header)"):
                download(entry, resources / "tiny", server.url if way == "mirror" else None)
            assert not (resources / "digests").exists()
    download(entry, resources / "tiny", server.url if way == "mirror" else None)
    assert (resources / "tiny/train.txt").read_bytes() == TRAIN


def test_a_mirror_that_fails_is_not_passed_over(server, resources):
    server.statuses["/tiny/train.txt"] = [500] * 4
    server.files = {"/a.zip": GOOD}
    with pytest.raises(XmlcError, match=r"/tiny/train\.txt: the server answered 500"):
        download(Dataset("tiny", sources=(("url", server.url + "/a.zip"),)), resources / "tiny", server.url)


def test_a_mirror_may_hold_a_set_in_its_own_format(tmp_path, resources):
    path = tmp_path / "catalogue.yaml"
    path.write_text("tiny: {source: mirror, format: arff, train: a.arff, test: b.arff, labels: c.xml}")
    entry = load_catalogue(path)["tiny"]
    arff = b"@relation"
    mirror = mirror_of(tmp_path / "mirror", a_arff_gz=gzip.compress(arff), b_arff=arff, c_xml=b"<labels/>")
    download(entry, resources / "tiny", mirror)
    source = read_json(resources / "tiny/source.json")
    found = [source[key] for key in ("format", "train", "test", "labels")]
    assert found == ["arff", ["a.arff.gz"], ["b.arff"], "c.xml"]
    with pytest.raises(XmlcError, match=r"the catalogue knows no address for it\. Give a mirror"):
        download(entry, resources / "tiny")


@pytest.mark.parametrize("packed", [True, False])
def test_what_is_put_there_by_hand_may_be_an_alternative(resources, packed):
    files = {"data.txt": TRAIN, "tr.txt": b"1\n", "te.txt": b"2\n"}
    split = {"train": "tr.txt", "test": "te.txt", "column": 0}
    other = Dataset("tiny", train=("data.txt",), test=("data.txt",), split_files=split)
    manual = resources / "manual/tiny"
    manual.mkdir(parents=True)
    for name, content in {"Bibtex.zip": zip_of(files)}.items() if packed else files.items():
        (manual / name).write_bytes(content)
    assert download(Dataset("tiny", alternatives=(other,)), resources / "tiny") == str(manual)
    source = read_json(resources / "tiny/source.json")
    assert source["split_files"] == split
    assert sorted(source["files"]) == sorted(files)


def test_a_record_of_digests_that_cannot_be_read_is_named(server, resources):
    server.files = {"/a.zip": GOOD}
    url = f"{server.url}/a.zip"
    digests = resources / "digests/tiny.json"
    digests.parent.mkdir(parents=True)
    for content in ("{", "[]", json.dumps({url: 3})):
        digests.write_text(content)
        with pytest.raises(XmlcError, match=r"digests/tiny\.json: expected the JSON of recorded digests"):
            download(Dataset("tiny", sources=(("url", url),)), resources / "tiny")
        assert not (resources / "tiny").exists()


def test_a_full_disk_is_no_reason_to_look_elsewhere(tmp_path, resources, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        download(Dataset("tiny"), resources / "tiny", mirror_of(tmp_path / "m", train_txt=TRAIN, test_txt=TEST))
    assert error.value.filename == str(resources / "tiny"), "to fetch it by hand would not help"
    assert files_left(resources) == []


def test_the_command_says_where_it_came_from_and_where_not(tmp_path, server, resources):
    server.files = {"/a.zip": GOOD}
    (tmp_path / "c.yaml").write_text(f"tiny: {{url: '{server.url}/a.zip'}}\n")
    arguments = ["download", "tiny", "--out", resources / "tiny", "--catalogue", tmp_path / "c.yaml"]
    arguments += ["--mirror", tmp_path]
    result = CliRunner().invoke(group, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    assert f"tiny: {tmp_path}/tiny: found no file" in result.output
    assert f"tiny: fetched from {server.url}/a.zip" in result.output
    assert list(read_json(resources / "digests/tiny.json")) == [f"{server.url}/a.zip"]


def test_a_dataset_has_an_address_or_lies_in_the_mirror(tmp_path):
    mirror, resources = tmp_path / "mirror", tmp_path / "resources"
    (mirror / "medical").mkdir(parents=True)
    for name in ("train.txt.gz", "test.txt"):
        (mirror / "medical" / name).touch()
    addressed = Dataset("far", sources=(("url", "http://localhost/x.zip"),))
    check_sources([Dataset("medical"), addressed], str(mirror), resources, [])
    check_sources([addressed], None, resources, [])
    check_sources([], str(tmp_path / "nowhere"), resources, [])
    check_sources([Dataset("medicl")], "http://localhost/mirror", resources, [])
    with pytest.raises(XmlcError, match=r"has no files in medicl/; expected medical"):
        check_sources([Dataset("medicl")], str(mirror), resources, ["yeast"])
    with pytest.raises(XmlcError, match="no mirror is given; expected yeast"):
        check_sources([Dataset("yeas")], None, resources, ["yeast"])
    with pytest.raises(XmlcError, match="no mirror is given; expected a mirror that has it"):
        check_sources([Dataset("medical")], None, resources, ["yeast"])
    with pytest.raises(XmlcError, match="nowhere is no folder on this machine"):
        check_sources([addressed], str(tmp_path / "nowhere"), resources, [])
    (resources / "manual/medicl").mkdir(parents=True)
    check_sources([Dataset("medicl")], None, resources, [])
    (mirror / "medical/test.txt").unlink()
    with pytest.raises(XmlcError, match=r"medical: found train\.txt\.gz, expected train\.txt, test\.txt"):
        check_sources([Dataset("medical")], str(mirror), resources, [])
