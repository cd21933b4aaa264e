"""Tables of inferred label sets: Table 1 of gfm2011, and instance-F from sparse estimates."""

import re

import pytest
import yaml
from report_cases import every_measure, inference, inferred_from_estimates, write

from xmlc.errors import XmlcError
from xmlc.inference.methods import METHODS
from xmlc.papers.building import build_table
from xmlc.suites.checking import FOLDER
from xmlc.tables.render import to_csv, to_markdown
from xmlc.tables.titles import METHODS as TITLES

SCHEMA = FOLDER / "suite.schema.yaml"

PUBLISHED = (
    "dataset,model,method,m,n_train,n_test,hamming_loss,macro_f,micro_f,instance_f,inference_seconds\n"
    "scene,pcc,gfm,6,1211,1169,13.41,71.59,69.15,71.01,0.985\n"
    "scene,pcc,meuf-cubic,6,1211,1169,-,-,-,-,-\n"
)


@pytest.fixture
def build(tmp_path):
    (tmp_path / "gfm2011").mkdir()
    (tmp_path / "gfm2011/table1.csv").write_text(PUBLISHED)
    return lambda name, records, paper="gfm2011": build_table(
        name, paper, write(tmp_path / "records", records), tmp_path
    )


def test_names_are_the_same_in_inference_titles_and_configuration():
    without_extensions = yaml.safe_load(SCHEMA.read_text())["else"]["properties"]["inference"]["properties"]
    assert set(without_extensions["methods"]["additionalProperties"]["items"]["enum"]) == set(METHODS) < set(TITLES)


def flat(table):
    return re.sub(r"\s+", " ", to_markdown(table))


def test_table_1_has_a_panel_for_each_dataset_and_the_papers_values_beside_ours(build):
    records = [inference(method="h", f=0.5), inference(), inference(model="br", method="h", f=0.4, samples=None)]
    table = build("table1", [*records, inference("yeast", f=0.6)])
    assert [panel.title for panel in table.panels] == ["Datasets", "scene", "yeast"]
    sizes, scene, yeast = table.panels
    assert dict(zip(sizes.headings(), sizes.cells()[0]))["#test (paper)"] == ("1169", False)
    printed = dict(zip(scene.headings(), scene.cells()[1]))
    assert printed["F (%)"] == ("70.00", True)
    assert printed["F (paper)"] == ("71.01", False)
    assert printed["Inference (s)"] == ("0.900", False)
    assert printed["Inference (s) (paper)"] == ("0.985", False)
    assert [text for text, _ in scene.cells()[0][:2]] == ["PCC", "H"]
    assert "F (paper)" not in yeast.headings()
    row = table.frame.set_index(["dataset", "model", "method"]).loc["scene", "pcc", "gfm"]
    assert row[["draw_ms", "infer_ms", "inference_seconds", "expected_f"]].tolist() == [0.5, 0.25, 0.9, 72.0]
    assert "Samples drawn for each instance from PCC: 200." in flat(table)


def test_hamming_loss_is_best_where_it_is_lowest(build):
    panel = build("table1", [inference(f=0.7), inference(method="h", f=0.5)]).panels[1]
    bold = {heading: [line[i][1] for line in panel.cells()] for i, heading in enumerate(panel.headings())}
    assert bold["Hamming loss (%)"] == [False, True]
    assert bold["F (%)"] == [True, False]


def test_a_dash_and_a_note_where_the_clock_ran_out(build):
    records = [inference(), inference(method="meuf-cubic", finished=False, time_limit=60)]
    table = build("table1", records)
    cells = [text for text, _ in table.panels[1].cells()[1]]
    assert cells == ["PCC", "MEUF, as published", *"–––––", *"-----"]
    assert table.frame["note"].dropna().to_dict() == {1: "stopped after 60 s"}
    assert "A dash: stopped after 60 s, on scene with PCC MEUF, as published." in flat(table)
    assert to_csv(table).count("stopped after 60 s") == 1


def test_the_convention_of_macro_f_is_told_for_each_dataset(build):
    other = inference("enron")
    other["metrics"]["macro_f_zero"] = 0.1
    text = flat(build("table1", [inference(), other]))
    assert "On scene no label is without positives and predictions" in text
    assert "On enron 0/0 counts" in text


def test_seeds_are_averaged(build):
    table = build("table1", [inference(seed=seed, f=f) for seed, f in ((0, 0.70), (1, 0.72))])
    assert table.frame.loc[0, ["instance_f", "instance_f_std"]].tolist() == pytest.approx([71, 2**0.5])


def test_instance_f_puts_the_best_threshold_before_what_was_inferred(build):
    best = [record for record in every_measure() if record["method"] == "for-instance-f"]
    best[0]["best"]["test"]["instance_f"] = 0.55
    records = [inferred_from_estimates(method="h", f=0.4), inferred_from_estimates(), *best]
    table = build("instance-f", records, paper="plt2016")
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
    table = build("instance-f", records, paper="demo")
    assert [panel.title for panel in table.panels[:2]] == ["PLT", "FastXML"]
    assert table.frame["dataset"].tolist() == ["yeast", "yeast", "bibtex"]
    assert len(table.panels[2].rows) == 3


def test_records_of_samples_alone_are_no_table_of_instance_f(build):
    with pytest.raises(XmlcError, match="xmlc infer --estimates"):
        build("instance-f", [inference(portion="80")])
