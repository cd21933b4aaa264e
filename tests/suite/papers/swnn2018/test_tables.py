"""Tables of swnn2018: statistics, hyperparameters and precision beside what the paper prints."""

import numpy as np
import pytest
from built_tables import build_from
from report_cases import ranking

from xmlc.data.writer import save_repository
from xmlc.kernels.csr import as_features, as_labels
from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.papers.building import build_table
from xmlc.suite.papers.printing import to_csv
from xmlc.suite.results.made_of import MadeOf
from xmlc.suite.results.records.statistics import Statistics, part_statistics
from xmlc.suite.steps.prepare import prepare

PUBLISHED = (
    "dataset,model,p@1,p@3,p@5,max_p@1,max_p@3,max_p@5,S,alpha,beta,predict_ms\n"
    "yeast,swnn-searched,75.10,60.00,50.00,100.0,93.70,77.90,25,1.0,1,1.47\n"
    "yeast,dismec,76.00,61.00,51.00,100.0,93.70,77.90,-,-,-,-\n"
    "far,swnn-searched,91.07,76.99,62.59,100.0,91.74,77.24,20,1.0,1,24.1\n"
)
USED = {"S": 75, "alpha": 0.5, "beta": 0}
SEARCH = {"method": "stages", "budget": 9, "seed": 0, "p@1": 0.78}


def record(**changes):
    made = ranking(model="swnn-searched", hyperparameters=USED, tuning=SEARCH)
    made["metrics"] |= {"max_p@1": 1.0, "max_p@3": 0.94, "max_p@5": 0.78}
    return made | changes


@pytest.fixture
def build(tmp_path):
    return lambda *records, published=PUBLISHED: build_from(tmp_path, "6", "swnn2018", records, {"table6": published})


def cells(panel, row=0):
    return {heading: text for heading, (text, _) in zip(panel.headings(), panel.cells()[row])}


def test_ours_beside_the_papers(build):
    table = build(record())
    precision, chosen, cost, _ = table.panels
    found = cells(precision)
    assert (found["Model"], found["P@1 (%)"], found["P@1 (paper)"]) == ("SWNN", "75.00", "75.10")
    assert (found["Maximum P@5 (%)"], found["Maximum P@5 (paper)"]) == ("78.00", "77.90")
    found = cells(chosen)
    assert [found[name] for name in ("S", "alpha", "beta", "Trials", "alpha (paper)")] == ["75", "0.5", "0", "9", "1.0"]
    assert found["P@1, validation (%)"] == "78.00"
    found = cells(cost)
    assert (found["Predict (ms)"], found["Predict (ms) (paper)"], found["Model (MB)"]) == ("0.0123", "1.47", "2.50")
    assert [found[name] for name in ("Train (s)", "Threads, predict")] == ["90", "2"]
    row = table.frame.iloc[0]
    assert row[["S", "alpha", "beta", "trials", "max_p@3"]].tolist() == [75, 0.5, 0, 9, 94]


def test_other_methods_are_marked_as_quoted_and_our_rows_do_not_come_twice(build):
    printed = build(record()).panels[-1]
    assert [[text for text, _ in line[:3]] for line in printed.cells()] == [
        ["yeast", "DiSMEC, quoted", "76.00"],
        ["far", "SWNN", "91.07"],
    ]


def test_what_is_comparable_with_the_best_that_is_quoted_is_bold(build):
    made = record()
    made["metrics"] |= {"p@1": 0.7501, "p@3": 0.5999, "p@5": 0.70}  # 76.00, 61.00 and 51.00 are quoted
    precision, *_ = build(made).panels
    assert [bold for _, bold in precision.cells()[0][2:5]] == [True, False, True]
    assert not any(
        bold for line in build(made, published=PUBLISHED.splitlines()[0]).panels[0].cells() for _, bold in line
    )


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
PUBLISHED_TABLES_SUMMARIES = (
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
    meta, train, test = prepare(Dataset("hand"), folder / "source", folder / "data")
    sizes = {name: meta[name] for name in ("name", "digest", "d", "m")}
    Statistics(**sizes, train=part_statistics(*train), test=part_statistics(*test)).write(folder / "statistics.json")
    return folder / "statistics.json"


@pytest.fixture
def build_tables_summaries(statistics, tmp_path):
    (tmp_path / "swnn2018").mkdir()
    (tmp_path / "swnn2018/table2.csv").write_text(PUBLISHED_TABLES_SUMMARIES)
    return lambda name: build_table(MadeOf(name, "swnn2018", (statistics,), tmp_path))


@pytest.mark.parametrize("name", BY_HAND)
def test_numbers_by_hand(build_tables_summaries, name):
    table = build_tables_summaries(name)
    assert table.frame.to_numpy().tolist() == [["hand", *BY_HAND[name]]]
    assert to_csv(table).splitlines()[0] == "dataset,minimum,lower_quartile,median,upper_quartile,maximum,mean"


def test_sizes_by_hand(build_tables_summaries):
    assert build_tables_summaries("1").frame.to_dict("records") == [
        {"dataset": "hand", "d": 6, "n_train": 8, "n_test": 2}
    ]


def test_the_papers_values_beside_ours_and_its_other_datasets_below(build_tables_summaries):
    measured, others = build_tables_summaries("table2").panels
    cells = dict(zip(measured.headings(), measured.cells()[0]))
    assert (cells["3rd quartile"][0], cells["3rd quartile (paper)"][0]) == ("3.75", "4")
    assert cells["Average"] == ("3", False)
    assert [[text for text, _ in line] for line in others.cells()] == [["other", "1", "2", "2", "4", "11411", "9"]]
    assert len(build_tables_summaries("table3").panels) == 1  # nothing is published here
    assert build_tables_summaries("table4").panels[0].cells()[0][-1][0] == "1.88"
