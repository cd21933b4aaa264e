"""Test Table 1 of gfm2011: label sets inferred from models of the joint distribution."""

import pytest
from built_tables import build_from, headings, texts
from facts import absent
from report_cases import inference

from xmlc.inference.methods import METHODS
from xmlc.suite.papers.printing import to_csv
from xmlc.suite.results.methods import INFERENCE_METHODS
from xmlc.suite.results.titles import METHODS as TITLES

PUBLISHED = (
    "dataset,model,method,m,n_train,n_test,hamming_loss,macro_f,micro_f,instance_f,inference_seconds\n"
    "scene,pcc,gfm,6,1211,1169,13.41,71.59,69.15,71.01,0.985\n"
    "scene,pcc,meuf-cubic,6,1211,1169,-,-,-,-,-\n"
)


@pytest.fixture
def build(tmp_path):
    return lambda *records: build_from(
        tmp_path, "table1", "gfm2011", records, {"table1": PUBLISHED}
    )


def test_method_names_agree_in_inference_titles_and_configuration():
    # The library has one more method, which is in no paper.
    assert {*INFERENCE_METHODS, "gfm-sizes"} == set(METHODS)
    assert set(INFERENCE_METHODS) < set(TITLES)


def test_table_1_has_a_panel_per_dataset_with_published_values(build):
    br = inference(model="br", method="h", f=0.4, samples=None)
    table = build(inference(method="h", f=0.5), inference(), br, inference("yeast", f=0.6))
    assert [panel.title for panel in table.panels] == ["Datasets", "scene", "yeast"]
    sizes, scene, yeast = table.panels
    assert dict(zip(headings(sizes), texts(sizes)[0]))["#test (paper)"] == "1169"
    assert texts(scene)[0][:2] == ["PCC", "H"]
    printed = dict(zip(headings(scene), texts(scene)[1]))
    expected = {"F (%)": "70.00", "F (paper)": "71.01", "Inference (s)": "0.900"}
    assert printed | expected | {"Inference (s) (paper)": "0.985"} == printed
    best = {cell.quantity for cell in scene.cells[1] if cell.is_best}
    assert "instance_f" in best
    assert "inference_seconds" not in best
    assert "F (paper)" not in headings(yeast)
    row = table.content.set_index(["dataset", "model", "method"]).loc["scene", "pcc", "gfm"]
    names = ["draw_ms", "infer_ms", "inference_seconds", "expected_f"]
    assert row[names].tolist() == [0.5, 0.25, 0.9, 72.0]
    assert any(absent(note, "PCC", 200) == [] for note in table.notes)


def test_methods_that_ran_out_of_time_have_a_dash_and_a_note(build):
    stopped = inference(method="meuf-cubic", finished=False, time_limit=60)
    table = build(inference(), stopped)
    assert texts(table.panels[1])[1] == ["PCC", "MEUF, as published", *"––––––––––"]
    assert table.content["note"].dropna().to_dict() == {1: "stopped after 60 s"}
    facts = ("60 s", "scene", "PCC", "MEUF, as published")
    assert any(absent(note, *facts) == [] for note in table.notes)
    assert to_csv(table).count("stopped after 60 s") == 1
    without = build(inference(), inference("yeast", finished=False))
    assert [panel.title for panel in without.panels] == ["Datasets", "scene"]


def test_note_names_macro_f_convention_of_each_dataset(build):
    other = inference("enron")
    other["metrics"]["macro_f_zero"] = 0.1
    share = 100 * (other["metrics"]["macro_f"] - 0.1)
    notes = build(inference(), other).notes
    (note,) = [note for note in notes if f"enron {share:.1f} %" in note]
    assert "scene" not in note  # 0.0 %
