"""Table 6 of swnn2018: what was chosen, what it reached, and what the paper prints."""

import re

import pytest
from built_tables import build_from
from report_cases import condensed, ranking, write

from xmlc.papers.building import build_table
from xmlc.tables.render import to_markdown

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
    assert printed.title == "Printed in the paper"
    assert [[text for text, _ in line[:3]] for line in printed.cells()] == [
        ["yeast", "DiSMEC, quoted by the paper", "76.00"],
        ["far", "SWNN", "91.07"],
    ]


def test_what_is_comparable_with_the_best_that_is_quoted_is_bold(build):
    quoted = PUBLISHED + "far,dismec,92.08,77.99,62.00,100.0,91.74,77.24,-,-,-,-\n"
    made = record()
    made["metrics"] |= {"p@1": 0.7501, "p@3": 0.5999, "p@5": 0.70}  # 76.00, 61.00 and 51.00 are quoted
    precision, *_, printed = build(made, published=quoted).panels
    assert [bold for _, bold in precision.cells()[0][2:5]] == [True, False, True]
    rows = {line[0][0] + line[1][0]: [bold for _, bold in line[2:5]] for line in printed.cells()}
    assert rows["farSWNN"] == [False, True, True]  # 91.07, 76.99 and 62.59 in print
    assert not any(rows["farDiSMEC, quoted by the paper"])
    assert not any(
        bold for line in build(made, published=PUBLISHED.splitlines()[0]).panels[0].cells() for _, bold in line
    )


def test_without_published_values_and_without_a_search(build):
    made = record(tuning=None)
    for k in (1, 3, 5):
        del made["metrics"][f"max_p@{k}"]  # a record of an earlier version
    table = build(made, published=PUBLISHED.splitlines()[0] + "\n")
    assert len(table.panels) == 3
    assert cells(table.panels[0])["Maximum P@1 (%)"] == "–"
    assert cells(table.panels[1])["Trials"] == cells(table.panels[1])["P@1, validation (%)"] == "–"
    text = re.sub(r"\s+", " ", to_markdown(table))
    assert "chosen without the test set" in text
    assert "Bold" not in text


def test_quality_against_size(tmp_path):
    table = build_table("condensed", "swnn2018", write(tmp_path, [condensed(), condensed("bibtex", p1=0.4)]))
    (panel,) = table.panels
    assert [[text for text, _ in line] for line in panel.cells()[:2]] == [
        ["yeast", "SWNN", "all", "1000", "100.0", "4", "100.0", "80.00", "26.67", "16.00", "0.500"],
        ["yeast", "SWNN", "0.9", "500", "50.0", "2", "50.0", "40.00", "13.33", "8.00", "0.500"],
    ]
    assert table.frame["similarity"].tolist() == ["all", "0.9", "0.5"] * 2
    assert "same label set" in to_markdown(table).replace("\n", " ")
