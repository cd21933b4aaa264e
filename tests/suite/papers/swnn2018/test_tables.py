"""Test the tables of swnn2018: statistics, hyperparameters and precision, with published values."""

import pytest
import yaml
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


@pytest.fixture
def build(tmp_path):
    search = {"method": "stages", "budget": 9, "seed": 0, "p@1": 0.78}
    values = {"S": 75, "alpha": 0.5, "beta": 0}

    def make(published=PUBLISHED, **metrics):
        record = ranking(model="swnn-searched", hyperparameters=values, tuning=search)
        record["metrics"] |= {"max_p@1": 1.0, "max_p@3": 0.94, "max_p@5": 0.78} | metrics
        return build_from(tmp_path, "6", "swnn2018", [record], {"table6": published})

    return make


def test_measured_and_published_values_are_shown(build):
    table = build()
    printed = {}
    for panel in table.panels[:3]:
        printed |= zip(headings(panel), texts(panel)[0], strict=True)
    expected = yaml.safe_load("""
        Model: SWNN
        P@1 (paper): '75.10'
        Maximum P@5 (%): '78.00'
        Maximum P@5 (paper): '77.90'
        alpha (paper): '1.0'
        P@1, validation (%): '78.00'
        Predict (ms) (paper): '1.47'
        Threads, predict: '2'
    """)
    assert printed.items() >= expected.items()
    names = ["S", "alpha", "beta", "trials", "max_p@3"]
    assert table.content.loc[0, names].tolist() == [75, 0.5, 0, 9, 94]


def test_other_methods_are_marked_quoted_and_measured_rows_are_not_repeated(build):
    assert [row[:3] for row in texts(build().panels[-1])] == [
        ["yeast", "DiSMEC", "76.00"],
        ["far", "SWNN", "91.07"],
    ]


def bold(panel):
    return [is_bold for _, is_bold in lines(panel)[0]]


def test_values_comparable_to_best_quoted_ones_are_bold(build):
    # the quoted values are 76.00, 61.00 and 51.00
    scores = {"p@1": 0.7501, "p@3": 0.5999, "p@5": 0.70}
    assert bold(build(**scores).panels[0])[2:5] == [True, False, True]
    assert not any(bold(build(PUBLISHED.splitlines()[0], **scores).panels[0]))


NAMES = "min lower_quartile median upper_quartile max mean".split()
SUMMARY = dict(zip(NAMES, [0.0, 1.0, 1.5, 3.75, 4.0, 1.875]))


@pytest.fixture
def summarized(tmp_path):
    """Return the function that builds a table of a training set with one known summary."""
    published = (
        "dataset,minimum,lower_quartile,median,upper_quartile,maximum,mean\n"
        "yeast,1,2,3,4,6,3\nother,1,2,2,4,11411,9\n"
    )

    def make(name, counted):
        record = statistics()
        for other in COUNTED:
            record["train"][other] = dict.fromkeys(SUMMARY, 9.0)
        record["train"][counted] = SUMMARY
        return build_from(tmp_path, name, "swnn2018", [record], {"table2": published})

    return make


@pytest.mark.parametrize(("place", "counted"), list(enumerate(COUNTED, start=2)))
def test_each_table_summarizes_its_count(summarized, place, counted):
    table = summarized(f"table{place}", counted)
    assert table.content.to_numpy().tolist() == [["yeast", *SUMMARY.values()]]
    named = [name.replace("min", "minimum").replace("max", "maximum") for name in SUMMARY]
    assert [*table.content] == ["dataset", *named]
    published = [["other", "1", "2", "2", "4", "11411", "9"]]
    others = [texts(panel) for panel in table.panels[1:]]
    assert others == ([published] if place == 2 else [])


def test_table_1_shows_sizes_of_datasets(summarized):
    (row,) = summarized("1", COUNTED[0]).content.to_dict("records")
    assert row == {"dataset": "yeast", "d": 103, "n_train": 1500, "n_test": 917}
