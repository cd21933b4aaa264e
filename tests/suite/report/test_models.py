"""Test the comparison of models on each dataset: the best numbers, their order and the drawing."""

from pathlib import Path

from record_files import as_record
from report_cases import dataset, inferred_from_estimates, ranking, thresholds

from xmlc.suite.report.models import comparisons


def compared(*records):
    return comparisons(
        {Path(f"r{place}"): as_record(record) for place, record in enumerate(records)}
    )


def shown(comparison, heading):
    """Return the printed numbers of a column by model."""
    place = comparison.panel.headings.index(heading)
    return {cells[place].key[1]: cells[place].text for cells in comparison.panel.cells}


def test_row_of_a_model_has_its_ranking_and_best_label_sets():
    (found,) = compared(
        thresholds(method="sto", f=0.5),
        thresholds(method="fta", f=0.4),
        thresholds(method="for-micro-f", f=0.9),
        inferred_from_estimates(method="gfm", f=0.6),
        ranking(),
        ranking(model="fastxml", p1=0.8),
    )
    assert list(shown(found, "P@1 (%)")) == ["fastxml", "plt"]  # sorted by P@1
    expected = {
        "Macro-F, labels present (%)": "20.00",  # .6 / 3 of GFM, while STO has .5 / 3
        "Instance-F (%)": "60.00",
        "Train (s)": "90",
        "Predict (ms)": "0.0123",
        "Model (MB)": "2.50",
    }
    assert {heading: shown(found, heading)["plt"] for heading in expected} == expected
    assert found.drawing.startswith(b"<?xml")


def test_one_model_and_the_oracle_have_no_drawing():
    assert compared(ranking(), ranking(model="oracle"))[0].drawing is None


def test_oracle_is_never_best():
    records = [ranking(p1=0.7), ranking(model="swnn", p1=0.6), ranking(model="oracle", p1=0.9)]
    (found,) = compared(*records)
    assert [cells[0].key[1] for cells in found.panel.cells if cells[0].is_best] == ["plt"]


def test_datasets_are_sorted_by_labels():
    large = ranking("large", dataset=dataset("large") | {"m": 900})
    small = ranking("small", dataset=dataset("small") | {"m": 6})
    assert [one.panel.title for one in compared(large, small)] == ["small", "large"]


def test_models_that_share_a_title_have_their_names(monkeypatch):
    monkeypatch.setattr("xmlc.suite.papers.tables.TITLES", {"model": lambda name: "SWNN"})
    (found,) = compared(ranking(model="swnn"), ranking(model="swnn-searched", p1=0.5))
    assert found.panel.rows == [("SWNN (swnn)",), ("SWNN (swnn-searched)",)]
