"""Test readers of sparse rows against readers in plain Python and scikit-learn."""

import format_twin
import numpy as np
import pytest
from facts import raises_with, warns_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from small_data import random_multilabel

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import rows
from xmlc.data.formats.lines import line_blocks, open_bytes


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs):
        assert mine.shape == other.shape
        np.testing.assert_array_equal(mine.toarray(), other.toarray())


def write(path, text):
    path.write_bytes(text.encode())
    return path


NUMBERS = st.one_of(
    st.floats(-1e6, 1e6, width=32).map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.decimals(-1000, 1000, places=6).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(
        ["1", "-0", "+.5", "5.", "1e3", "1E-40", "00012.50", "0.1000000000000000055511151231257827"]
    ),
)
ROWS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 8), max_size=4),
        st.dictionaries(st.integers(0, 11), NUMBERS, max_size=6),
        st.randoms(),
    ),
    max_size=12,
)


@settings(max_examples=120)
@given(
    instances=ROWS,
    ending=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    block=st.sampled_from([32, 1 << 20]),
)
def test_repository_format_equals_plain_reader(tmp_path_factory, instances, ending, last, block):
    lines = []
    for labels, pairs, random in instances:
        tokens = [f"{feature}:{value}" for feature, value in pairs.items()]
        random.shuffle(tokens)  # The features of a row may have any order.
        lines.append(",".join(map(str, labels)) + " " + " ".join(tokens))
    text = "".join(line + ending for line in lines)
    content = f"{len(instances)} 12 9\n" + (text if last or not text else text[: -len(ending)])
    path = write(tmp_path_factory.mktemp("rows") / "train.txt", content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "line_blocks", lambda path: line_blocks(path, block))
        assert_same(load(path), format_twin.read_rows(text, 12, 9))


def test_labels_are_sorted_and_zeros_dropped(tmp_path):
    X, Y = load(write(tmp_path / "a", "3 4 5\n4,1,4 3:0 0:1\n\t2:7\n \n"))
    assert X.toarray().tolist() == [[1, 0, 0, 0], [0, 0, 7, 0], [0, 0, 0, 0]]
    assert X.nnz == 2
    assert Y.indices.tolist() == [1, 4]
    assert (X.dtype, Y.dtype) == (np.float32, bool)
    for matrix in (X, Y):
        # The int32 indices take half the memory of int64, which scipy may also choose.
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        again = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        assert again.has_canonical_format
        assert matrix.has_canonical_format


@pytest.mark.parametrize(
    ("format", "base", "label_base"), [("svmlight", 0, 0), ("svmlight", 1, 1), ("libsvm", 1, 0)]
)
def test_rows_without_a_header_equal_scikit_learn(tmp_path, format, base, label_base):
    X, Y = random_multilabel(40, 20, 6, seed=base)
    path = tmp_path / "a.svm"
    shifted = np.pad(Y.toarray(), ((0, 0), (label_base, 0)))
    dump_svmlight_file(
        X, shifted, str(path), zero_based=base == 0, multilabel=True, comment="made by hand"
    )
    found = load(path, format, zero_based=label_base == 0, n_features=20, n_labels=6)
    baseline, _ = load_svmlight_file(
        str(path), multilabel=True, zero_based=base == 0, n_features=20, dtype=np.float32
    )
    assert_same(found, (baseline, Y))


@pytest.mark.parametrize("format", ["svmlight", "libsvm"])
def test_features_missing_from_training_are_dropped_with_warning(tmp_path, format):
    base = int(format == "libsvm")
    path = write(
        tmp_path / "a", f"1 {base}:1 {base + 2}:2 {base + 6}:1\n0 {base + 6}:3 {base + 9}:2\n\n"
    )
    with warns_with(UserWarning, "a: ", "2", "3 of 5 values"):
        X, Y = load(path, format, n_features=3)
    assert X.toarray().tolist() == [[1, 0, 2], [0, 0, 0]]
    assert X.has_canonical_format
    assert Y.toarray().tolist() == [[False, True], [True, False]]
    assert load(path, format, n_features=12)[0].shape == (2, 12)
    with raises_with(XmlcError, "'1'", "0 to 0"):
        load(path, format, n_features=3, n_labels=1)


def test_labels_may_start_from_1_in_formats_with_a_header(tmp_path):
    rows = write(tmp_path / "a.txt", "3 4 5\n1,5 0:1 3:0.5\n 1:1\n3 2:2\n")
    features = write(tmp_path / "x.txt", "3 4\n0:1 3:0.5\n1:1\n2:2\n")
    labels = write(tmp_path / "y.txt", "3 5\n1:1 5:1\n\n3:1\n")
    expected = [[1, 0, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    for X, Y in (
        load(rows, zero_based=False),
        load(features, "repository-two-files", labels=labels, zero_based=False),
    ):
        assert X.toarray().tolist() == [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 2, 0]]
        assert Y.toarray().tolist() == expected
    with raises_with(XmlcError, "a.txt:2", "'5'", "0 to 4", "zero_based: false"):
        load(rows)
    with raises_with(XmlcError, "a.txt:2", "'0'", "1 to 5"):
        load(write(rows, "1 4 5\n0 0:1\n"), zero_based=False)


@pytest.mark.needs("mirror")
@pytest.mark.parametrize(
    ("name", "sizes", "d", "m"),
    [
        ("yeast", (1500, 917), 103, 14),
        ("scene", (1211, 1196), 294, 6),
        ("enron", (1123, 579), 1001, 53),
        ("bibtex", (4880, 2515), 1836, 159),
        ("delicious", (12920, 3185), 500, 983),
        ("tib-core-26k", (41902, 6980), 111663, 26296),
    ],
)
def test_real_datasets_have_published_shape_and_equal_scikit_learn(mirror, name, sizes, d, m):
    if not (mirror / name).is_dir():
        pytest.skip(f"{name} is not in the mirror")
    for part, n in zip(("train", "test"), sizes):
        (path,) = mirror.glob(f"{name}/{part}.txt*")
        X, Y = load(path)
        assert (X.shape, Y.shape) == ((n, d), (n, m))
        with open_bytes(path) as file:
            file.readline()
            baseline_X, baseline_Y = load_svmlight_file(
                file, multilabel=True, zero_based=True, n_features=d, dtype=np.float32
            )
        baseline_X.eliminate_zeros()
        for array in ("indptr", "indices", "data"):
            assert np.array_equal(getattr(X, array), getattr(baseline_X, array))
        for row, labels in zip(np.split(Y.indices, Y.indptr[1:-1]), baseline_Y, strict=True):
            assert {*row} == {*labels}
