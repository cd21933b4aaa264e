"""Test preparation: arrays, split, statistics, and differences from published numbers."""

import gzip
from dataclasses import replace

import numpy as np
import pytest
from command_line import call
from facts import absent, contents, raises_with
from scipy import sparse

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import list_files
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, write_json
from xmlc.data.formats import load
from xmlc.data.matrices import save_csr
from xmlc.data.writer import save_repository
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.steps.download import download
from xmlc.suite.steps.prepare import absent_labels, command, differences, prepare
from xmlc.suite.steps.prepared import Prepared, fit_mask

XML = '<labels><label name="y1"/><label name="y2"/></labels>'
ARFF = "@relation r\n" + "".join(f"@attribute {name} real\n" for name in "abc")
ARFF += "@attribute y1 {0,1}\n@attribute y2 {0,1}\n@data\n"

# The first 20 instances are the test set of `source`.
UNTESTED = (
    "1 of 6 labels have no instance in the test set. Macro-F counts such a label as 1 if it is "
    "not predicted (0/0 = 1)"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "resources").mkdir()
    return tmp_path / "resources"


@pytest.fixture
def source(folder, multilabel):
    X, Y = multilabel(50, 8, 6)
    save_repository(folder / "train.txt", X, Y)
    save_repository(folder / "test.txt.xz", X[:20], Y[:20])
    write_json(
        folder / "source.json",
        {"format": "repository", "train": ["train.txt"], "test": ["test.txt.xz"]},
    )
    return folder


def run(tmp_path, source, dataset=None, **options):
    out = tmp_path / "data"
    return prepare(dataset or Dataset("tiny"), source, out, **options)[0]["notes"], Prepared(out)


def lists(prepared, part):
    """Return the features and the labels of a part as lists."""
    X, Y = prepared.part(part)
    return X.toarray().tolist(), Y.toarray().astype(int).tolist()


def test_parts_have_the_rows_of_the_files(tmp_path, source, multilabel):
    X, Y = (matrix.toarray() for matrix in multilabel(50, 8, 6))
    (source / "source.json").unlink()  # without it, the files can be compressed
    notes, prepared = run(tmp_path, source)
    assert notes == [UNTESTED]
    fit = prepared.split
    assert fit.sum() == 40
    for name, rows in {"train": slice(None), "test": slice(20), "fit": fit, "val": ~fit}.items():
        for found, expected in zip(prepared.part(name), (X, Y)):
            np.testing.assert_array_equal(found.toarray(), expected[rows])
    assert prepared.posteriors("test") is None
    assert [prepared.meta[key] for key in ("n_train", "n_test", "d", "m")] == [50, 20, 8, 6]
    with raises_with(XmlcError, "train, test, fit, val"):
        prepared.part("all")


def test_each_run_has_a_different_validation_set(tmp_path, source):
    _, first = run(tmp_path, source)
    runs = [Prepared(first.folder, number) for number in range(4)]
    assert len({one.split.tobytes() for one in runs}) == 4
    X = first.part("train")[0].toarray()
    # run 0 is the written split, and later runs increase its seed
    for number, one in enumerate(runs):
        mask = fit_mask(50, 0.2, number)
        np.testing.assert_array_equal(one.split, mask)
        np.testing.assert_array_equal(one.part("val")[0].toarray(), X[~mask])


def test_posteriors_stay_with_their_rows(tmp_path, source, multilabel):
    posteriors = multilabel(50, 6, 3)[0]
    save_csr(source, "train.P", posteriors)
    save_csr(source, "test.P", posteriors[:20])
    list_files(source)
    _, prepared = run(tmp_path, source)
    for part, rows in (("val", ~prepared.split), ("test", slice(20))):
        expected = posteriors.toarray()[rows]
        np.testing.assert_array_equal(prepared.posteriors(part).toarray(), expected)
    (prepared.folder / "train/P.json").unlink()
    with raises_with(XmlcError, "P.json"):
        prepared.posteriors("val")


def test_digest_depends_on_content_and_filter(tmp_path, source):
    first = run(tmp_path, source)[1].digest
    assert run(tmp_path, source)[1].digest == first
    about = read_json(source / "source.json")
    digests = {first}
    write_json(source / "source.json", about | {"filter": "pairs.txt"})
    for pairs in ("0 1\n\n19 5\n", ""):
        (source / "pairs.txt").write_text(pairs)
        notes, prepared = run(tmp_path, source)
        digests.add(prepared.digest)
    # of the empty filter
    assert notes == ["test set: measures ignore 0 pairs, 0 of them true", UNTESTED]
    write_json(source / "source.json", about)
    (source / "train.txt").write_text((source / "train.txt").read_text().replace("\n", " \n"))
    digests.add(run(tmp_path, source)[1].digest)
    assert len(digests) == 4


def test_each_invalid_line_of_a_filter_is_named(tmp_path, source):
    pairs = source / "pairs.txt"
    write_json(source / "source.json", read_json(source / "source.json") | {"filter": "pairs.txt"})
    lines = ["0 1", "20 1", "1 6", "-1 0", "3", "0 1 2", "1,2", "0 0"]
    pairs.write_text("\n".join(lines))
    with pytest.raises(XmlcError) as error:
        prepare(Dataset("tiny"), source, tmp_path / "data")
    found = str(error.value).splitlines()[1:]
    assert len(found) == len(lines) - 2
    for number, line in enumerate(found, 2):
        assert line.startswith(f"{pairs}:{number}:")
        assert absent(line, repr(lines[number - 1]), "0 to 19", "0 to 5") == []
    assert not (tmp_path / "data").exists()


def test_differences_from_published_numbers_are_reported(tmp_path, source):
    published = {"n_train": 50, "n_test": 21, "d": 8, "m": 6, "source": "a paper"}
    published["labels_per_instance"] = 99.0

    def notes_of(published, edition=None):
        return run(tmp_path, source, Dataset("tiny", published=published, edition=edition))[0]

    notes = notes_of(published)
    assert [note.split(":")[0] for note in notes[:2]] == ["n_test", "labels_per_instance"]
    assert notes[2:] == [UNTESTED]
    assert Prepared(tmp_path / "data").meta["notes"] == notes
    # A wrong published size of the test set is possible.
    assert notes_of(published, "the first edition") == notes
    other = notes_of(published | {"n_train": 51}, "the first edition")
    assert other[3].startswith("the data differ from the first edition")
    assert len(other) == len(notes) + 2
    # The published number is rounded.
    assert differences({"labels_per_instance": 4.7924}, {"labels_per_instance": 4.79}) == []
    assert differences({"labels_per_instance": 4.85}, {"labels_per_instance": 4.79}) != []


def test_labels_without_instances_are_counted():
    train = sparse.csr_array([[True, True, False, False]])
    test = sparse.csr_array([[False, True, False, False]])
    assert absent_labels(test[:, [1]], test[:, [1]]) == []
    (note,) = absent_labels(train, test)
    assert [word for word in note.split() if word.isdecimal()][:3] == ["3", "4", "2"]


def test_malformed_or_missing_file_leaves_no_output(tmp_path, source):
    digest = run(tmp_path, source)[1].digest
    with open(source / "train.txt", "a") as file:
        file.write("1 0:")
    before = sorted(tmp_path.rglob("*"))
    with raises_with(XmlcError, "train.txt:52:", "'0:'"):
        run(tmp_path, source)
    assert sorted(tmp_path.rglob("*")) == before
    assert Prepared(tmp_path / "data").digest == digest, "the earlier data is kept"
    (source / "train.txt").unlink()
    with raises_with(XmlcError, "train.txt", "xmlc download tiny"):
        run(tmp_path, source)


# Training set, test set, format, and facts of the message
REFUSED = {
    "no test label": ("1 0:1\n", "", "svmlight", "test"),
    "no training label": (" 0:1 2:1\n", "1 0:1\n", "svmlight", "train"),
    "other columns": (
        ARFF + "1,2,3,0,1\n",
        ARFF.replace("attribute b", "attribute x") + "1,2,3,0,1\n",
        "arff",
        "test.txt:3 'x' 'b' train.txt:3",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_sets_without_labels_or_with_different_columns_are_refused(tmp_path, folder, case):
    train, test, format, facts = REFUSED[case]
    files = {"train.txt": train, "test.txt": test, "names.xml": XML}
    for name, text in files.items():
        (folder / name).write_text(text)
    entry = Dataset("mine", format=format)
    if format == "arff":
        entry = replace(entry, labels="names.xml")
    with raises_with(XmlcError, *facts.split()):
        prepare(entry, folder, tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_damaged_description_of_the_source_is_refused(tmp_path, source):
    list_files(source)
    (source / "source.json").write_text('{"format": "repo')
    with raises_with(XmlcError, "source.json", "bytes"):
        run(tmp_path, source)


def test_errors_in_a_copy_name_its_source_folder(tmp_path, source):
    mirror = tmp_path / "mirror/tiny"
    mirror.mkdir(parents=True)
    text = (source / "train.txt").read_bytes()
    (mirror / "train.txt.gz").write_bytes(gzip.compress(text + b"1 0:\n"))
    (mirror / "test.txt").write_bytes(text)
    copy = tmp_path / "copies/tiny"
    download(Dataset("tiny"), copy, str(mirror.parent))
    with raises_with(XmlcError, f"\n{copy}/train.txt.gz:52:", "'0:'", f"from {mirror}."):
        run(tmp_path, copy)


FORMATS = {
    "arff": {
        "train.txt": ARFF + ".5,0,2,1,1\n0,1,0,0,0\n",
        "test.txt": ARFF + "{2 1,4 1}\n",
        "names.xml": XML,
    },
    "repository-two-files": {
        "X1": "2 3\n0:0.5 2:2\n1:1\n",
        "Y1": "2 2\n1:1 2:1\n\n",
        "X2": "1 3\n2:1\n",
        "Y2": "1 2\n2:1\n",
    },
    "coordinates": {
        "X1": "1\n1\n2\n",
        "C1": "1\n3\n2\n",
        "V1": ".5\n2\n1\n",
        "Y1": "1\n1\n",
        "L1": "1\n2\n",
        "X2": "1\n",
        "C2": "3\n",
        "V2": "1\n",
        "Y2": "1\n",
        "L2": "2\n",
    },
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_arrays(tmp_path, folder, format):
    files = FORMATS[format]
    for name, text in files.items():
        (folder / name).write_text(text)
    entry = Dataset("set", format=format, zero_based=False)
    if format == "arff":
        entry = replace(entry, labels="names.xml")
    else:
        train, test = ([name for name in files if name[1] == part] for part in "12")
        entry = replace(entry, train=train, test=test)
    _, prepared = run(tmp_path, folder, entry)
    assert lists(prepared, "train") == ([[0.5, 0, 2], [0, 1, 0]], [[1, 1], [0, 0]])
    assert lists(prepared, "test") == ([[0, 0, 1]], [[0, 1]])


def test_matrices_with_default_names_need_no_entry_and_equal_text_files(tmp_path, source):
    pairs = tmp_path / "tiny"
    pairs.mkdir()
    for part, name in (("train.txt", "trn"), ("test.txt.xz", "tst")):
        for letter, matrix in zip("XY", load(source / part)):
            sparse.save_npz(pairs / f"{letter}.{name}.npz", matrix)
    arrays = []
    for folder in (pairs, source):
        prepare(Dataset("tiny"), folder, tmp_path / "data")
        files = contents(tmp_path / "data").items()
        arrays.append({name: content for name, content in files if name.suffix == ".npy"})
    assert arrays[0] == arrays[1]
    assert len(arrays[0]) > 6


def test_features_have_numbers_unless_a_name_in_any_file_is_no_number(tmp_path, folder):
    entry = Dataset("set", format="vw", zero_based=False)
    (folder / "train.txt").write_text("1,2 | 3:0.5 1:2\n | 0:1\n")
    for test, expected in (
        ("2 | 4 3:6\n", [[[0, 2, 0, 0.5], [1, 0, 0, 0]], [[0, 0, 0, 6]]]),
        ("2 | word 3:6\n", [[[0.5, 2, 0], [0, 0, 1]], [[6, 0, 0]]]),
    ):
        (folder / "test.txt").write_text(test)
        _, prepared = run(tmp_path, folder, entry)
        assert [lists(prepared, part)[0] for part in ("train", "test")] == expected


def test_command_prints_differences_and_writes_all_files(tmp_path, source):
    catalogue = tmp_path / "datasets.yaml"
    catalogue.write_text(
        "tiny: {url: 'http://localhost/x.zip', published: {n_train: 51, source: a}}"
    )
    out = tmp_path / "data"
    statistics = tmp_path / "statistics.json"
    places = ("--source", source, "--out", out, "--statistics", statistics)
    assert f"tiny: {UNTESTED}" in call(command, "tiny", *places, "--catalogue", catalogue)
    names = {file.name for file in out.iterdir()}
    assert names == {"train", "test", "split.npy", "meta.json", CHECKSUMS}
    assert read_json(statistics)["train"]["instances"] == 50


def test_unseen_features_are_dropped_and_unseen_labels_are_kept(tmp_path, folder):
    (folder / "train.txt").write_text("1 0:1\n0 2:1\n")
    (folder / "test.txt").write_text("1 1:3 4:2\n3 0:1 9:1 4:1\n")
    notes, prepared = run(tmp_path, folder, Dataset("set", format="svmlight"))
    assert absent(notes[0], "2 features", "3 of 5 values", "3 of the training file") == []
    assert absent(notes[1], "1 labels") == []
    assert prepared.part("train")[0].shape == (2, 3)
    expected = ([[0, 3, 0], [1, 0, 0]], [[0, 1, 0, 0], [0, 0, 0, 1]])
    assert lists(prepared, "test") == expected


@pytest.mark.parametrize("d_test", [2, 4])
def test_matrices_of_different_widths_are_reported(tmp_path, folder, d_test):
    for name in ("X.trn", "Y.trn", "Y.tst"):
        sparse.save_npz(folder / f"{name}.npz", sparse.csr_array(np.eye(3)))
    sparse.save_npz(folder / "X.tst.npz", sparse.csr_array(np.eye(3, d_test)))
    notes, prepared = run(tmp_path, folder)
    assert absent(notes[0], "test set", f"{d_test} features", "3 in the training set") == []
    assert prepared.part("test")[0].shape == (3, 3)


def test_split_files_of_the_repository_select_rows(tmp_path, folder):
    (folder / "Set_data.txt").write_text("4 3 2\n0 0:1\n1 1:1\n 2:1\n0,1 0:2\n")
    (folder / "tr.txt").write_text("1 4\n3 1\n")
    (folder / "te.txt").write_text("2 2\n4 3\n")
    files = {"train": "tr.txt", "test": "te.txt", "column": 1}
    entry = Dataset("small", train=("Set_data.txt",), test=("Set_data.txt",), split_files=files)
    _, prepared = run(tmp_path, folder, entry)
    digest = prepared.digest
    assert lists(prepared, "train")[0] == [[2, 0, 0], [1, 0, 0]]
    assert lists(prepared, "test")[0] == [[0, 1, 0], [0, 0, 1]]
    with raises_with(XmlcError, "Set_data.txt:2:", "'0'", "1 to 2"):
        run(tmp_path, folder, replace(entry, zero_based=False))
    (folder / "te.txt").write_text("2 2\n4 2\n3 3\n")
    with raises_with(XmlcError, "te.txt:2:", "'2'"):
        run(tmp_path, folder, entry)
    # The lists of row numbers are part of the data.
    (folder / "te.txt").write_text("2 2\n")
    assert run(tmp_path, folder, entry)[1].digest != digest
    (folder / "tr.txt").write_text("\n")
    with raises_with(XmlcError, "tr.txt"):
        run(tmp_path, folder, entry)
