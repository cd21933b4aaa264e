"""Test the footnotes that tables have in common."""

import pandas as pd

from xmlc.suite.papers.notes import undefined_labels
from xmlc.suite.results.numbers import NUMBER


def numbers_of(*rows):
    """Return numbers of records: dataset, record, quantity, value and the index of the need."""
    table = pd.DataFrame(
        rows, columns=["dataset", "record", "quantity", "value", "need"], dtype=object
    )
    return table.reindex(columns=[*NUMBER, "need"]).assign(variant="")


def test_note_says_how_many_labels_macro_f_counts_as_1():
    numbers = numbers_of(
        ("yeast", "a", "macro_f", 50.0, 0),
        ("yeast", "a", "macro_f_zero", 38.0, 0),
        ("yeast", "b", "macro_f", 50.0, 0),
        ("yeast", "b", "macro_f_zero", 49.5, 0),
        ("scene", "c", "macro_f", 70.0, 0),
        ("scene", "c", "macro_f_zero", 70.0, 0),
    )
    (note,) = undefined_labels(numbers)
    assert note.endswith(": yeast 0.5 to 12.0 %.")
    assert undefined_labels(numbers[numbers["quantity"] == "macro_f"]) == []


def test_record_of_two_needs_and_record_without_scores_are_no_error_in_the_note():
    numbers = numbers_of(
        ("yeast", "a", "macro_f", 50.0, 0),
        ("yeast", "a", "macro_f_zero", 38.0, 0),
        ("yeast", "a", "macro_f", 50.0, 1),
        ("yeast", "a", "macro_f_zero", 38.0, 1),
        ("yeast", "stopped", "macro_f", None, 0),
        ("yeast", "stopped", "macro_f_zero", None, 0),
    )
    (note,) = undefined_labels(numbers)
    assert note.endswith(": yeast 12.0 %.")
