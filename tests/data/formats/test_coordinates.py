"""Test datasets in five files of coordinates: their values, and errors about malformed files."""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data.formats import read_coordinates

NAMES = ("row", "feature", "value", "label_row", "label")
GOOD = {
    "row": "1 1 3",
    "feature": "4 1 2",
    "value": "0.5 1 2e0",
    "label_row": "1 3 3",
    "label": "2 1 2",
}
INSTANCES = [[1, 0, 0, 0.5], [0, 0, 0, 0], [0, 2, 0, 0]]
LABELS = [[False, True], [False, False], [True, True]]


def written(folder, **columns):
    """Write the five files with one number on each line.

    A text with a line feed is written unchanged.
    """
    for name, text in (GOOD | columns).items():
        lines = text if "\n" in text else "".join(f"{number}\n" for number in text.split())
        (folder / name).write_text(lines, newline="")
    return [folder / name for name in NAMES]


def test_coordinates_place_values_and_labels(tmp_path):
    X, Y = read_coordinates(written(tmp_path))
    assert X.toarray().tolist() == INSTANCES
    assert Y.toarray().tolist() == LABELS
    assert (X.dtype, Y.dtype) == (np.float32, bool)
    assert X.has_canonical_format
    assert Y.has_canonical_format


def test_order_line_ends_zeros_and_repeated_labels_change_nothing(tmp_path):
    X, Y = read_coordinates(
        written(
            tmp_path,
            row="3\r\n1\r\n2\r\n1",
            feature="2 1 1 4",
            value="2 1 0 .5",
            label_row="3 3 1 3",
            label="2 1 2 1",
        )
    )
    assert X.toarray().tolist() == INSTANCES
    assert X.nnz == 3
    assert Y.toarray().tolist() == LABELS


@given(st.sets(st.tuples(st.integers(1, 6), st.integers(1, 5)), min_size=1), st.integers(1, 9))
def test_matrix_equals_result_of_plain_loop(tmp_path_factory, pairs, value):
    rows, columns = np.array(sorted(pairs)).T
    expected = np.zeros((rows.max(), columns.max()))
    expected[rows - 1, columns - 1] = value
    files = {"row": rows, "feature": columns, "value": np.full(rows.size, value)}
    files |= dict.fromkeys(("label_row", "label"), np.ones(len(expected), dtype=int))
    texts = {name: " ".join(map(str, numbers)) for name, numbers in files.items()}
    X, Y = read_coordinates(written(tmp_path_factory.mktemp("files"), **texts))
    np.testing.assert_array_equal(X.toarray(), expected)
    assert Y.shape == (len(expected), 1)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"row": "1 x 3"}, ["row:2", "'x'"]),
        ({"feature": "4 0 2"}, ["feature:2", "'0'"]),
        ({"label": "2 1 2147483648"}, ["label:3", "'2147483648'"]),
        ({"label_row": "1\n\n3\n"}, ["label_row:2", "''"]),
        ({"value": "0.5 1e39 2"}, ["value:2", "'1e39'"]),
        ({"value": "0.5 1"}, ["value", "2 lines"]),
        ({"row": "1 7 3"}, ["label_row", "instance 7", "6"]),
        ({"row": "1 1 1", "feature": "4 1 4"}, ["feature:3", "feature 4", "instance 1"]),
    ],
)
def test_a_malformed_line_is_named(tmp_path, columns, expected):
    with raises_with(XmlcError, expected):
        read_coordinates(written(tmp_path, **columns))


def test_empty_files_have_no_instances_and_missing_files_are_refused(tmp_path):
    X, Y = read_coordinates(written(tmp_path, **dict.fromkeys(NAMES, "")))
    assert (X.shape, Y.shape) == ((0, 0), (0, 0))
    (tmp_path / "label").unlink()
    with raises_with(XmlcError, "label"):
        read_coordinates([tmp_path / name for name in NAMES])
