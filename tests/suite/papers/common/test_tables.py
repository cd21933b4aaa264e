"""Test the tables of every suite: instance-F, and the comparison with baselines."""

import pytest
import yaml
from built_tables import build_from, lines
from report_cases import every_measure, every_method, inferred_from_estimates, ranking

from xmlc.suite.papers.common.tables import MODEL_KEYS
from xmlc.suite.papers.printing import to_csv, to_latex, to_markdown


@pytest.fixture
def build(tmp_path):
    return lambda records: build_from(tmp_path, "instance-f", "plt2016", records)


def test_instance_f_table_shows_thresholds_before_inference(build):
    best = [record for record in every_measure() if record["method"] == "for-instance-f"]
    best[0]["best"]["test"]["instance_f"] = 0.55
    table = build([inferred_from_estimates(method="h", f=0.4), inferred_from_estimates(), *best])
    assert table.content["method"].tolist() == ["for-instance-f", "h", "gfm"]
    assert table.content["instance_f"].tolist() == pytest.approx([55, 40, 60])
    assert table.content["estimate_ms"].tolist() == [0.25, 0.125, 0.125]
    panel, estimates = table.panels
    assert [line[1] for line in lines(panel)] == [
        ("best threshold", False),
        ("H", False),
        ("GFM", False),
    ]
    assert [line[2] for line in lines(panel)] == [
        ("55.00", False),
        ("40.00", False),
        ("60.00", True),
    ]
    assert [line[4][0] for line in lines(panel)] == ["–", "0.1000", "0.1000"]
    assert [text for text, _ in lines(estimates)[0]] == [
        "yeast",
        "PLT",
        "14",
        "0.0001",
        "9.50",
        "0.2500",
    ]


def test_archived_records_of_a_removed_method_are_not_used(build):
    table = build([inferred_from_estimates(), inferred_from_estimates(method="gfm-sizes")])
    assert table.content["method"].tolist() == ["gfm"]


BASELINES = yaml.safe_load("""
models: {plt: {estimator: plt}}
baselines:
  napkinxc-plt-liblinear:
    {estimator: napkinxc-plt, without: {scene: too many labels}, untuned: everything but C}
  omikuji-parabel: {estimator: omikuji-parabel, skip_thresholds: scores of a hinge loss}
  omikuji-parabel-log: {estimator: omikuji-parabel}
""")["baselines"]


@pytest.fixture
def build_baselines(tmp_path):
    return lambda records, baselines=BASELINES: build_from(
        tmp_path, "baselines", "plt2016", records, models={"plt": {}}, baselines=baselines
    )


def row(table, dataset, model):
    return table.content.set_index(list(MODEL_KEYS)).loc[(dataset, model)]


def printed(table, panel=0):
    names, rows = table.panels[panel].printed()
    return {(row[0][0], row[1][0]): dict(zip(names, row, strict=True)) for row in rows}


def test_ranking_and_macro_f_share_a_row(build_baselines):
    records = [
        ranking(),
        *every_method(),
        ranking(model="napkinxc-plt-liblinear", p1=0.6),
        *every_method(model="napkinxc-plt-liblinear", f=0.5),
    ]
    table = build_baselines(records)
    names = (
        "p@1 p@3 p@5 fta sto ofo train_seconds predict_ms model_mb train_peak_mb predict_peak_mb"
    )
    names += " train_threads predict_threads psp@1 psp@3 psp@5 seeds"
    assert table.content.columns.tolist() == ["dataset", "model", *names.split()]
    assert row(table, "yeast", "plt")[["p@1", "fta", "sto", "ofo"]].tolist() == pytest.approx(
        [75, 40, 35, 42]
    )
    cells = printed(table)["yeast", "napkinXC PLT, liblinear"]
    assert cells["Train (s)"] == ("90", False)
    assert cells["Threads, train"] == ("2", False)
    assert cells["P@1 (%)"] == ("60.00", False)
    # Only the best of the three methods is bold.
    assert [cells[f"Macro-F, {method} (%)"] for method in ("FTA", "STO", "OFO")] == [
        ("50.00", False), ("45.00", False), ("52.00", True)
    ]  # fmt: skip


def test_missing_program_has_a_note_with_the_reason(build_baselines):
    records = []
    for name in ("yeast", "scene"):
        records += (ranking(name), ranking(name, "omikuji-parabel"))
    table = build_baselines([*records, ranking("yeast", "napkinxc-plt-liblinear")])
    assert table.content["model"].tolist() == [
        "plt", "napkinxc-plt-liblinear", "omikuji-parabel", "plt", "omikuji-parabel"
    ]  # fmt: skip
    for panel in (0, 1):
        assert ("scene", "napkinXC PLT, liblinear") not in printed(table, panel)
    for text in (to_markdown(table), to_latex(table)):
        assert "too many labels" in text
    assert "nan" not in to_csv(table).lower()
    assert row(table, "yeast", "plt")["train_threads"] == 2
