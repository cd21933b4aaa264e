"""Test the tables of ldsm2020: measured next to published numbers, quoted ones marked, each shown
once.
"""

import math

import pytest
from built_tables import build_from, headings, texts
from facts import absent, raises_with
from report_cases import forest, ranking

from xmlc.core.errors import XmlcError

SCORES = (
    "dataset,model,p@1,p@3,p@5,ndcg@1,ndcg@3,ndcg@5\n"
    "yeast,parabel,70.00,60.00,50.00,70.00,65.00,55.00\n"
    "yeast,gbdt-s,69.29,63.62,-,-,-,-\n"
    "yeast,lpsr,-,-,-,-,-,-\n"
    "yeast,ldsm,76.50,60.10,50.20,76.50,66.00,60.00\n"
    "far,ldsm,90.64,73.60,58.62,90.64,82.14,79.23\n"
    "far,dismec,-,-,-,-,-,-\n"
    "far,leml,84.01,67.20,52.80,84.01,75.23,71.96\n"
)
TIMES = (
    "dataset,model,predict_ms\nyeast,ldsm,5.65\nyeast,sleec,4.95\n"
    "yeast,craftml,8.6\nyeast,fastxml,-\n"
)
PUBLISHED = {
    "table7": SCORES,
    "table5": TIMES,
    "table2": "dataset,model,predict_ms\nyeast,ldsm,5.64\n",
    "table6": "dataset,model,train_seconds\nyeast,ldsm,52.7\nfar,parabel,1512\n",
    "table4": "dataset,depth,arity\nyeast,9,4\nfar,25,2\n",
}
RANKED = (
    ranking(model="ldsm", p1=0.75, hyperparameters={"n_trees": 50}),
    ranking(model="swnn", p1=0.7),
    ranking(model="fastxml", p1=0.6),
)


@pytest.fixture
def build(tmp_path):
    return lambda name, *records: build_from(tmp_path, name, "ldsm2020", records, PUBLISHED)


def column(panel, heading):
    """Return the texts of a column by model."""
    at = headings(panel).index(heading)
    return {row[0]: row[at] for row in texts(panel)}


def test_rows_are_measured_then_quoted_then_other_datasets(build):
    measured, printed = build("7", *RANKED).panels
    assert measured.title == "yeast"
    assert headings(measured)[:4] == ["Model", "Trees", "P@1 (%)", "P@3 (%)"]
    assert [row[:4] for row in texts(measured)] == [
        ["LdSM", "50", "75.00", "25.00"],
        ["SWNN", "–", "70.00", "23.33"],
        ["FastXML", "–", "60.00", "20.00"],
        ["Parabel", "–", "–", "–"],
        ["GBDT-S", "–", "–", "–"],
    ]
    assert [*column(measured, "P@1 (paper)").values()] == ["76.50", "–", "–", "70.00", "69.29"]
    assert column(measured, "P@5 (paper)")["GBDT-S"] == "–"  # the paper has a dash, too
    quoted = [["far", "LdSM", "90.64"], ["far", "LEML", "84.01"]]
    assert [row[:3] for row in texts(printed)] == quoted


def test_table_1_has_only_trees(build):
    table = build("1", *RANKED)
    assert table.content["model"].tolist() == ["ldsm", "fastxml"]
    assert [row[0] for row in texts(table.panels[0])] == ["LdSM", "FastXML", "GBDT-S"]
    assert [row[1] for row in texts(table.panels[1])] == ["LdSM"]
    with raises_with(XmlcError, "ranking"):
        build("1", ranking(model="swnn"))


def test_two_tables_of_times_differ_as_in_the_paper(build):
    shorter = {"LdSM": "5.64", "FastXML": "–", "CRAFTML": "8.6"}
    longer = {"LdSM": "5.65", "SWNN": "–", "FastXML": "–", "SLEEC": "4.95", "CRAFTML": "8.6"}
    for name, expected in (("2", shorter), ("5", longer)):
        (panel,) = build(name, *RANKED).panels
        assert column(panel, "Predict (ms) (paper)") == expected


def test_depth_of_deepest_tree_is_shown_with_balanced_depth(build):
    table = build("4", forest(), forest(model="fastxml", trees=None))
    row = table.content.iloc[0]
    assert row[["depth", "arity", "nodes", "n_trees"]].tolist() == [7, 2, 13, 3]
    assert row["depth_ratio"] == pytest.approx(7 / math.log2(14))
    measured, printed = table.panels
    found = dict(zip(headings(measured), texts(measured)[0]))
    assert (found["Depth"], found["Depth (paper)"], found["Arity (paper)"]) == ("7", "9", "4")
    assert texts(printed) == [["far", "25", "2"]]
    with raises_with(XmlcError, "forest"):
        build("4", forest(model="fastxml"))


def test_settings_that_violate_lemma_1_are_noted(build):
    violating = forest("bibtex")
    violating["hyperparameters"]["arity"] = 4
    (line,) = [line for line in build("4", forest(), violating).notes if "Lemma 1" in line]
    assert absent(line, "bibtex (4, 2, 1)") == []
    assert "yeast" not in line
    assert not any("Lemma 1" in line for line in build("4", forest()).notes)
