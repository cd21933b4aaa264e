"""The best model of each dataset: where a reader of results looks first."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.overview.facts import Source
from xmlc.page.tables import PageCell, PagePanel
from xmlc.records import ranking, thresholds
from xmlc.records.ranking import RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.tables.columns import MISSING, column
from xmlc.tables.seeds import average_seeds
from xmlc.tables.titles import LIMITS, method_title, model_title

HEADINGS = ["Best by P@1", "P@1 (%)", "Best by macro-F", "Macro-F (%)", "of it 0/0 = 1 (%)"]


def best_of(sources: Sequence[Source]) -> PagePanel | None:
    """Return a row for each dataset: the best model by P@1, the best model and method by macro-F, on the test set.

    Means over seeds are compared; models that are given the truth, and thresholds for other measures, are left out. The
    last column is the share of labels that macro-F counts as 1 because they are neither in the test set nor predicted.
    None without such records.
    """
    found = {source.path: source.record for source in sources}.values()
    records = [record for record in found if record.model_name not in LIMITS]
    ranked = [r for r in records if isinstance(r, RankingRecord) and r.portion == "full"]
    tuned = [r for r in records if isinstance(r, ThresholdRecord) and r.method not in MEASURE_METHODS]
    by_precision = _best(ranking.frame(ranked), ["dataset", "model"], "p@1")
    by_f = _best(thresholds.frame(tuned), ["dataset", "model", "method"], "macro_f")
    rows = []
    for dataset in {**by_precision, **by_f}:
        cells = [PageCell(MISSING)] * len(HEADINGS)
        if (row := by_precision.get(dataset)) is not None:
            cells[:2] = [PageCell(_title(row)), _number(row["p@1"])]
        if (row := by_f.get(dataset)) is not None:
            convention = row["macro_f"] - row["macro_f_zero"]
            cells[2:] = [PageCell(_title(row)), _number(row["macro_f"]), _number(convention)]
        rows.append(([dataset], cells))
    return PagePanel("", ["Dataset"], HEADINGS, rows) if rows else None


def _best(frame: pd.DataFrame, keys: Sequence[str], name: str) -> dict[str, pd.Series]:
    if frame.empty:
        return {}
    averaged = average_seeds(frame, keys).sort_values(name, ascending=False, kind="stable")
    best = averaged.drop_duplicates("dataset").set_index("dataset", drop=False)
    return {dataset: best.loc[dataset] for dataset in dict.fromkeys(frame["dataset"])}


def _title(row: pd.Series) -> str:
    method = [method_title(str(row["method"]))] if "method" in row else []
    return ", ".join([model_title(str(row["model"])), *method])


def _number(value: float) -> PageCell:
    return PageCell(column("macro_f").printed(value), value)
