"""Test the tables of every suite: instance-F, and the comparison with baselines."""

import pytest
import yaml
from built_tables import build_from, texts
from report_cases import every_measure, every_method, inferred_from_estimates, ranking

from xmlc.suite.papers.printing import to_csv, to_latex, to_markdown


@pytest.fixture
def build(tmp_path):
    return lambda *records: build_from(tmp_path, "instance-f", "plt2016", records)


def test_instance_f_table_shows_thresholds_before_inference(build):
    (best,) = [record for record in every_measure() if record["method"] == "for-instance-f"]
    best["best"]["test"]["instance_f"] = 0.55
    table = build(inferred_from_estimates(method="h", f=0.4), inferred_from_estimates(), best)
    assert table.content["method"].tolist() == ["for-instance-f", "h", "gfm"]
    assert table.content["estimate_ms"].tolist() == [0.25, 0.125, 0.125]
    panel, estimates = table.panels
    assert [(row[1], row[2], row[4]) for row in texts(panel)] == [
        ("best threshold", "55.00", "–"),
        ("H", "40.00", "0.1000"),
        ("GFM", "60.00", "0.1000"),
    ]
    assert [cells[0].is_best for cells in panel.cells] == [False, False, True]
    assert texts(estimates) == [["yeast", "PLT", "14", "0.0001", "9.50", "0.2500"]]


def test_archived_records_of_a_removed_method_are_not_used(build):
    table = build(inferred_from_estimates(), inferred_from_estimates(method="gfm-sizes"))
    assert table.content["method"].tolist() == ["gfm"]


NAPKINXC = "napkinxc-plt-liblinear"
BASELINES = yaml.safe_load("""
napkinxc-plt-liblinear:
  {estimator: napkinxc-plt, without: {scene: too many labels}, untuned: everything but C}
omikuji-parabel: {estimator: omikuji-parabel, skip_thresholds: scores of a hinge loss}
""")


@pytest.fixture
def build_baselines(tmp_path):
    about = {"models": {"plt": {}}, "baselines": BASELINES}
    return lambda *records: build_from(tmp_path, "baselines", "plt2016", records, **about)


def test_ranking_and_macro_f_share_a_row(build_baselines):
    of_napkinxc = [ranking(model=NAPKINXC, p1=0.6), *every_method(model=NAPKINXC, f=0.5)]
    table = build_baselines(ranking(), *every_method(), *of_napkinxc)
    columns = """dataset model p@1 p@3 p@5 fta sto ofo train_seconds predict_ms model_mb
    train_peak_mb predict_peak_mb train_threads predict_threads psp@1 psp@3 psp@5 seeds"""
    assert table.content.columns.tolist() == columns.split()
    row = table.content.loc[0, ["p@1", "fta", "sto", "ofo", "train_threads"]]
    assert row.tolist() == pytest.approx([75, 40, 35, 42, 2])
    names, rows = table.panels[0].printed()
    cells = dict(zip(names, rows[1], strict=True))
    # Only the best of the three methods is bold.
    expected = {
        "Model": ("napkinXC PLT, liblinear", False),
        "Train (s)": ("90", False),
        "P@1 (%)": ("60.00", False),
        "Macro-F, FTA (%)": ("50.00", False),
        "Macro-F, OFO (%)": ("52.00", True),
    }
    assert cells | expected == cells


def test_missing_program_has_a_note_with_the_reason(build_baselines):
    records = []
    for name in ("yeast", "scene"):
        records += (ranking(name), ranking(name, "omikuji-parabel"))
    table = build_baselines(*records, ranking("yeast", NAPKINXC))
    models = ["plt", NAPKINXC, "omikuji-parabel", "plt", "omikuji-parabel"]
    assert table.content["model"].tolist() == models
    for panel in table.panels[:2]:
        assert ["scene", "napkinXC PLT, liblinear"] not in [row[:2] for row in texts(panel)]
    for text in (to_markdown(table), to_latex(table)):
        assert "too many labels" in text
    assert "nan" not in to_csv(table).lower()
