"""Files of arrays are whole and as described, or named with the command that makes them again."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.checksums import Damaged, list_files
from xmlc.csr import load_csr, save_csr
from xmlc.errors import XmlcError
from xmlc.gate.fields import Malformed
from xmlc.gate.stored import load_array, load_description


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i4' ", b"{}"])
def test_what_is_no_array_is_named(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    list_files(tmp_path)
    with pytest.raises(Malformed, match=r"a\.npy: no whole array of numpy"):
        load_array(tmp_path / "a.npy")
    with pytest.raises(Damaged, match=r"b\.npy: checksums\.json does not list it"):
        load_array(tmp_path / "b.npy")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "1"}', '{"version": true}', '{"version": 1.5}'])
def test_what_describes_nothing_is_named(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    list_files(tmp_path)
    with pytest.raises(Malformed, match=r"a\.json: "):
        load_description(tmp_path / "a.json", {"version": int})


@pytest.mark.parametrize(
    ("file", "array", "fault"),
    [
        ("indices", np.array([0, 2_000_000_000], dtype=np.int32), "entry 1 is 2000000000, expected 0 .. 2"),
        ("indices", np.array([1, 0], dtype=np.int32), "indices of one part do not ascend"),
        ("indices", np.array([0, 1], dtype=np.int64), "found int64"),
        ("indptr", np.array([0, 2, 1], dtype=np.int64), "less than the one before"),
        ("indptr", np.array([0, 2, 9], dtype=np.int64), "ends with 9, expected 2, the size of X.indices.npy"),
        ("indptr", np.array([0, 2], dtype=np.int64), "found int64 of shape"),
        ("data", np.ones(2, dtype=np.float64), "found float64"),
        ("data", np.ones(1, dtype=np.float32), "found float32 of shape"),
    ],
)
def test_a_damaged_matrix_names_its_file_and_how_it_is_made_again(tmp_path, file, array, fault):
    save_csr(tmp_path, "X", sparse.csr_array(np.array([[1, 1, 0], [0, 0, 0]], dtype=np.float32)))
    np.save(tmp_path / f"X.{file}.npy", array)
    list_files(tmp_path)
    with pytest.raises(XmlcError, match=rf"X\.{file}\.npy: .*{fault}.*; delete .* make it again with xmlc estimate"):
        load_csr(tmp_path, "X", made_by="estimate")
