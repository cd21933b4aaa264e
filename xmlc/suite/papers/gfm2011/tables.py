"""The functions of Table 1 of gfm2011 (``tables.yaml``)."""

from __future__ import annotations

from xmlc.suite.papers.tables import Table
from xmlc.suite.results.titles import model_title


def drawn_samples(table: Table) -> list[str]:
    """Return notes on the samples drawn from each model."""
    drawn = table.numbers[table.numbers["quantity"] == "samples"].dropna(subset="value")
    notes = []
    for samples, numbers in drawn.groupby("value", sort=False):
        models = map(model_title, numbers["model"].unique())
        notes.append(f"Samples drawn for each instance from {', '.join(models)}: {samples:g}.")
    return notes
