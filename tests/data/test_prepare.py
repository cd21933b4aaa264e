"""Preparation: arrays, split, statistics, and what differs from the published numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.csr import save_csr
from xmlc.data.catalogue import Dataset
from xmlc.data.prepare import differences, prepare
from xmlc.data.prepared import Prepared
from xmlc.data.splits import fit_mask
from xmlc.data.statistics import five_numbers, part_statistics
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError
from xmlc.files import read_json, write_json


@pytest.fixture
def source(tmp_path, multilabel):
    folder = tmp_path / "resources"
    X, Y = multilabel(50, 8, 6)
    save_repository(folder / "train.txt", X, Y)
    save_repository(folder / "test.txt.xz", X[:20], Y[:20])
    write_json(
        folder / "source.json",
        {"format": "repository", "zero_based": True, "train": ["train.txt"], "test": ["test.txt.xz"]},
    )
    return folder


def run(tmp_path, source, dataset=None, **options):
    out = tmp_path / "data"
    notes = prepare(dataset or Dataset("tiny"), source, out, tmp_path / "statistics.json", **options)
    return notes, Prepared(out)


def test_parts_are_the_rows_of_the_files(tmp_path, source, multilabel):
    X, Y = multilabel(50, 8, 6)
    notes, prepared = run(tmp_path, source)
    assert notes == []
    np.testing.assert_array_equal(prepared.part("train")[0].toarray(), X.toarray())
    np.testing.assert_array_equal(prepared.part("test")[1].toarray(), Y[:20].toarray())
    (X_fit, _Y_fit), (X_val, Y_val) = prepared.part("fit"), prepared.part("val")
    assert (X_fit.shape[0], X_val.shape[0]) == (40, 10)
    np.testing.assert_array_equal(X_fit.toarray(), X.toarray()[prepared.split])
    np.testing.assert_array_equal(Y_val.toarray(), Y.toarray()[~prepared.split])
    assert prepared.posteriors("test") is None
    assert (prepared.meta["n_train"], prepared.meta["n_test"], prepared.meta["d"], prepared.meta["m"]) == (50, 20, 8, 6)
    with pytest.raises(XmlcError, match="expected one of train, test, fit, val"):
        prepared.part("all")


def test_posteriors_travel_with_the_rows(tmp_path, source, multilabel):
    posteriors = multilabel(50, 6, 3)[0]
    save_csr(source, "train.P", posteriors)
    save_csr(source, "test.P", posteriors[:20])
    _, prepared = run(tmp_path, source)
    expected = posteriors.toarray()[~prepared.split]
    np.testing.assert_array_equal(prepared.posteriors("val").toarray(), expected)
    np.testing.assert_array_equal(prepared.posteriors("test").toarray(), posteriors[:20].toarray())


def test_digest_follows_the_content(tmp_path, source):
    first = run(tmp_path, source)[1].digest
    assert run(tmp_path, source)[1].digest == first
    text = (source / "train.txt").read_text()
    (source / "train.txt").write_text(text.replace("\n", " \n"))
    second = run(tmp_path, source)[1].digest
    assert second != first
    (source / "train.txt").write_text(text[: text.rindex(":") + 1])
    with pytest.raises(XmlcError, match=r"train\.txt:51: found"):
        run(tmp_path, source)
    assert Prepared(tmp_path / "data").digest == second  # what was prepared before is still there


def test_differences_from_published_numbers_are_said(tmp_path, source):
    published = {"n_train": 50, "n_test": 21, "d": 8, "m": 6, "labels_per_instance": 99.0, "source": "a paper"}
    notes, prepared = run(tmp_path, source, Dataset("tiny", published=published))
    assert len(notes) == 2
    assert notes[0] == "n_test: found 20, published 21 (a paper)"
    assert notes[1].startswith("labels_per_instance: found ")
    assert prepared.meta["notes"] == read_json(tmp_path / "statistics.json")["notes"] == notes


def test_rounding_in_print_is_no_difference():
    assert differences({"labels_per_instance": 4.7924}, {"labels_per_instance": 4.79}) == []
    assert differences({"labels_per_instance": 4.85}, {"labels_per_instance": 4.79}) != []


def test_missing_file_says_what_to_do(tmp_path, source):
    (source / "train.txt").unlink()
    with pytest.raises(XmlcError, match=r"train\.txt: no such file; run xmlc download tiny"):
        run(tmp_path, source)
    assert not (tmp_path / "data").exists()


def test_repository_split_files(tmp_path):
    folder = tmp_path / "resources"
    folder.mkdir()
    (folder / "Set_data.txt").write_text("4 3 2\n0 0:1\n1 1:1\n 2:1\n0,1 0:2\n")
    (folder / "tr.txt").write_text("1 4\n3 1\n")
    (folder / "te.txt").write_text("2 2\n4 3\n")
    files = {"train": "tr.txt", "test": "te.txt", "column": 1}
    entry = Dataset("small", train=("Set_data.txt",), test=("Set_data.txt",), split_files=files)
    _, prepared = run(tmp_path, folder, entry)
    assert prepared.part("train")[0].toarray().tolist() == [[2, 0, 0], [1, 0, 0]]
    assert prepared.part("test")[0].toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    (folder / "tr.txt").write_text("1 5\n")
    with pytest.raises(XmlcError, match=r"tr\.txt:1: found '1 5', expected row numbers of 1 \.\. 4"):
        run(tmp_path, folder, entry)


def test_parts_of_unequal_width_get_the_larger(tmp_path):
    folder = tmp_path / "resources"
    folder.mkdir()
    (folder / "a.svm").write_text("1 1:1\n2 3:1\n")
    (folder / "b.svm").write_text("4 2:1\n")
    entry = Dataset("svm", format="svmlight", zero_based=False, train=("a.svm",), test=("b.svm",))
    _, prepared = run(tmp_path, folder, entry)
    assert prepared.part("train")[0].shape == (2, 3)
    assert prepared.part("test")[1].toarray().tolist() == [[False, False, False, True]]


@settings(deadline=None, max_examples=30)
@given(n=st.integers(1, 300), share=st.floats(0.05, 0.95), seed=st.integers(0, 99))
def test_split_has_the_stated_size_and_depends_on_the_seed_alone(n, share, seed):
    mask = fit_mask(n, share, seed)
    expected = min(max(round(share * n), 1), n - 1) if n >= 2 else round(share * n)
    assert (~mask).sum() == expected
    np.testing.assert_array_equal(mask, fit_mask(n, share, seed))
    if n > 100:
        assert (mask != fit_mask(n, share, seed + 1)).any()


def test_statistics_by_hand(multilabel):
    X = np.array([[1, 0, 2], [0, 0, 0], [3, 0, 0]])
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=bool)
    from xmlc.csr import as_features, as_labels

    found = part_statistics(as_features(X), as_labels(Y))
    assert found["labels_per_instance"] == {
        "min": 0, "lower_quartile": 0.5, "median": 1, "upper_quartile": 1.5, "max": 2, "mean": 1
    }  # fmt: skip
    assert found["instances_per_label"]["max"] == 2
    assert found["instances_per_label"]["mean"] == 3 / 4
    assert found["activations_per_instance"]["mean"] == 1
    assert found["occurrences_per_feature"]["max"] == 2
    assert (found["instances_without_labels"], found["instances_without_features"]) == (1, 1)
    assert (found["labels_never_seen"], found["features_never_seen"]) == (2, 1)
    assert five_numbers(np.array([])) == dict.fromkeys(found["labels_per_instance"], 0.0)
