"""The table of defaults: means over datasets, and how far a model is behind the baselines."""

import math

import pytest
from built_tables import build_from
from report_cases import ranking

from xmlc.papers.tables.table import to_markdown

P_AT_1 = {  # by model, on yeast and on scene
    "plt-default": (0.70, 0.60),
    "plt-adagrad-default": (0.72, 0.50),
    "napkinxc-plt-default": (0.65, 0.63),
    "swnn": (0.75, None),
}


@pytest.fixture
def build(tmp_path):
    def build(scores):
        records = [
            ranking(dataset, model, p1=share)
            for model, shares in scores.items()
            for dataset, share in zip(("yeast", "scene"), shares, strict=True)
            if share is not None
        ]
        return build_from(tmp_path, "defaults", "defaults", records)

    return build


def test_a_model_is_behind_where_the_better_baseline_is_furthest_ahead(build):
    table = build(P_AT_1)
    by_dataset, over_all = table.panels
    assert by_dataset.headings() == ["Dataset", "PLT", "PLT, AdaGrad", "napkinXC PLT", "SWNN"]
    assert [[cell for cell, _ in line] for line in by_dataset.cells()] == [
        ["yeast", "70.00", "72.00", "65.00", "75.00"],
        ["scene", "60.00", "50.00", "63.00", "–"],
    ]
    assert [[cell for cell, _ in line] for line in over_all.cells()] == [
        ["PLT", "65.00", "3.00", "scene"],
        ["PLT, AdaGrad", "61.00", "13.00", "scene"],
        ["napkinXC PLT", "64.00", "7.00", "yeast"],
        ["SWNN", "–", "-3.00", "yeast"],
    ]
    assert "Means are over all datasets" in to_markdown(table)


def test_without_baselines_nothing_is_behind(build):
    table = build({name: P_AT_1[name] for name in ("plt-default", "swnn")})
    rows = table.panels[1].rows
    assert rows["model"].tolist() == ["plt-default", "swnn"]
    assert all(value is None or math.isnan(value) for value in rows["behind"])
    assert table.panels[1].cells()[0][1:] == [("65.00", False), ("–", False), ("–", False)]


def test_one_baseline_is_enough(build):
    table = build({name: P_AT_1[name] for name in ("plt-default", "plt-adagrad-default")})
    assert [[cell for cell, _ in line] for line in table.panels[1].cells()] == [
        ["PLT", "65.00", "2.00", "yeast"],
        ["PLT, AdaGrad", "61.00", "–", "–"],
    ]
