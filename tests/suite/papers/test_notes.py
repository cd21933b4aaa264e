"""Test the footnotes that tables have in common."""

import pandas as pd

from xmlc.suite.papers.notes import undefined_labels
from xmlc.suite.results.numbers import NUMBER


def test_note_says_how_many_labels_macro_f_counts_as_1():
    rows = []
    for dataset, record, macro_f, zero in (
        ("yeast", "a", 50.0, 38.0),
        ("yeast", "b", 50.0, 49.5),
        ("yeast", "stopped", None, None),
        ("scene", "c", 70.0, 70.0),
    ):
        rows.append((dataset, record, "macro_f", macro_f))
        rows.append((dataset, record, "macro_f_zero", zero))
    numbers = pd.DataFrame(rows, columns=["dataset", "record", "quantity", "value"], dtype=object)
    numbers = numbers.reindex(columns=NUMBER).assign(variant="", need=0)
    (note,) = undefined_labels(pd.concat([numbers, numbers.assign(need=1)]))
    assert note.endswith(": yeast 0.5 to 12.0 %.")
    assert undefined_labels(numbers[numbers["quantity"] == "macro_f"]) == []
