"""Test records of every kind: they are written as they were read, and wrong content is refused with
its place.
"""

import math
from copy import deepcopy
from functools import reduce
from operator import getitem

import msgspec
import pytest
import yaml
from facts import raises_with
from record_cases import (
    estimates,
    made_by,
    progressive,
    search,
    simulation,
    statistics,
    training,
    whole,
)
from record_files import as_record, save
from report_cases import calibration, forest, inferred_from_estimates, ranking, sweep, thresholds

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.suite.papers.building import kinds, read_records
from xmlc.suite.results.records.base import TrainingRecord
from xmlc.suite.results.records.statistics import Statistics
from xmlc.suite.results.records.thresholds import EstimatesRecord


def of_trees(name, record, keys):
    """Return a record as its step writes it, with all keys in order."""
    record = record | {"estimator": "ldsm"} | made_by(name)
    keys = f"kind schema dataset estimator model hyperparameters seed split settings {keys}"
    return {key: record[key] for key in f"{keys} environment step".split()}


FOREST = of_trees("forest", forest(), "rows costs trees objectives")
for row in FOREST["rows"]:
    row["resampled"] = {"p@1": [0.007, -0.008]}
EARLIER_SWEEP = of_trees("sweep", sweep(), "hyperparameter rows costs")
SWEEP = EARLIER_SWEEP | {"rows": []}
for row in EARLIER_SWEEP["rows"]:
    value = {"value": row["max_nodes"]}
    SWEEP["rows"].append(value | row | {"predict_ms_per_instance": 0.5})
    del SWEEP["rows"][-1]["max_nodes"]
RANKING = ranking(
    standard_errors={"p@1": 0.01},
    certified=0.5,
    resampled={"p@1": [0.001, -0.002, 0.3], "ndcg@3": [0.0, 0.005, 0.0]},
)
INFERENCE = inferred_from_estimates(
    sizes={"weights": [0.5, 0.25], "learn_seconds": 0.125},
    resampled={"instance_f": [0.03, -0.04]},
)
OF_INFERENCE = """method samples time_limit estimates sizes finished metrics expected_f
truncation_loss resampled"""
THRESHOLDS = thresholds(method="ofo", resampled={"macro_f": [0.0125, -0.25]})
TRAINING = training(tuning={"method": "random", "budget": 30, "seed": 0, "p@1": 0.75})
CONTENTS = {
    "calibration": whole(calibration(), ["metrics", "isotonic"]),
    "estimates": estimates(),
    "forest": FOREST,
    "inference": whole(INFERENCE, OF_INFERENCE.split()),
    "progressive": progressive(),
    "ranking": whole(RANKING, ["metrics", "standard_errors", "certified", "resampled"]),
    "search": search(),
    "simulation": simulation(),
    "statistics": statistics(),
    "sweep": SWEEP,
    "thresholds": whole(THRESHOLDS, ["method", "grid", "best", "resampled"]),
    "training": TRAINING,
}
KINDS = {"estimates": EstimatesRecord, "statistics": Statistics, "training": TrainingRecord}
# Maps places of a record to wrong content. ABSENT stands for a missing key.
BROKEN = yaml.safe_load("""
calibration: {metrics.ece@3: ABSENT, isotonic.ece@1: 60.0}
estimates: {parts.val.ms_per_instance: ABSENT}
forest: {rows.2.metrics.ndcg@5: ABSENT, trees.nodes.1: -1, objectives.0.mean: ABSENT}
inference: {finished: 1, metrics.instance_f: 60.0, estimates.min_probability: ABSENT}
progressive:
  rows: []
  rows.1.accuracy: 1.5
  rows.0.entropy_reduction: ABSENT
  constant_accuracy: null
ranking:
  kind: thresholds
  schema: 2
  metrics.ndcg@3: ABSENT
  metrics.p@1: 75.0
  costs.train_seconds: ABSENT
  seed: '0'
  resampled.p@1: ['0.5']
search: {estimator: ABSENT, trials: [], best.p@1: 50.0}
simulation: {models.dependent: ABSENT, models.dependent.methods.gfm.limit: high, kind: ranking}
statistics: {train.labels_never_seen: ABSENT, test.labels_per_instance.mean: -1, d: 1.5}
sweep: {rows.1.value: ABSENT, rows.1: 7}
thresholds:
  grid.1.test: ABSENT
  grid.1.validation: {}
  best.test.macro_jaccard: 50.0
  best.validation: {macro_f: -0.1}
training: {estimator: ABSENT, costs.train_seconds: long, split: '20'}
""")
PLACES = []
for name, places in BROKEN.items():
    PLACES += [(name, place) for place in places]


def kind_of(name):
    return KINDS.get(name) or kinds()[name]


def changed(content, place, value):
    """Return a copy of some content with another value at a place such as ``rows.1.value``."""
    content = deepcopy(content)
    *outer, last = [int(key) if key.isdigit() else key for key in place.split(".")]
    part = reduce(getitem, outer, content)
    part[last] = value
    if value == "ABSENT":
        del part[last]
    return content


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_read_is_written_again(tmp_path, name):
    path = save(tmp_path, CONTENTS[name])
    record = kind_of(name).read(path)
    record.write(tmp_path / "again.json")
    assert kind_of(name).read(tmp_path / "again.json") == record
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(("name", "place"), PLACES)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, name, place):
    path = save(tmp_path, changed(CONTENTS[name], place, BROKEN[name][place]))
    with raises_with(XmlcError, path) as error:
        kind_of(name).read(path)
    assert any(key in str(error.value) for key in place.split(".") if not key.isdigit())


def test_nan_is_refused(tmp_path):
    path = save(tmp_path, changed(TRAINING, "costs.train_seconds", math.nan))
    with raises_with(XmlcError, path, "NaN"):
        TrainingRecord.read(path)


def test_files_of_earlier_versions_are_read(tmp_path):
    # The value of a sweep has the name of its hyperparameter.
    found = kind_of("sweep").read(save(tmp_path, EARLIER_SWEEP))
    assert [row.value for row in found.rows] == [16, 64, 256]
    lacking = ("kind", "schema", "after")
    content = {key: value for key, value in search().items() if key not in lacking}
    file = tmp_path / "plt.yaml"
    file.write_text(yaml.safe_dump(stamped(content)))
    assert read_records([file])[file].trials[1]["p@1"] == 0.625


def test_hyperparameter_is_read_as_a_number(tmp_path):
    path = save(tmp_path, training(hyperparameters={"arity": 16, "C": None}))
    record = TrainingRecord.read(path)
    assert record.setting("arity") == 16
    for name in ("C", "gamma"):
        with raises_with(XmlcError, "plt", "yeast", name):
            record.setting(name)


def test_shares_on_resampled_test_sets_are_at_most_one():
    drawn = as_record(RANKING).resampled_numbers()[""]
    assert {*drawn} == {"p@1", "ndcg@3"}
    assert drawn["p@1"].tolist() == pytest.approx([75.1, 74.8, 100])


def test_measures_on_resampled_test_sets_are_of_every_prefix_of_a_forest():
    drawn = as_record(FOREST).resampled_numbers()
    assert list(drawn) == ["n_trees=1", "n_trees=2", "n_trees=3", ""]
    value = 100 * FOREST["rows"][0]["metrics"]["p@1"]
    assert drawn["n_trees=1"]["p@1"].tolist() == pytest.approx([value + 0.7, value - 0.8])
    assert drawn[""] is drawn["n_trees=3"]


def test_numbers_are_of_the_whole_stream_and_details_of_its_beginnings():
    record = as_record(progressive())
    last = {"instances": 10, "accuracy": 50, "entropy_reduction": 2}
    assert dict(record.numbers()) == {"": last | {"constant_accuracy": 12.5}}
    first = {"instances": 1, "accuracy": 0, "entropy_reduction": None}
    assert dict(record.details()) == {"instances=1": first, "instances=10": last}


def test_numbers_of_a_simulation_are_by_model_method_and_size():
    parts = dict(as_record(simulation()).numbers())
    assert parts["independent"] == {"optimum": 20, "optimal_size": 3}
    assert parts["independent, gfm"] == {"limit": pytest.approx(10)}
    assert parts["dependent, meuf - gfm, 5 samples"] == {
        "samples": 5, "trials": 40, "expected_f": 1, "standard_error": pytest.approx(0.1)
    }  # fmt: skip


def test_objectives_of_the_last_epoch_are_numbers_and_the_others_are_details():
    record = as_record(forest())
    last = {name: part for name, part in record.numbers() if name.startswith("tree")}
    earlier = dict(record.details())
    place = {"tree": 1, "level": 3, "level_nodes": 4, "epoch": 2}
    values = {"minimum": -1.1, "mean": -0.6, "maximum": 0.4}
    assert last["tree 1, level 3, epoch 2"] == pytest.approx(place | values)
    assert earlier["tree 1, level 3, epoch 1"]["mean"] == pytest.approx(-0.3)


def test_numbers_of_statistics_are_sizes_and_averages():
    (_, sizes), *_ = msgspec.convert(statistics(), Statistics).numbers()
    expected = {"d": 103, "m": 14, "n_train": 1500, "n_test": 917}
    expected |= dict.fromkeys(("labels_per_instance", "instances_per_label"), 2.125)
    assert sizes == expected | {"labels_never_seen": 0, "features_never_seen": 0}
