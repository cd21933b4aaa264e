"""The record of a training, and the result of a search as tables read it."""

import pytest
import yaml
from record_cases import TRIAL, search, training
from record_files import RecordFile, check_round_trip

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.records.training import SearchRecord, TrainingRecord
from xmlc.steps.tuning.journal import write_result

CONTENT = training(tuning={"method": "random", "budget": 30, "seed": 0, "p@1": 0.75})


class TestFile(RecordFile):
    kind, content, nan_at = TrainingRecord, CONTENT, ["costs", "train_seconds"]
    broken = (
        (["estimator"], ...),
        (["costs", "train_seconds"], "long"),
        (["portion"], "20"),
    )


def test_a_number_among_the_hyperparameters(tmp_path):
    record = check_round_trip(tmp_path, TrainingRecord, training(hyperparameters={"arity": 16, "C": None}))
    assert record.setting("arity") == 16
    for name in ("C", "gamma"):
        with pytest.raises(XmlcError, match=f"plt on yeast: hyperparameter {name} is None; expected a number"):
            record.setting(name)


def test_what_a_search_wrote_is_read(tmp_path):
    write_result(tmp_path / "a.yaml", search())
    found = SearchRecord.read(tmp_path / "a.yaml")
    assert (found.dataset.name, found.estimator, found.best["p@1"]) == ("yeast", "swnn", 0.625)
    assert [trial["p@1"] for trial in found.trials] == [0.5, 0.625]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", r"(?s)not a readable result of `xmlc tune`.*make it again"),
        (yaml.safe_dump(stamped(search(trials=[]))), r"\$\.trials.*`xmlc tune`"),
        (yaml.safe_dump(stamped(search(best=TRIAL | {"p@1": 50.0}))), r"\$\.best.*`xmlc tune`"),
        (yaml.safe_dump(stamped(search()) | {"seed": 9}), r"was edited since it was written"),
        (yaml.safe_dump([1]), "`xmlc tune`"),
    ],
)
def test_what_is_no_result_of_a_search_is_refused(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(XmlcError, match=message):
        SearchRecord.read(tmp_path / "a.yaml")
