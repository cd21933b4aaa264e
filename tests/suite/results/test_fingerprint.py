"""Test the fingerprint against its definition, and the changes that it ignores or detects."""

import hashlib
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import run
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.suite.results.fingerprint import fingerprint, of_array, of_parts, of_table, read_table

TABLE = (
    "dataset,model,p@1,train_seconds,train_threads,c,note\n"
    "yeast,plt,40.0,1.5,2,10,\nscene,plt,-0.0,2.5,2,10/20,late\n"
)


def word_of(text):
    return of_table(read_table(StringIO(text))).word


def sha(text, *more):
    return hashlib.sha256(b"".join([text.encode("ascii"), *more])).hexdigest()


def test_fingerprint_of_a_table_follows_the_definition():
    rows = [
        '"c":"10/20"\t"dataset":"scene"\t"model":"plt"\t"note":"late"\t"p@1":0x0.0p+0',
        '"c":0x1.4000000000000p+3\t"dataset":"yeast"\t"model":"plt"\t"note":\t"p@1":0x1.4000000000000p+5',
    ]
    digest = sha("xmlc fingerprint 1, table\n" + "".join(f"{row}\n" for row in rows))
    assert of_table(read_table(StringIO(TABLE))).digest == digest
    assert word_of(TABLE) == f"1-{digest[:4]}-{digest[4:8]}-{digest[8:12]}"


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i8", "|b1", "<U3"])
def test_fingerprint_of_an_array_follows_the_definition(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    little = array.astype(array.dtype.newbyteorder("<"))
    name = np.lib.format.dtype_to_descr(little.dtype)
    assert of_array(array).digest == sha(
        f"xmlc fingerprint 1, array\n'{name}' (2, 3)\n", little.tobytes()
    )
    assert of_array(np.asfortranarray(array)) == of_array(array)


def test_fingerprint_of_a_folder_follows_the_definition(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "empty").mkdir()
    np.save(tmp_path / "b" / "x.npy", np.arange(3))
    (tmp_path / "a.csv").write_text(TABLE)
    for name in ("notes.json", ".hidden.csv", "empty/README.md"):
        (tmp_path / name).write_text("1")
    inner = sha(f'xmlc fingerprint 1, folder\n"x.npy":{of_array(np.arange(3)).digest}\n')
    table = of_table(read_table(tmp_path / "a.csv")).digest
    assert fingerprint(tmp_path).digest == sha(
        f'xmlc fingerprint 1, folder\n"a.csv":{table}\n"b":{inner}\n'
    )


# Maps texts to texts that replace them.
IRRELEVANT = {
    "40.0": "40",
    "0,1.5": "e0,1.5",
    "-0.0": "0",
    "1.5,2": "99,8",  # costs do not count
    "10,\n": "10,nan\n",
    "yeast,plt": '"yeast","plt"',
    "\n": "\r\n",
}


@pytest.mark.parametrize("old", IRRELEVANT)
def test_irrelevant_changes_keep_the_fingerprint(old):
    assert old in TABLE
    assert word_of(TABLE.replace(old, IRRELEVANT[old])) == word_of(TABLE)


RELEVANT = {
    "40.0": "40.00000000000001",
    "yeast": "Yeast",
    "p@1": "p@3",
    "10/20": "10/2",
    "late": "",
    ",note": ",remark",
    "scene,plt,-0.0,2.5,2,10/20,late\n": "",
    "40.0,1.5,2,10": "10,1.5,2,40",  # two swapped cells
}


@pytest.mark.parametrize("old", RELEVANT)
def test_relevant_changes_alter_the_fingerprint(old):
    assert TABLE.count(old) == 1
    assert word_of(TABLE.replace(old, RELEVANT[old])) != word_of(TABLE)


CELLS = st.one_of(
    st.floats(width=64).map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(["", "nan", "a", "a,\n\t"]),
)


@settings(max_examples=50, deadline=None)
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), data=st.data())
def test_fingerprint_ignores_order_and_depends_on_every_cell(rows, data):
    frame = pd.DataFrame(rows, columns=["dataset", "p@1", "x"])
    order = data.draw(st.permutations(range(len(rows))))
    columns = data.draw(st.permutations(list(frame)))
    assert of_table(frame.loc[order, columns]) == of_table(frame)
    assert of_table(frame.assign(train_seconds="1")) == of_table(frame)
    changed = frame.copy()
    changed.iloc[0, data.draw(st.integers(0, 2))] = "another"
    assert of_table(changed) != of_table(frame)


def test_fingerprint_of_arrays_depends_on_type_shape_bytes_and_name(tmp_path):
    array = np.array([[1.0, np.nan]], dtype=np.float32)
    double = array.astype(np.float64)
    every = [array, double, array.T, array + 1, array[:, :1], array[:0]]
    assert len({of_array(each).word for each in every}) == 6
    np.savez(tmp_path / "a.npz", x=array, y=double)
    parts = {"y": of_array(double), "x": of_array(array)}
    assert fingerprint(tmp_path / "a.npz") == of_parts(parts)
    assert of_parts({"x": of_array(array)}) != of_parts({"z": of_array(array)})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing", None),
        ("x.txt", b"1"),
        ("x.npy", b"no array"),
        ("x.npy", b""),
        ("x.npz", b"PK\x03\x04"),  # a zip archive that is cut off
        ("x.csv", b""),
    ],
)
def test_files_without_a_fingerprint_are_refused(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with raises_with(XmlcError, name):
        fingerprint(tmp_path / name)
    if name == "x.txt":
        with raises_with(XmlcError, tmp_path):
            fingerprint(tmp_path)


def test_command_prints_each_part_before_the_total(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("results/tables/demo")
    folder.mkdir(parents=True)
    (folder / "table1.csv").write_text(TABLE)
    assert run("fingerprint") == 0
    demo = of_parts({"table1.csv": of_table(read_table(StringIO(TABLE)))})
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["demo/table1.csv", word_of(TABLE)],
        ["demo", demo.word],
        ["results/tables", of_parts({"demo": demo}).word],
    ]


@pytest.mark.parametrize(
    "text", ["dataset,m\na,1,\nb,2,\n", "dataset,m\na,1,2\n", "dataset,m,m\na,1,2\n"]
)
def test_table_with_cells_without_a_column_of_their_own_is_refused(tmp_path, text):
    (tmp_path / "table1.csv").write_text(text)
    with raises_with(XmlcError, "table1.csv"):
        read_table(tmp_path / "table1.csv")
