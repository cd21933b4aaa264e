"""Test that malformed files are refused, and that errors have each line, the value found and the
value expected.
"""

from pathlib import Path

import pytest
from facts import absent, raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import rows
from xmlc.data.formats.lines import line_blocks


def write(path, text):
    path.write_bytes(text.encode())
    return path


def messages(path, *arguments, **options):
    """Return the lines of the error that loading raises, without the folder."""
    with pytest.raises(XmlcError) as error:
        load(path, *arguments, **options)
    return str(error.value).replace(f"{Path(path).parent}/", "").split("\n")


MALFORMED = [
    ("1,2 0:1 3", "'3'"),
    ("1,2 0:1 3:", "'3:'"),
    ("1 ,3", "',3'"),
    ("1 4:1", "'4:1'"),
    ("1 0:nan", "'0:nan'"),
    ("1 0:0x10", "'0:0x10'"),
    ("1 0:1e39", "'1e39'"),
    ("1 0:-3.4028235677973366e38", "'-3.4028235677973366e38'"),
    ("1 0:99999999999999999999e30", "'99999999999999999999e30'"),
    ("6 0:1", "'6'"),
    ("1, 0:1", "'1,'"),
    ("caf\u00e9 0:1", "'caf\u00e9'"),
    ("1 2:1 0:2 2:1", "feature 2 twice"),
    ("1 2:0 2:0", "feature 2 twice"),
]


@pytest.mark.parametrize(("line", "found"), MALFORMED)
def test_a_malformed_line_is_named(tmp_path, line, found):
    # A file whose last line is cut off has no newline at its end.
    for text, number in ((f"3 4 5\n1 0:1\n0 1:1\n{line}", 4), (f"2 4 5\n{line}\n1 0:1\n", 2)):
        _, message = messages(write(tmp_path / "train.txt", text))
        assert message.startswith(f"train.txt:{number}: found {found}, expected ")


@pytest.mark.parametrize(
    "value", ["3.4028235677973362e38", "-3.4028234663852886e38", "34028234e31", "1e-60"]
)
def test_the_largest_and_smallest_values_are_well_formed(tmp_path, value):
    X, _ = load(write(tmp_path / "train.txt", f"1 1 1\n0 0:{value}\n"))
    assert abs(X.sum()) < float("inf")


BAD = ["7 0:1", "1 0:1e99", "1 9:1", "1 0:1e99 0:1", "x", "1 0:1e99 1:1e99"]


@given(
    kinds=st.lists(st.sampled_from([None, *BAD]), min_size=1, max_size=60),
    block=st.sampled_from([16, 64, 1 << 20]),
)
def test_malformed_lines_are_listed_once_and_in_order(tmp_path_factory, kinds, block):
    lines = [kind or "1 0:1" for kind in kinds]
    path = write(
        tmp_path_factory.mktemp("bad") / "a", f"{len(lines)} 4 5\n" + "\n".join(lines) + "\n"
    )
    expected = [i + 2 for i, kind in enumerate(kinds) if kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "line_blocks", lambda path: line_blocks(path, block))
        if not expected:
            assert load(path)[0].shape == (len(lines), 4)
            return
        found = messages(path)
    assert found[0].startswith(f"a: found {len(expected)} malformed line")
    listed = [message for message in found[1:] if message.startswith("a:")]
    assert [int(message.split(":")[1]) for message in listed] == expected[:20]


def test_repeated_features_are_named_if_rows_are_not_lines(tmp_path):
    path = write(tmp_path / "a", "# made by hand\n1 2:1 3:4\n# and\n1 3:1 2:0 3:1\n1 1:1 1:1\n")
    _, *found = messages(path, "svmlight", zero_based=False)
    assert (
        absent("\n".join(found), "a:4: found feature 3 twice", "a:5: found feature 1 twice") == []
    )


def test_blank_lines_are_allowed_only_at_end_of_file(tmp_path, monkeypatch):
    assert load(write(tmp_path / "a", "1 4 5\n1 0:1\n\n\n"))[0].shape == (1, 4)
    path = write(tmp_path / "b", "3 4 5\n1 0:1\n\n\n1 0:1\n1 1:1\n")
    for block in (8, 1 << 20):
        monkeypatch.setattr(rows, "line_blocks", lambda path, block=block: line_blocks(path, block))
        found = messages(path)
        assert len(found) == 2
        assert found[1].startswith("b:3: found ''")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 4 5\n1 0:1\n", ["a:3", "1 instances", "3"]),
        ("3 4 5\n1 0:1\n1 1", ["a:3", "'1'"]),
        ("2147483647 2147483647 2147483647\n1 0:1\n", ["a:3", "1 instances"]),
        ("1 4 5\n1 0:1\n1 1:1\n", ["a:3", "instance 2", "1"]),
        ("", "a: "),
        ("PK\x03\x04\x14\0\0\0train.txt\0", "a: "),
        ("4 5\n1 0:1\n", ["a:1", "'4 5'"]),
        ("<!DOCTYPE html><html>quota</html>", ["a:1", "'<!DOCTYPE"]),
    ],
)
def test_wrong_file_contents_are_refused(tmp_path, text, message):
    with raises_with(XmlcError, message):
        load(write(tmp_path / "a", text))


@pytest.mark.parametrize("header", ["a b c", "1 2", "1 2 3 4", "1 -2 3", "1 2 3000000000"])
def test_bad_headers_are_named(tmp_path, header):
    (found,) = messages(write(tmp_path / "a", f"{header}\n1 0:1\n"), "repository")
    assert found.startswith("a:1: found '")
    assert "format: svmlight" in found, "what else it may be"


def test_unknown_format_missing_file_and_folder_are_refused(tmp_path):
    for path in (tmp_path / "nothing.txt", tmp_path):
        assert messages(path)[0].startswith(f"{path.name}: ")
    for format in ("csv", "coordinates"):
        with raises_with(XmlcError, "a: ", f"'{format}'"):
            load(write(tmp_path / "a", "1 1 1\n"), format)


def test_caller_sets_first_svmlight_id(tmp_path):
    path = write(tmp_path / "a", "1 0:1\n0 1:1\n2,3 1:1\n")
    _, *found = messages(path, "svmlight", zero_based=False, n_labels=2)
    assert absent("\n".join(found), "a:1: found '0:1'", "a:2: found '0'", "a:3: found '3'") == []


def test_two_files_must_be_complete_and_match(tmp_path):
    features = write(tmp_path / "X", "3 4\n0:1 3:0.5\n\n2:2\n")
    assert messages(features, "repository-two-files")[0].startswith("X: ")
    assert messages(write(tmp_path / "one", "1 1 1\n0 0:1\n"), labels=features)
    for text, message in (
        ("2 5\n4:1\n1:1\n", ["X", "2 instances", "Y", "3"]),
        ("3 5\n4:1\n", ["Y:3", "1 instances", "3"]),
        ("3 5\n4:1\n5:1\n1:1\n", ["Y:3", "'5:1'"]),
        ("3 5\n4:1 0:0\n0:.5 2:2\n0:-1\n", ["Y:3", "'0:0.5'", "Y:4"]),
        ("3 5\n4\n\n\n", ["Y:2", "'4'"]),
        ("3 5 1\n\n\n\n", ["Y:1", "'3 5 1'"]),
        ("3 5\n1:1\n\n\n1:1\n", ["Y:5", "instance 4", "3"]),
    ):
        labels = write(tmp_path / "Y", text)
        with raises_with(XmlcError, message):
            load(features, "repository-two-files", labels=labels)
