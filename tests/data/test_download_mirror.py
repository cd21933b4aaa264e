"""Where a mirror is: folders and addresses with any letters, and what is none."""

import pytest
from file_server import serve

from xmlc.core.errors import XmlcError
from xmlc.data.catalogue import Dataset
from xmlc.data.download import Place, download, mirror_at

FILES = {"train.txt": b"1 2 2\n0 0:1\n", "test.txt": b"1 2 2\n1 1:1\n"}
NAMES = ("Möbius Lüge & Söhne", "a'b\"c$d", "数据", "100%25")


def fetched(tmp_path, mirror):
    download(Dataset("tiny"), tmp_path / "resources/tiny", mirror)
    return {name: (tmp_path / "resources/tiny" / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_any_name_is_found(tmp_path, name):
    folder = tmp_path / name / "tiny"
    folder.mkdir(parents=True)
    for file, content in FILES.items():
        (folder / file).write_bytes(content)
    given = str(tmp_path / name)
    assert fetched(tmp_path, given) == FILES
    assert fetched(tmp_path, given + "/") == FILES
    if "%" not in name:
        assert fetched(tmp_path, f"file://{given}") == FILES


def test_an_address_with_letters_beyond_ascii_and_blanks_is_found(tmp_path):
    with serve() as server:
        server.files = {f"/M%C3%B6bius%20x/tiny/{name}": content for name, content in FILES.items()}
        for path in ("Möbius x", "M%C3%B6bius%20x", "M%C3%B6bius x/"):
            assert fetched(tmp_path, f"{server.url}/{path}") == FILES
        assert fetched(tmp_path, server.url.replace("http", "HTTP") + "/Möbius x") == FILES


def test_the_home_folder_has_its_sign(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").mkdir()
    assert mirror_at("~/x/") == Place(f"{tmp_path}/x")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("ftp://host/x", "expected a folder, or an address that begins with http:// or https://"),
        ("http://", "expected the name of a server behind http://"),
        ("http://[::1/x", "expected the name of a server behind http://"),
        ("https://host/x?key=1", "write %23 for # and %3F for ?"),
        ("https://host/x#y", "write %23 for # and %3F for ?"),
        ("/no/such/folder", "the mirror /no/such/folder is no folder on this machine"),
    ],
)
def test_what_is_no_mirror_is_said(tmp_path, given, said):
    with pytest.raises(XmlcError) as error:
        download(Dataset("tiny"), tmp_path / "resources/tiny", given)
    assert said in str(error.value)
