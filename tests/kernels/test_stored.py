"""Damaged files of arrays are refused.

The error contains the file and the command that rebuilds it.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from facts import raises_with
from hostile_cases import good_pair
from scipy import sparse

from xmlc.core.checksums import Damaged, list_files
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.data.matrices import load_csr, save_csr
from xmlc.kernels.indices import Malformed
from xmlc.kernels.stored import FINITE, Field, check_fields, load_array, load_description
from xmlc.models import OPLT, PLT
from xmlc.suite.provenance.damage import message_of


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<i4' ", b"{}"],
    ids=["empty", "cut", "text"],
)
def test_damaged_or_missing_array_file_is_refused(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    list_files(tmp_path)
    with raises_with(Malformed, "a.npy"):
        load_array(tmp_path / "a.npy")
    with raises_with(Damaged, "b.npy", "checksums.json"):
        load_array(tmp_path / "b.npy")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "1"}', '{"version": true}'])
def test_invalid_description_file_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    list_files(tmp_path)
    with raises_with(Malformed, "a.json"):
        load_description(tmp_path / "a.json", {"version": int})


@pytest.mark.parametrize(
    ("file", "array", "fault"),
    [
        ("indices", np.int32([0, 2_000_000_000]), ["indices", "entry 1", "2000000000", "0 to 2"]),
        ("indptr", np.array([0, 2]), ["indptr", "int64"]),
        ("data", np.ones(2), ["data", "float64"]),
    ],
)
def test_error_for_inconsistent_matrix_has_command_that_rebuilds_it(tmp_path, file, array, fault):
    save_csr(tmp_path, "X", sparse.csr_array(np.float32([[1, 1, 0], [0, 0, 0]])))
    np.save(tmp_path / f"X.{file}.npy", array)
    list_files(tmp_path)
    with raises_with(XmlcError, "/X", fault, "xmlc estimate"):
        load_csr(tmp_path, "X", made_by="estimate")


FIELDS = (
    Field("starts", np.int64, ("parts + 1",), starts="numbers"),
    Field("numbers", np.uint32, ("numbers", "2 * width"), below="n_labels"),
    Field("places", np.int32, ("parts",), least=-1, below="parts"),
    Field("weights", np.float32, (None,), within=FINITE, optional=True),
)


def example_arrays():
    return {
        "starts": np.array([0, 1, 3]),
        "numbers": np.zeros((3, 4), dtype=np.uint32),
        "places": np.array([-1, 1], dtype=np.int32),
    }


def test_consistent_arrays_are_accepted():
    check_fields(example_arrays(), FIELDS, n_labels=1)
    check_fields(example_arrays() | {"weights": np.ones(7, dtype=np.float32)}, FIELDS, n_labels=1)


@pytest.mark.parametrize(
    ("name", "array", "fault"),
    [
        ("more", np.zeros(1), "more"),
        ("places", None, "places"),
        ("places", np.zeros(2, dtype=np.int64), ["places", "int64", "int32"]),
        ("places", np.array([0, 2], dtype=np.int32), ["places", "entry 1", "2", "-1 to 1"]),
        ("numbers", np.zeros((3, 3), dtype=np.uint32), ["numbers", "uint32", "(3, 2)"]),
        ("starts", np.array([0, 4, 3]), ["starts", "entry 2", "3"]),
        ("starts", np.array([0, 1, 2]), ["starts", "2", "3", "numbers"]),
        ("weights", np.array([np.inf], dtype=np.float32), "weights"),
    ],
)
def test_missing_array_and_array_that_violates_its_field_are_refused(name, array, fault):
    arrays = example_arrays() | {name: array}
    if array is None:
        del arrays[name]
    with raises_with(Malformed, fault):
        check_fields(arrays, FIELDS, n_labels=1)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("n_labels", 5, ["label_counts", "(5)"]),
        ("n_features", 3, ["features", "0 to 2"]),
        ("format", 99, ["model.json", "PLT", "99", "1"]),
        ("hyperparameters", {"arity": 2}, ["model.json", "hyperparameters arity", "C, arity"]),
    ],
)
def test_model_with_inconsistent_description_is_refused(tmp_path, entry, value, message):
    X, Y = good_pair()
    PLT(epochs=1, arity=2, max_leaf=2).fit(X, Y).save(tmp_path / "model")
    file = tmp_path / "model/model.json"
    write_json(file, read_json(file) | {entry: value})
    list_files(file.parent)
    with raises_with(XmlcError, message):
        PLT.load(tmp_path / "model")


def test_load_error_shows_class_of_folder_and_next_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PLT(epochs=1).fit(*good_pair()).save("small")
    with raises_with(XmlcError, "small", "PLT", "OPLT", "PLT.load"):
        OPLT.load("small")
    shutil.copytree("small", "results/m")
    for folder in ("small", "results/m"):
        (Path(folder) / "bias.npy").write_bytes(b"")
        with raises_with(XmlcError, f"{folder}/bias.npy", "0 bytes") as raised:
            PLT.load(folder)
        assert "snakemake" not in str(raised.value)
        assert ("snakemake results/m" in message_of(raised.value)) == (folder == "results/m")
