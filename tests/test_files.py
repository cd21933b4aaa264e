"""Files and folders appear under their name only when they are whole."""

import json

import numpy as np
import pytest

from xmlc.files import atomic_file, atomic_folder, read_json, sha256, write_json


def fail_within(manager, write):
    with manager as temporary:
        write(temporary)
        raise RuntimeError


def test_file_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "table.csv"
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert temporary.suffix == ".csv"
    assert target.read_text() == "new"
    with pytest.raises(RuntimeError):
        fail_within(atomic_file(target), lambda temporary: temporary.write_text("half"))
    assert target.read_text() == "new"
    assert [file.name for file in target.parent.iterdir()] == ["table.csv"]


def test_folder_is_replaced_whole_or_not_at_all(tmp_path):
    target = tmp_path / "data"
    for content in ("old", "new"):
        with atomic_folder(target) as temporary:
            (temporary / content).write_text(content)
    assert [file.name for file in target.iterdir()] == ["new"]
    with pytest.raises(RuntimeError):
        fail_within(atomic_folder(target), lambda temporary: (temporary / "half").write_text("half"))
    assert [file.name for file in target.iterdir()] == ["new"]
    assert [folder.name for folder in tmp_path.iterdir()] == ["data"]


def test_json_takes_numpy_and_refuses_nan(tmp_path):
    write_json(tmp_path / "a.json", {"i": np.int64(3), "f": np.float32(0.5), "a": np.arange(2), "p": tmp_path})
    assert read_json(tmp_path / "a.json") == {"i": 3, "f": 0.5, "a": [0, 1], "p": str(tmp_path)}
    with pytest.raises(ValueError):
        write_json(tmp_path / "b.json", {"x": float("nan")})
    with pytest.raises(TypeError):
        write_json(tmp_path / "b.json", {"x": object()})
    assert not (tmp_path / "b.json").exists()
    assert json.loads((tmp_path / "a.json").read_text())["i"] == 3


def test_sha256_is_the_standard_digest(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
