"""`xmlc condense`: each row is what its smaller training set does."""

import pytest
from command_line import run
from small_data import prepare_tiny

from xmlc.core.files import read_json
from xmlc.data.prepared import Prepared
from xmlc.metrics import precision_at_k
from xmlc.models import SparseWeightedNearestNeighbors
from xmlc.models.condensing import kept_instances
from xmlc.papers.building import read_records
from xmlc.records.condensed import CondensedRecord


@pytest.fixture
def tiny(tmp_path):
    return tmp_path, prepare_tiny(tmp_path)


def train(tiny, part, estimator, parameters):
    folder, data = tiny
    common = ("--data", data, "--estimator", estimator, "--name", "x", "--parameters", parameters)
    assert run("train", *common, "--part", part, "--out", folder / "model", "--record", folder / "train.json") == 0
    return ("condense", "--data", data, "--training", folder / "train.json", "--out", folder / "condensed.json")


def test_rows_are_what_smaller_training_sets_do(tiny):
    command = train(tiny, "train", "swnn", '{"S": 4, "alpha": 1.0}')
    assert run(*command, "--similarity", 0.9, "--similarity", 0.4) == 0
    (record,) = read_records([tiny[0] / "condensed.json"], CondensedRecord, "full")
    assert record.hyperparameters["S"] == 4
    (X, Y), (X_test, Y_test) = (Prepared(tiny[1]).part(part) for part in ("train", "test"))
    sizes = []
    for row, similarity in zip(record.rows, (None, 0.9, 0.4), strict=True):
        assert row.similarity == similarity
        kept = slice(None) if similarity is None else kept_instances(X, Y, similarity)
        model = SparseWeightedNearestNeighbors(S=4, alpha=1.0).fit(X[kept], Y[kept])
        labels, _ = model.predict_top_k(X_test, 5)
        assert row.metrics == {f"p@{k}": precision_at_k(Y_test, labels, k) for k in (1, 3, 5)}
        assert (row.instances, row.index_bytes) == (Y[kept].shape[0], model.index_bytes_)
        sizes.append(row.instances)
    assert sizes[0] == 120 > sizes[2]


def test_what_is_no_index_of_the_whole_training_set_is_refused(tiny, capsys):
    command = train(tiny, "fit", "swnn", "{}")
    assert run(*command, "--similarity", 0.9) == 1
    assert "expected the training on the whole training set" in capsys.readouterr().err
    command = train(tiny, "train", "plt", '{"epochs": 1}')
    assert run(*command, "--similarity", 0.9) == 1
    assert "PLT keeps no training instances; expected swnn" in capsys.readouterr().err
    assert not (tiny[0] / "condensed.json").exists()
    assert read_json(tiny[0] / "train.json")["portion"] == "full"
