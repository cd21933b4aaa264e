"""Test the record of a training."""

import math

from facts import raises_with
from record_cases import training
from record_files import RecordFile, changed, check_round_trip, save

from xmlc.core.errors import XmlcError
from xmlc.suite.results.records.base import TrainingRecord

CONTENT = training(tuning={"method": "random", "budget": 30, "seed": 0, "p@1": 0.75})


class TestFile(RecordFile):
    kind = TrainingRecord
    content = CONTENT
    broken = ((["estimator"], ...), (["costs", "train_seconds"], "long"), (["split"], "20"))


def test_hyperparameter_is_read_as_a_number(tmp_path):
    record = check_round_trip(
        tmp_path, TrainingRecord, training(hyperparameters={"arity": 16, "C": None})
    )
    assert record.setting("arity") == 16
    for name in ("C", "gamma"):
        with raises_with(XmlcError, "plt", "yeast", name):
            record.setting(name)


def test_nan_is_refused(tmp_path):
    path = save(tmp_path, changed(CONTENT, ("costs", "train_seconds"), math.nan))
    with raises_with(XmlcError, "x.json", "NaN"):
        TrainingRecord.read(path)
