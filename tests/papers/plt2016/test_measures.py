"""The table of measures: a row and a column for each, brackets on the diagonal."""

import re

import pytest
import yaml
from built_tables import build_from
from report_cases import MEASURES as CASES
from report_cases import every_measure, every_method, thresholds, write

from xmlc.errors import XmlcError
from xmlc.metrics.measures import MEASURE_METHODS, TUNABLE_MEASURES
from xmlc.papers.building import build_table
from xmlc.suites.checking import FOLDER
from xmlc.tables.render import to_latex, to_markdown
from xmlc.thresholds.tune import METHODS as REGISTERED

SCHEMA = FOLDER / "suite.schema.yaml"


@pytest.fixture
def build(tmp_path):
    return lambda records: build_from(tmp_path, "measures", "demo", records)


def test_names_are_the_same_in_metrics_records_methods_and_configuration():
    assert TUNABLE_MEASURES == CASES
    assert {name: method.measure for name, method in REGISTERED.items() if name.startswith("for-")} == {
        name: row.removesuffix("_labelwise") for name, row in MEASURE_METHODS.items()
    }
    pattern = yaml.safe_load(SCHEMA.read_text())["properties"]["measures"]["items"]["pattern"]
    assert all(re.fullmatch(pattern, name.removeprefix("for-")) for name in MEASURE_METHODS)
    assert not re.fullmatch(pattern, "macro-g")


def test_a_row_for_each_measure_and_its_own_in_brackets(build):
    table = build(every_measure("yeast") + every_measure("bibtex") + every_method("yeast"))
    assert table.frame.columns[:12].tolist() == ["dataset", "model", "tuned_for", *TUNABLE_MEASURES]
    assert table.frame["tuned_for"].tolist() == [*TUNABLE_MEASURES, *TUNABLE_MEASURES]
    assert table.frame["dataset"].tolist() == ["yeast"] * 9 + ["bibtex"] * 9
    assert table.frame.loc[3, "micro_f"] == 50
    assert table.frame.loc[3, "macro_jaccard"] == 49
    assert table.frame.loc[3, "predicted_per_instance"] == 1.5
    (panel,) = table.panels
    assert panel.headings()[:5] == ["Dataset", "Model", "Tuned for", "Macro-F", "Macro-F2"]
    lines = panel.cells()
    for i, line in enumerate(lines):
        own = 3 + i % 9
        assert [j for j, (text, _) in enumerate(line) if text.startswith("[")] == [own]
        assert line[own] == ("[50.00]", True)
        assert [bold for _, bold in line].count(True) == 1
    assert [line[2][0] for line in lines[:3]] == ["Macro-F", "Macro-F2", "Macro-Jaccard"]


def test_only_measures_that_were_tuned_for_are_printed_and_all_are_in_the_csv(build):
    records = [record for record in every_measure() if record["method"] in ("for-instance-f", "for-micro-f")]
    table = build(records)
    assert table.panels[0].headings()[3:] == ["Micro-F", "Instance-F", "pred./inst."]
    assert set(TUNABLE_MEASURES) <= set(table.frame)


def test_a_label_wise_row_has_its_measure_in_brackets(build):
    records = [record for record in every_measure() if record["method"] == "for-micro-f"]
    table = build([*records, *(record | {"method": "for-micro-f-labelwise"} for record in records)])
    assert table.frame["tuned_for"].tolist() == ["micro_f", "micro_f_labelwise"]
    assert [line[2:4] for line in table.panels[0].cells()] == [
        [("Micro-F", False), ("[50.00]", False)], [("Micro-F, label-wise", False), ("[50.00]", False)]
    ]  # fmt: skip


def test_each_model_has_its_panel_and_its_best(build):
    table = build(every_measure() + every_measure(model="fastxml", shift=-0.2) + every_measure(model="oracle"))
    assert [panel.title for panel in table.panels] == ["PLT", "FastXML", "oracle"]
    bold = [sum(is_bold for line in panel.cells() for _, is_bold in line) for panel in table.panels]
    assert bold == [9, 9, 0]


def test_seeds_show_their_spread_within_the_brackets(build):
    table = build(every_measure(seed=0) + every_measure(seed=1, shift=0.02))
    assert table.panels[0].cells()[0][3] == ("[51.00 ± 1.41]", True)


def test_print_says_what_the_rows_are(build):
    table = build(every_measure())
    flat = re.sub(r"\s+", " ", to_markdown(table))
    for words in (
        "**Measures, demo.**",
        "in brackets",
        "0/0 = 1",
        "strictly greater",
        "label-wise",
        "the best common one",
    ):
        assert words in flat, words
    assert r"\textbf{[50.00]}" in to_latex(table)


def test_records_without_the_newer_measures_leave_dashes_and_make_the_other_tables(tmp_path):
    old = [thresholds(method="for-macro-f"), *every_method()]
    paths = write(tmp_path, old)
    (panel,) = build_table("measures", "demo", paths).panels
    assert panel.cells()[0][3][0] == "[40.00]"
    assert build_table("measures", "demo", paths).frame["micro_f2"].isna().all()
    assert build_table("table2", "demo", paths).frame["method"].tolist() == ["fta", "sto", "ofo", "fta-labelwise"]


def test_records_of_other_methods_alone_are_refused(build):
    with pytest.raises(XmlcError, match="no record of the methods for-macro-f, "):
        build(every_method())
