"""Test the footnotes that tables have in common."""

import pandas as pd

from xmlc.suite.papers.notes import undefined_labels


def test_note_says_how_many_labels_macro_f_counts_as_1():
    columns = ["dataset", "record", "macro_f", "macro_f_zero"]
    rows = [("yeast", "a", 50.0, 38.0), ("yeast", "b", 50.0, 49.5), ("scene", "c", 70.0, 70.0)]
    scores = pd.DataFrame([*rows, ("yeast", "stopped", None, None)], columns=columns)
    numbers = scores.melt(columns[:2], var_name="quantity").assign(variant="", need=0)
    (note,) = undefined_labels(pd.concat([numbers, numbers.assign(need=1)]))
    assert note.endswith(": yeast 0.5 to 12.0 %.")
    assert undefined_labels(numbers[numbers["quantity"] == "macro_f"]) == []
