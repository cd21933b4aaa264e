"""Footnotes that tables share, on data, seeds, threads, and the meaning of columns."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

import pandas as pd

from xmlc.data import synthetic
from xmlc.suite.papers.tables import MARK, PAPER, Table
from xmlc.suite.results.columns import column
from xmlc.suite.results.titles import LIMITS, model_title


def notes_of(table: Table) -> list[str]:
    """Return the common footnotes."""
    numbers = table.numbers
    cells = [*chain(*chain(*(panel.cells for panel in table.panels)))]
    notes = [digests_line(numbers), *synthetic_line(numbers)]
    seeds = sorted(numbers.loc[numbers["model"] != "", "seed"].dropna().unique())
    if len(seeds) > 1:
        notes.append(f"Seeds: {', '.join(map(str, seeds))}, mean ± standard deviation.")
    elif seeds:
        notes.append(f"Seed: {seeds[0]}.")
    counts = threads_of(
        numbers, [name for name in table.spec.quantities if name.endswith("_threads")]
    )
    if counts and any(column(cell.quantity).cost for cell in cells):
        notes.append(f"Times are wall-clock times with {counts}.")
    notes += undefined_labels(numbers)
    for search, rankings in numbers[numbers["quantity"] == "search"].groupby("value", sort=False):
        models = map(model_title, rankings["model"].unique())
        notes.append(f"Search in label trees, {search}: {', '.join(models)}.")
    if any(cell.is_best for cell in cells):
        notes.append("Bold: the best of a dataset in each panel.")
    texts = chain(*(chain(panel.headings, *panel.rows) for panel in table.panels))
    if any(MARK in text for text in texts):
        notes.append(
            f"{MARK}: the model is trained on the whole training set, and compared only with "
            "others of it."
        )
    if numbers["model"].isin(LIMITS).any():
        notes.append("oracle: the true posteriors of a synthetic dataset, never bold.")
    if any(cell.published for cell in cells):
        notes.append(
            f"{PAPER}: the value published in {table.paper}, with times from another machine."
        )
    return notes


def undefined_labels(numbers: pd.DataFrame) -> list[str]:
    """Return a sentence with the share of labels whose F-measure is 0/0 on each test set.

    This share depends on the predictions: macro-F with 0/0 = 1 minus macro-F with 0/0 = 0.
    """
    scores = numbers[
        numbers["quantity"].isin(["macro_f", "macro_f_zero"]) & (numbers["variant"] == "")
    ]
    scores = scores.drop_duplicates(["record", "quantity"])  # Several needs may select one record
    scores = scores.pivot(index=["record", "dataset"], columns="quantity", values="value").astype(
        float
    )
    if "macro_f_zero" not in scores:
        return []
    texts = []
    shares = (scores["macro_f"] - scores["macro_f_zero"]).dropna()
    for dataset, own in shares.groupby("dataset"):
        ends = dict.fromkeys([f"{own.min():.1f}", f"{own.max():.1f}"])
        if [*ends] != ["0.0"]:
            texts.append(f"{dataset} {' to '.join(ends)} %")
    if not texts:
        return []
    what = "Labels with neither test instances nor predictions, which macro-F counts as 1 (0/0 = 1)"
    return [f"{what}: {', '.join(texts)}."]


def threads_of(numbers: pd.DataFrame, names: Collection[str]) -> str:
    """Return the threads of time measurements as text, such as ``1 or 2 threads``, or ""."""
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
    texts = [
        f"{name} ({digest[:12]})"
        for name, digest in zip(digests["dataset"], digests["value"], strict=True)
    ]
    return f"Data (digest): {', '.join(texts)}."


def synthetic_line(numbers: pd.DataFrame, left_out: str = "") -> list[str]:
    """Return a sentence about the synthetic datasets, if any."""
    names = [name for name in numbers["dataset"].unique() if name.endswith(synthetic.MARK)]
    if not names:
        return []
    return [
        f"{', '.join(names)}: made by `xmlc synth`, not compared with published numbers{left_out}."
    ]
