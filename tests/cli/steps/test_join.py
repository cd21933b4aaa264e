"""`xmlc train --trees` and `xmlc join`: shares of a forest, and the whole that they make."""

from __future__ import annotations

import json

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.cli.steps.join import command as join
from xmlc.cli.steps.train import command as train
from xmlc.core.errors import XmlcError
from xmlc.core.files import folder_bytes, read_json, write_record
from xmlc.models import FastXML


def train_into(folder, data, *options, estimator="fastxml", parameters=None):
    arguments = ["--data", str(data), "--estimator", estimator, "--name", "forest", "--out", str(folder / "model")]
    arguments += ["--parameters", json.dumps(parameters or {"n_trees": 5}), "--record", str(folder / "train.json")]
    train.main([*arguments, *options], standalone_mode=False)
    return folder


def test_shares_join_to_the_forest_of_one_job(tmp_path):
    data = prepare_tiny(tmp_path)
    whole = train_into(tmp_path / "whole", data)
    shares = [train_into(tmp_path / str(i), data, "--trees", f"{i}-of-3") for i in (1, 2, 3)]
    arguments = ["--out", str(tmp_path / "joined" / "model"), "--record", str(tmp_path / "joined" / "train.json")]
    join.main([*map(str, shares), *arguments], standalone_mode=False)
    expected, found = FastXML.load(whole / "model"), FastXML.load(tmp_path / "joined" / "model")
    assert all(np.array_equal(a, b) for a, b in zip(expected.forest_, found.forest_, strict=True))
    record, own = read_json(tmp_path / "joined" / "train.json"), [read_json(share / "train.json") for share in shares]
    assert record["costs"]["train_seconds"] == pytest.approx(sum(part["costs"]["train_seconds"] for part in own))
    assert record["costs"]["model_bytes"] == folder_bytes(tmp_path / "joined" / "model")
    assert record["step"]["seconds"] == pytest.approx(sum(part["step"]["seconds"] for part in own))
    assert record["step"]["peak_bytes"] == max(part["step"]["peak_bytes"] for part in own)
    assert record["step"]["written_bytes"] == record["costs"]["model_bytes"]
    same = ("dataset", "estimator", "model", "hyperparameters", "seed", "portion")
    assert {key: record[key] for key in same} == {key: read_json(whole / "train.json")[key] for key in same}


def test_shares_of_different_forests_do_not_join(tmp_path):
    data = prepare_tiny(tmp_path)
    shares = [train_into(tmp_path / str(i), data, "--trees", f"{i}-of-2") for i in (1, 2)]
    other = train_into(tmp_path / "other", data, "--trees", "2-of-2", "--seed", "7")
    outputs = ["--out", str(tmp_path / "model"), "--record", str(tmp_path / "train.json")]
    with pytest.raises(XmlcError, match="differ in seed"):
        join.main([str(shares[0]), str(other), *outputs], standalone_mode=False)
    record = read_json(shares[1] / "train.json")
    write_record(shares[1] / "train.json", record | {"dataset": record["dataset"] | {"digest": "0"}})
    with pytest.raises(XmlcError, match="trained on different data"):
        join.main([*map(str, shares), *outputs], standalone_mode=False)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("share", "estimator", "parameters", "message"),
    [
        ("0-of-2", "fastxml", None, "expected I-of-N with I <= N <= 5"),
        ("3-of-2", "fastxml", None, "expected I-of-N"),
        ("6-of-6", "fastxml", None, "expected I-of-N"),
        ("1-of-2", "plt", {"epochs": 1}, "PLT is no forest"),
    ],
)
def test_a_share_that_cannot_be(tmp_path, share, estimator, parameters, message):
    with pytest.raises(XmlcError, match=message):
        train_into(tmp_path, prepare_tiny(tmp_path), "--trees", share, estimator=estimator, parameters=parameters)
