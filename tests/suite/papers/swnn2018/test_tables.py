"""Test the tables of swnn2018: statistics, hyperparameters and precision, with published values."""

import pytest
from built_tables import build_from, headings, lines, texts
from record_cases import statistics
from report_cases import ranking

from xmlc.suite.results.records.statistics import COUNTED

PUBLISHED = (
    "dataset,model,p@1,p@3,p@5,max_p@1,max_p@3,max_p@5,S,alpha,beta,predict_ms\n"
    "yeast,swnn-searched,75.10,60.00,50.00,100.0,93.70,77.90,25,1.0,1,1.47\n"
    "yeast,dismec,76.00,61.00,51.00,100.0,93.70,77.90,-,-,-,-\n"
    "far,swnn-searched,91.07,76.99,62.59,100.0,91.74,77.24,20,1.0,1,24.1\n"
)
SEARCH = {"method": "stages", "budget": 9, "seed": 0, "p@1": 0.78}


def record(**changes):
    made = ranking(
        model="swnn-searched", hyperparameters={"S": 75, "alpha": 0.5, "beta": 0}, tuning=SEARCH
    )
    made["metrics"] |= {"max_p@1": 1.0, "max_p@3": 0.94, "max_p@5": 0.78}
    return made | changes


@pytest.fixture
def build(tmp_path):
    return lambda *records, published=PUBLISHED: build_from(
        tmp_path, "6", "swnn2018", records, {"table6": published}
    )


def cells(panel, row=0):
    return dict(zip(headings(panel), texts(panel)[row], strict=True))


def test_measured_and_published_values_are_shown(build):
    table = build(record())
    precision, chosen, cost, _ = table.panels
    found = cells(precision)
    assert (found["Model"], found["P@1 (%)"], found["P@1 (paper)"]) == ("SWNN", "75.00", "75.10")
    assert (found["Maximum P@5 (%)"], found["Maximum P@5 (paper)"]) == ("78.00", "77.90")
    found = cells(chosen)
    assert [found[name] for name in ("S", "alpha", "beta", "Trials", "alpha (paper)")] == [
        "75",
        "0.5",
        "0",
        "9",
        "1.0",
    ]
    assert found["P@1, validation (%)"] == "78.00"
    found = cells(cost)
    assert (found["Predict (ms)"], found["Predict (ms) (paper)"], found["Model (MB)"]) == (
        "0.0123",
        "1.47",
        "2.50",
    )
    assert [found[name] for name in ("Train (s)", "Threads, predict")] == ["90", "2"]
    assert table.content.iloc[0][["S", "alpha", "beta", "trials", "max_p@3"]].tolist() == [
        75,
        0.5,
        0,
        9,
        94,
    ]


def test_other_methods_are_marked_quoted_and_measured_rows_are_not_repeated(build):
    assert [row[:3] for row in texts(build(record()).panels[-1])] == [
        ["yeast", "DiSMEC", "76.00"],
        ["far", "SWNN", "91.07"],
    ]


def test_values_comparable_to_best_quoted_ones_are_bold(build):
    made = record()
    # the quoted values are 76.00, 61.00 and 51.00
    made["metrics"] |= {"p@1": 0.7501, "p@3": 0.5999, "p@5": 0.70}
    precision, *_ = build(made).panels
    assert [bold for _, bold in lines(precision)[0][2:5]] == [True, False, True]
    assert not any(
        bold
        for line in lines(build(made, published=PUBLISHED.splitlines()[0]).panels[0])
        for _, bold in line
    )


PUBLISHED_SUMMARIES = (
    "dataset,minimum,lower_quartile,median,upper_quartile,maximum,mean\n"
    "yeast,1,2,3,4,6,3\nother,1,2,2,4,11411,9\n"
)
SUMMARY = {
    "min": 0.0,
    "lower_quartile": 1.0,
    "median": 1.5,
    "upper_quartile": 3.75,
    "max": 4.0,
    "mean": 1.875,
}


@pytest.fixture
def build_summaries(tmp_path):
    made = statistics()
    made["train"] |= {name: dict.fromkeys(SUMMARY, 9.0) for name in COUNTED}
    return lambda name, counted: build_from(
        tmp_path,
        name,
        "swnn2018",
        [made | {"train": made["train"] | {counted: SUMMARY}}],
        {"table2": PUBLISHED_SUMMARIES},
    )


@pytest.mark.parametrize(("place", "counted"), list(enumerate(COUNTED, start=2)))
def test_each_table_summarizes_its_count(build_summaries, place, counted):
    frame = build_summaries(f"table{place}", counted).content
    assert frame.to_numpy().tolist() == [["yeast", *SUMMARY.values()]]
    assert list(frame) == [
        "dataset",
        "minimum",
        "lower_quartile",
        "median",
        "upper_quartile",
        "maximum",
        "mean",
    ]


def test_table_1_shows_sizes_of_datasets(build_summaries):
    assert build_summaries("1", COUNTED[0]).content.to_dict("records") == [
        {"dataset": "yeast", "d": 103, "n_train": 1500, "n_test": 917}
    ]


def test_published_values_are_shown_with_other_datasets_below(build_summaries):
    measured, others = build_summaries("table2", COUNTED[0]).panels
    cells = dict(zip(headings(measured), lines(measured)[0]))
    assert (cells["3rd quartile"][0], cells["3rd quartile (paper)"][0]) == ("3.75", "4")
    assert cells["Average"] == ("1.88", False)
    assert [[text for text, _ in line] for line in lines(others)] == [
        ["other", "1", "2", "2", "4", "11411", "9"]
    ]
    assert len(build_summaries("table3", COUNTED[1]).panels) == 1  # no values are published here
