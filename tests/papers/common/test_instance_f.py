"""The table of instance-F: the best threshold beside what was inferred from the same estimates."""

import pytest
from built_tables import build_from
from report_cases import every_measure, inference, inferred_from_estimates

from xmlc.errors import XmlcError


@pytest.fixture
def build(tmp_path):
    return lambda records: build_from(tmp_path, "instance-f", "plt2016", records)


def test_instance_f_puts_the_best_threshold_before_what_was_inferred(build):
    best = [record for record in every_measure() if record["method"] == "for-instance-f"]
    best[0]["best"]["test"]["instance_f"] = 0.55
    records = [inferred_from_estimates(method="h", f=0.4), inferred_from_estimates(), *best]
    table = build(records)
    assert table.frame["method"].tolist() == ["for-instance-f", "h", "gfm"]
    assert table.frame["instance_f"].tolist() == pytest.approx([55, 40, 60])
    assert table.frame["estimate_ms"].tolist() == [0.25, 0.125, 0.125]
    panel, estimates = table.panels
    assert [line[1] for line in panel.cells()] == [("best threshold", False), ("H", False), ("GFM", False)]
    assert [line[2] for line in panel.cells()] == [("55.00", False), ("40.00", False), ("60.00", True)]
    assert [line[4][0] for line in panel.cells()] == ["–", "0.1000", "0.1000"]
    assert [text for text, _ in estimates.cells()[0]] == ["yeast", "PLT", "14", "0.0001", "9.50", "0.2500"]


def test_instance_f_without_thresholds_and_of_several_models(build):
    records = [inferred_from_estimates(), inferred_from_estimates(model="fastxml"), inferred_from_estimates("bibtex")]
    table = build(records)
    assert [panel.title for panel in table.panels[:2]] == ["PLT", "FastXML"]
    assert table.frame["dataset"].tolist() == ["yeast", "yeast", "bibtex"]
    assert len(table.panels[2].rows) == 3


def test_records_of_samples_alone_are_no_table_of_instance_f(build):
    with pytest.raises(XmlcError, match="xmlc infer --estimates"):
        build([inference(portion="80")])
