"""Footnotes that tables have in common, on data, seeds, threads, and the meaning of columns."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

import pandas as pd

from xmlc.data import synthetic
from xmlc.suite.papers.tables import MARK, PAPER, PanelColumn, Table
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import is_missing, ordered_sum
from xmlc.suite.results.titles import LIMITS, model_title

EXPECTED_F = (
    "Expected F computes thresholds from the estimates on the test set and the labels' shares in the training set. "
    "A label with neither positives nor predictions counts 0, or 1 with 0/0 = 1."
)


def notes_of(table: Table) -> list[str]:
    """Return the footnotes that tables have in common."""
    numbers = table.numbers
    parts = [*chain(*(panel.columns for panel in table.panels))]
    notes = [digests_line(numbers), *synthetic_line(numbers)]
    seeds = sorted(numbers.loc[numbers["model"] != "", "seed"].dropna().unique())
    if len(seeds) > 1:
        notes.append(f"Seeds: {', '.join(map(str, seeds))}, mean ± standard deviation.")
    elif seeds:
        notes.append(f"Seed: {seeds[0]}.")
    counts = threads_of(numbers, table.spec.threads)
    if counts and any(column(part.quantity).cost for part in parts):
        notes.append(f"Times are wall-clock times with {counts}.")
    notes += [*searches(table), *undefined_labels(numbers), *_about_columns(table, parts)]
    methods = {*numbers["method"]}
    if "fta-labelwise" in methods:
        notes.append("FTA label-wise: a separate fixed threshold for each label.")
    if any(method.startswith("expected-f") for method in methods):
        notes.append(EXPECTED_F)
    cells = [*chain(*(part.cells for part in parts))]
    published = {cell.quantity for cell in cells if cell.published}
    if any(column(name).cost for name in published):
        notes.append(f"{PAPER}: the value published in {table.paper}, with times from another machine.")
    elif published:
        notes.append(f"{PAPER}: the value published in {table.paper}.")
    return notes


def _about_columns(table: Table, parts: list[PanelColumn]) -> list[str]:
    """Return notes on the columns that are set apart, on bold numbers, and on marks."""
    notes = []
    limits = [model_title(name) for name in LIMITS if (table.numbers["model"] == name).any()]
    if any(panel.compact().rule for panel in table.panels):
        apart = f"not reported by {table.paper}"
        if any(panel.across == "method" for panel in table.spec.panels):
            apart = "methods that plt2016 does not have"
        notes.append(f"Columns set apart: {apart}.")
    cells = chain(*(part.cells for part in parts))
    marked = any(cell.is_full and not is_missing(cell.value) for cell in cells)
    if any(part.contest and column(part.quantity).better for part in parts):
        best = "Bold: the best of each dataset"
        if any(panel.each == "model" for panel in table.spec.panels):
            best = "Bold: the best of each model and dataset"
        if limits:
            best += f", without {', '.join(limits)}"
        if marked:
            best += f". Methods with {MARK} are compared separately"
        notes.append(f"{best}.")
    if marked:
        notes.append(f"{MARK}: the model is trained on the whole training set, and not on 80 % of it.")
    if limits:
        notes.append("oracle: the true posteriors of a synthetic dataset replace a model's estimates.")
    return notes


def threads_of(numbers: pd.DataFrame, names: Collection[str]) -> str:
    """Return the number of threads of time measurements as text, such as ``1 or 2 threads``, or ""."""
    counts = sorted({*numbers.loc[numbers["quantity"].isin(names), "value"].dropna()})
    if not counts:
        return ""
    text = " or ".join(f"{count:g}" for count in counts)
    if counts == [1]:
        return f"{text} thread"
    return f"{text} threads"


def digests_line(numbers: pd.DataFrame) -> str:
    """Return a line with the datasets and the first digits of their digests."""
    digests = numbers[numbers["quantity"] == "digest"].drop_duplicates("dataset")
    texts = [f"{name} ({digest[:12]})" for name, digest in zip(digests["dataset"], digests["value"], strict=True)]
    return f"Data (digest): {', '.join(texts)}."


def synthetic_line(numbers: pd.DataFrame, left_out: str = "") -> list[str]:
    """Return a sentence that names the synthetic datasets, if there are any."""
    names = [name for name in numbers["dataset"].unique() if name.endswith(synthetic.MARK)]
    if not names:
        return []
    return [f"{', '.join(names)}: made by `xmlc synth`, not compared with published numbers{left_out}."]


def undefined_labels(numbers: pd.DataFrame) -> list[str]:
    """Return a sentence with the share of labels whose F-measure is 0/0 on each dataset's test set.

    The share depends on the predicted labels: it is macro-F with 0/0 = 1 minus macro-F with 0/0 = 0.
    """
    scores = numbers[numbers["quantity"].isin(["macro_f", "macro_f_zero"]) & (numbers["variant"] == "")]
    scores = scores.pivot(index=["record", "dataset"], columns="quantity", values="value")
    if "macro_f_zero" not in scores:
        return []
    shares = (scores["macro_f"] - scores["macro_f_zero"]).dropna().astype(float)
    texts = []
    for name in numbers["dataset"].unique():
        if name in shares.index.get_level_values("dataset"):
            own = shares.xs(name, level="dataset")
            ends = list(dict.fromkeys([f"{own.min():.1f}", f"{own.max():.1f}"]))
            if ends != ["0.0"]:
                texts.append(f"{name} {' to '.join(ends)} %")
    if not texts:
        return []
    return [
        f"Labels with neither test instances nor predictions, which macro-F counts as 1 (0/0 = 1): {', '.join(texts)}."
    ]


def searches(table: Table) -> list[str]:
    """Return a sentence on how label trees are searched for the top labels.

    For a beam search, it contains the share of rankings that are proved to be exact.
    """
    needs = [place for place, need in enumerate(table.spec.needs) if need.kind == "ranking"]
    numbers = table.numbers[table.numbers["need"].isin(needs)]
    numbers = numbers[numbers["quantity"].isin(["search", "beam", "certified"])]
    if not (numbers["quantity"] == "search").any():
        return []
    rankings = numbers.pivot(index=["record", "model", "dataset"], columns="quantity", values="value")
    rankings = rankings.reindex(numbers.set_index(["record", "model", "dataset"]).index.unique()).reset_index()
    exact = rankings.loc[rankings["search"].isin(["exact", "certified"]), "model"].unique()
    texts = []
    if len(exact):
        texts.append(f"exact for {' and '.join(model_title(name) for name in exact)}")
    beams = rankings[rankings["search"] == "beam"]
    for (model, beam), runs in beams.groupby(["model", "beam"], sort=False):
        shares = []
        for dataset, own in runs.groupby("dataset", sort=False):
            share = ordered_sum(own["certified"].fillna(0.0)) / len(own)
            shares.append(f"{100 * share:.0f} % of {dataset}")
        texts.append(f"{model_title(model)} with beam width {beam} (provably exact for {', '.join(shares)})")
    if not texts:
        return []
    return [f"Search in label trees: {'; '.join(texts)}."]
