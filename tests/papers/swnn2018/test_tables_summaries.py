"""Tables 1-5 of swnn2018 on a set small enough to count by hand, and beside what the paper prints."""

import json
import re

import numpy as np
import pytest

from xmlc.checksums import stamped
from xmlc.csr import as_features, as_labels
from xmlc.data.catalogue import Dataset
from xmlc.data.prepare import prepare
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError
from xmlc.papers.building import build_table
from xmlc.tables.render import to_csv, to_markdown

# By instance: labels (of 7; the last three never occur) and features (of 6; the last occurs in the test set alone).
TRAIN = [
    ([0, 1, 2], [0, 1]),
    ([0], [0]),
    ([0, 1], [0, 1, 2, 3]),
    ([0], [0, 2]),
    ([0, 3], []),
    ([], [0]),
    ([1, 3], [0, 4]),
    ([0], [0, 1, 2]),
]
TEST = [([0, 1, 2, 3], [5]), ([1], [0, 5])]
# Minimum, quartiles, maximum and mean, counted by hand from sorted counts.
BY_HAND = {
    "table2": [1, 1.75, 2.5, 3.75, 6, 3],  # 1 2 3 6
    "table3": [0, 1, 1.5, 2, 3, 1.5],  # 0 1 1 1 2 2 2 3
    "table4": [0, 1, 2, 2.25, 4, 1.875],  # 0 1 1 2 2 2 3 4
    "table5": [1, 1, 3, 3, 7, 3],  # 1 1 3 3 7
}
PUBLISHED = (
    "dataset,minimum,lower_quartile,median,upper_quartile,maximum,mean\nhand,1,2,3,4,6,3\nother,1,2,2,4,11411,9\n"
)


def matrices(rows):
    X, Y = np.zeros((len(rows), 6)), np.zeros((len(rows), 7), dtype=bool)
    for i, (labels, features) in enumerate(rows):
        X[i, features] = 1 + np.arange(len(features))
        Y[i, labels] = True
    return as_features(X), as_labels(Y)


@pytest.fixture(scope="module")
def statistics(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hand")
    for name, rows in (("train", TRAIN), ("test", TEST)):
        save_repository(folder / f"source/{name}.txt", *matrices(rows))
    prepare(Dataset("hand"), folder / "source", folder / "data", folder / "statistics.json")
    return folder / "statistics.json"


@pytest.fixture
def build(statistics, tmp_path):
    (tmp_path / "swnn2018").mkdir()
    (tmp_path / "swnn2018/table2.csv").write_text(PUBLISHED)
    return lambda name, files=(statistics,): build_table(name, "swnn2018", files, tmp_path)


@pytest.mark.parametrize("name", BY_HAND)
def test_numbers_by_hand(build, name):
    table = build(name)
    assert table.frame.to_numpy().tolist() == [["hand", *BY_HAND[name]]]
    assert to_csv(table).splitlines()[0] == "dataset,minimum,lower_quartile,median,upper_quartile,maximum,mean"


def test_sizes_by_hand(build):
    assert build("1").frame.to_dict("records") == [{"dataset": "hand", "d": 6, "n_train": 8, "n_test": 2}]


def test_the_papers_values_beside_ours_and_its_other_datasets_below(build):
    measured, others = build("table2").panels
    cells = dict(zip(measured.headings(), measured.cells()[0]))
    assert (cells["3rd quartile"][0], cells["3rd quartile (paper)"][0]) == ("3.75", "4")
    assert cells["Average"] == ("3", False)
    assert [[text for text, _ in line] for line in others.cells()] == [["other", "1", "2", "2", "4", "11411", "9"]]
    assert len(build("table3").panels) == 1  # nothing is published here
    assert build("table4").panels[0].cells()[0][-1][0] == "1.88"


def test_what_is_left_out_and_who_defined_quartiles_is_told(build, statistics):
    text = {name: re.sub(r"\s+", " ", to_markdown(build(name))) for name in BY_HAND}
    assert "never occur in the training set, are labels of hand (3)." in text["table2"]
    assert "never occur in the training set, are features of hand (1)." in text["table5"]
    assert "Left out" not in text["table3"] + text["table4"]
    assert all("interpolate linearly" in one for one in text.values())
    digest = json.loads(statistics.read_text())["digest"]
    assert f"Data (digest): hand ({digest[:12]})." in text["table2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content["train"].pop("instances_per_label_seen"), "instances_per_label_seen.*delete it"),
        (lambda content: content.pop("digest"), "digest.*delete it"),
    ],
)
def test_statistics_of_an_earlier_version_are_refused(build, statistics, tmp_path, change, message):
    content = json.loads(statistics.read_text())
    change(content)
    (tmp_path / "old.json").write_text(json.dumps(stamped(content)))
    with pytest.raises(XmlcError, match=message):
        build("table2", [tmp_path / "old.json"])


def test_a_dataset_given_twice_and_a_torn_file_are_refused(build, statistics, tmp_path):
    with pytest.raises(XmlcError, match="second statistics of hand"):
        build("table1", [statistics, statistics])
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(XmlcError, match="not a readable JSON file"):
        build("table1", [tmp_path / "torn.json"])


def test_other_papers_keep_their_tables(statistics):
    with pytest.raises(XmlcError, match="expected a record"):
        build_table("table2", "plt2016", [statistics])
