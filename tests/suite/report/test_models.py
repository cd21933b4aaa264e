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
    values = {"sto": 0.5, "fta": 0.4, "for-micro-f": 0.9, "for-a-measure-of-before": 0.9}
    sets = [thresholds(method=method, f=f) for method, f in values.items()]
    records = [
        *sets,
        inferred_from_estimates(method="gfm", f=0.6),
        ranking(),
        ranking(model="fastxml", p1=0.8),
    ]
    (found,) = compared(*records)
    f = shown(found, "Macro-F, labels present (%)")
    assert list(shown(found, "P@1 (%)")) == ["fastxml", "plt"]  # sorted by P@1
    assert f["plt"] == "20.00"  # .6 / 3 of GFM, while STO has .5 / 3
    assert shown(found, "Instance-F (%)")["plt"] == "60.00"
    costs = [shown(found, name)["plt"] for name in ("Train (s)", "Predict (ms)", "Model (MB)")]
    assert costs == ["90", "0.0123", "2.50"]
    assert found.drawing.startswith(b"<?xml")


def test_one_model_has_no_drawing():
    assert compared(ranking())[0].drawing is None
    assert compared(ranking(), ranking(model="oracle"))[0].drawing is None


def test_oracle_is_never_best():
    p1 = {"plt": 0.7, "swnn": 0.6, "oracle": 0.9}
    (found,) = compared(*(ranking(model=model, p1=value) for model, value in p1.items()))
    assert [cells[0].key[1] for cells in found.panel.cells if cells[0].is_best] == ["plt"]


def test_datasets_are_sorted_by_labels():
    sizes = {"large": 900, "small": 6, "mine": 7}
    found = compared(
        *(ranking(name, dataset=dataset(name) | {"m": m}) for name, m in sizes.items())
    )
    assert [one.panel.title for one in found] == ["small", "mine", "large"]


def test_models_that_share_a_title_have_their_names(monkeypatch):
    monkeypatch.setattr("xmlc.suite.papers.tables.TITLES", {"model": lambda name: "SWNN"})
    (found,) = compared(ranking(model="swnn"), ranking(model="swnn-searched", p1=0.5))
    assert found.panel.rows == [("SWNN (swnn)",), ("SWNN (swnn-searched)",)]
