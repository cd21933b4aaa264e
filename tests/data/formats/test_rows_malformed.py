"""Malformed input: every line is named, with what was found and expected, and nothing is read."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import rows
from xmlc.data.formats.lines import line_blocks


def write(path, text):
    path.write_bytes(text.encode())
    return path


def messages(path, *arguments, **options):
    """Lines of the error that loading raises, without the folder."""
    with pytest.raises(XmlcError) as error:
        load(path, *arguments, **options)
    return str(error.value).replace(f"{Path(path).parent}/", "").split("\n")


CUT = "expected feature:value; is the line cut off?"
LINES = [
    ("1,2 0:1 3", f"'3', {CUT}"),
    ("1,2 0:1 3:", f"'3:', {CUT}"),
    ("1,6 0:1", "'6', expected a label of 0 .. 4"),
    ("-1 0:1", "'-1', expected labels as whole numbers separated by commas without blanks"),
    ("1, 0:1", "'1,', expected labels as whole numbers separated by commas without blanks"),
    ("1, 3 0:1", "'1,', expected labels as whole numbers separated by commas without blanks"),
    ("1 ,3 0:1", "',3', expected feature:value with a whole number as feature"),
    ("1 qid:3 0:1", "'qid:3', expected feature:value with a whole number as feature"),
    ("1 4:1", "'4:1', expected a feature of 0 .. 3"),
    ("1 -1:1", "'-1:1', expected feature:value with a whole number as feature"),
    ("1 word", "'word', expected feature:value with a whole number as feature"),
    ("1 0:nan", "'0:nan', expected a finite decimal number as value"),
    ("1 0:1.5x", "'0:1.5x', expected a finite decimal number as value"),
    ("1 0:0x10", "'0:0x10', expected a finite decimal number as value"),
    ("1 0:1e39", "'1e39', expected a value that fits single precision"),
    ("1 0:-3.4028235677973366e38", "'-3.4028235677973366e38', expected a value that fits single precision"),
    ("1 0:99999999999999999999e30", "'99999999999999999999e30', expected a value that fits single precision"),
    ("1 2:1 0:2 2:1", "feature 2 twice, expected each feature once"),
    ("1 2:0 2:0", "feature 2 twice, expected each feature once"),
    ("caf\u00e9 0:1", "'caf\u00e9', expected labels as whole numbers separated by commas without blanks"),
]


@pytest.mark.parametrize(("line", "found"), LINES)
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_malformed_line_is_named(tmp_path, line, found, place):
    others = ["1 0:1", "0 1:1"]
    number = {"first": 0, "middle": 1, "last": 2}[place]
    others.insert(number, line)
    # A file whose last line is cut off has no newline at its end.
    path = write(tmp_path / "train.txt", "3 4 5\n" + "\n".join(others) + ("" if place == "last" else "\n"))
    head, message = messages(path)
    assert head == "train.txt: 1 malformed line; nothing was read"
    assert message == f"train.txt:{number + 2}: found {found}"
    assert [file.name for file in tmp_path.iterdir()] == ["train.txt"]


@pytest.mark.parametrize("value", ["3.4028235677973362e38", "-3.4028234663852886e38", "34028234e31", "1e-60"])
def test_the_largest_and_smallest_values_are_well_formed(tmp_path, value):
    X, _ = load(write(tmp_path / "train.txt", f"1 1 1\n0 0:{value}\n"))
    assert abs(X.sum()) < float("inf")


def test_every_malformed_line_is_counted_and_twenty_are_listed(tmp_path):
    lines = ["1 0:1" if i % 2 else f"9 {i % 4}:1" for i in range(100)]
    found = messages(write(tmp_path / "train.txt", "100 4 5\n" + "\n".join(lines) + "\n"))
    assert found[0] == "train.txt: 50 malformed lines; nothing was read"
    assert found[1] == "train.txt:2: found '9', expected a label of 0 .. 4"
    assert found[20].startswith("train.txt:40: found '9'")
    assert found[21] == "... and 30 more malformed lines"
    assert len(found) == 22


BAD = ["7 0:1", "1 0:1 0:1", "1 0:1e99", "1 9:1", "1 0:1e99 0:1", "x", "1 0:1e99 1:1e99"]


@settings(deadline=None, max_examples=40)
@given(kinds=st.lists(st.sampled_from([None, *BAD]), min_size=1, max_size=60), block=st.sampled_from([16, 64, 1 << 20]))
def test_lines_are_listed_in_order_each_once_whatever_is_wrong(tmp_path_factory, kinds, block):
    lines = [kind or "1 0:1" for kind in kinds]
    path = write(tmp_path_factory.mktemp("bad") / "a", f"{len(lines)} 4 5\n" + "\n".join(lines) + "\n")
    expected = [i + 2 for i, kind in enumerate(kinds) if kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "line_blocks", lambda path: line_blocks(path, block))
        if not expected:
            assert load(path)[0].shape == (len(lines), 4)
            return
        found = messages(path)
    assert found[0].startswith(f"a: {len(expected)} malformed line")
    listed = [message for message in found[1:] if message.startswith("a:")]
    assert [int(message.split(":")[1]) for message in listed] == expected[:20]


def test_blank_lines_would_shift_rows_unless_they_end_the_file(tmp_path, monkeypatch):
    assert load(write(tmp_path / "a", "1 4 5\n1 0:1\n\n\n"))[0].shape == (1, 4)
    path = write(tmp_path / "b", "3 4 5\n1 0:1\n\n\n1 0:1\n1 1:1\n")
    for block in (8, 1 << 20):
        monkeypatch.setattr(rows, "line_blocks", lambda path, block=block: line_blocks(path, block))
        found = messages(path)
        assert len(found) == 2
        assert found[1].startswith("b:3: found '', expected an instance; a blank line would shift the rows")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 4 5\n1 0:1\n", "a:3: found the end of the file after 1 instances, expected 3, as line 1 says"),
        ("3 4 5\n1 0:1\n1 1", f"a:3: found '1', {CUT}\na:4: found the end of the file after 2 instances"),
        ("", "a: found an empty file"),
        ("PK\x03\x04\x14\0\0\0train.txt\0", "a: found binary data, expected a text of lines; unpack an archive first"),
        ("1\0 \0", "a: found binary data"),
        ("4 5\n1 0:1\n", "a:1: found '4 5', which does not tell the format (a header of three numbers would)"),
        ("1 0:1\n", "format= one of repository, repository-two-files, npz, arff, svmlight, libsvm, vw, coordinates"),
        ("<!DOCTYPE html><html>quota</html>", "found an HTML page, expected data"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, text, message):
    assert message in "\n".join(messages(write(tmp_path / "a", text)))


@pytest.mark.parametrize(
    "header", ["a b c", "1 2", "1 2 3 4", "1 -2 3", "1 2 3000000000", "9" * 30 + " 1 1", "1\u00b2 1 1"]
)
def test_bad_headers_are_named(tmp_path, header):
    (found,) = messages(write(tmp_path / "a", f"{header}\n1 0:1\n"), "repository")
    assert found.startswith("a:1: found '")
    assert found.endswith("expected a header: the numbers of instances, features, labels")


def test_unknown_format_missing_file_and_folder(tmp_path):
    assert messages(tmp_path / "nothing.txt") == ["nothing.txt: no such file"]
    assert messages(tmp_path) == [f"{tmp_path.name}: found a folder, expected a file"]
    assert messages(write(tmp_path / "a", "1 1 1\n"), "csv")[0].startswith("a: format 'csv' is unknown; expected")


@pytest.mark.parametrize("opener", [gzip.open, lzma.open, bz2.open])
@pytest.mark.parametrize("keep", [0.02, 0.5, 0.99])
def test_cut_off_and_damaged_archives_are_errors(tmp_path, opener, keep):
    whole = tmp_path / "whole"
    with opener(whole, "wb") as file:
        file.write(b"5000 3 2\n" + b"".join(b"1 0:%d 2:0.5\n" % (i * i) for i in range(5000)))
    content = whole.read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(content[: int(keep * len(content))])
    assert messages(cut)[0].startswith("cut: the data is damaged or cut off (")
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 0xFF
    cut.write_bytes(damaged)
    with pytest.raises(XmlcError, match=r"cut: .*damaged or cut off|malformed"):
        load(cut)


def test_a_file_without_line_ends_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("xmlc.data.formats.lines.LONGEST_LINE", 1 << 10)
    monkeypatch.setattr(rows, "line_blocks", lambda path: line_blocks(path, 256))
    (found,) = messages(write(tmp_path / "a", "1 1 1\n" + "0 " * 2000), "repository")
    assert "found a line of more than" in found


def test_svmlight_ids_start_where_the_caller_says(tmp_path):
    path = write(tmp_path / "a", "1 0:1\n0 1:1\n2,3 1:1\n")
    found = messages(path, "svmlight", zero_based=False, n_labels=2)
    assert found[1:] == [
        "a:1: found '0:1', expected a feature of 1 .. 67108864",
        "a:2: found '0', expected a label of 1 .. 2",
        "a:3: found '3', expected a label of 1 .. 2",
    ]


def test_two_files_must_be_whole_and_belong_together(tmp_path):
    features = write(tmp_path / "X", "3 4\n0:1 3:0.5\n\n2:2\n")
    assert "needs a second file" in messages(features, "repository-two-files")[0]
    one = write(tmp_path / "one", "1 1 1\n0 0:1\n")
    assert "has the labels in the same file; expected no second one" in messages(one, labels=features)[0]
    for text, message in (
        ("2 5\n4:1\n1:1\n", "X has 3 instances, Y has 2; they must belong together"),
        ("3 5\n4:1\n", "Y:3: found the end of the file after 1 instances, expected 3, as line 1 says"),
        ("3 5\n4:1\n5:1\n1:1\n", "Y:3: found '5:1', expected a label of 0 .. 4"),
        ("3 5\n4:1 0:0\n0:.5 2:2\n0:-1\n", "Y:3: found '0:0.5', expected 0 or 1 as the value of a label\nY:4: found"),
        ("3 5\n4\n\n\n", "Y:2: found '4', expected label:value; is the line cut off?"),
        ("3 5 1\n\n\n\n", "Y:1: found '3 5 1', expected a header: the numbers of instances, labels"),
    ):
        labels = write(tmp_path / "Y", text)
        assert message in "\n".join(messages(features, "repository-two-files", labels=labels))
