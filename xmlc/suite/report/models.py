"""All models on each dataset: a table, and a drawing of quality against time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from xmlc.suite.papers import figure_of
from xmlc.suite.papers.plotting import content_of, means
from xmlc.suite.papers.tables import Panel, PanelSpec, Table, TableSpec
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import mean_over_seeds, read
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.results.titles import LIMITS

KEYS = ("dataset", "model")
QUALITY = "p@1"
TIME = "train_seconds"
OF_SETS = ("macro_f_present", "instance_f")
SHOWN = (QUALITY, "p@5", *OF_SETS, TIME, "predict_ms", "model_mb")
FOR = "for-"  # Begins the names of methods that optimise one measure


@dataclass(frozen=True)
class Comparison:
    """The models on one dataset, best P@1 first, with a drawing if at least two have a time."""

    table: Table
    panel: Panel
    drawing: bytes | None


def comparisons(records: Mapping[Path, RecordFile]) -> list[Comparison]:
    """Compare the models on each dataset with test results, fewest labels first."""
    kinds = RankingRecord | ThresholdRecord | InferenceRecord
    results = {path: record for path, record in records.items() if isinstance(record, kinds)}
    numbers = read(results, details=False)
    table = COMPARISON.build("", numbers, pd.DataFrame(columns=[*KEYS, "quantity", "value"]))
    found = []
    for panel in table.panels:
        drawing = draw(numbers[numbers["dataset"] == panel.title])
        found.append(Comparison(table, with_distinct_names(panel), drawing))
    return found


def with_distinct_names(panel: Panel) -> Panel:
    """Add models' names in the configuration to a title that they share."""
    rows = []
    for (title,), (cell, *_) in zip(panel.rows, panel.cells, strict=True):
        if panel.rows.count((title,)) > 1:
            title = f"{title} ({cell.key[1]})"
        rows.append((title,))
    return replace(panel, rows=rows)


def best_numbers(table: Table) -> pd.DataFrame:
    """Return the mean numbers of each model.

    Label sets are those of its best method, except methods for another measure.
    """
    # Two tables may have two copies of a record
    own = table.own.drop_duplicates([*KEYS, "method", "split", "seed", "quantity"])
    sizes = own[own["quantity"] == "m"].drop_duplicates("dataset").set_index("dataset")["value"]
    means = mean_over_seeds(own[own["quantity"].isin(SHOWN)], (*KEYS, "method")).dropna(
        subset="value"
    )
    fits = []
    for method, quantity in zip(means["method"], means["quantity"], strict=True):
        measure = method.removeprefix(FOR).replace("-", "_")
        is_of_sets = quantity in OF_SETS
        fits.append(
            bool(method) == is_of_sets
            and (not method.startswith(FOR) or quantity.startswith(measure))
        )
    means = (
        means[fits]
        .sort_values("value", ascending=False, kind="stable")
        .drop_duplicates([*KEYS, "quantity"])
    )
    # Times differ from run to run anyway
    means["deviation"] = means["deviation"].mask(
        [column(quantity).cost for quantity in means["quantity"]]
    )
    quality = means[means["quantity"] == QUALITY][[*KEYS, "value"]]
    means = means.sort_index().merge(quality, "left", [*KEYS], suffixes=("", "_of_model"))
    means["labels"] = means["dataset"].map(sizes)
    order = {"labels": True, "dataset": True, "value_of_model": False}
    return means.sort_values([*order], ascending=[*order.values()], kind="stable")


COMPARISON = TableSpec(
    name="models",
    needs=(),
    keys=KEYS,
    rows=best_numbers,
    panels=(PanelSpec(quantities=SHOWN, optional=SHOWN, each="dataset"),),
)


def draw(numbers: pd.DataFrame) -> bytes | None:
    """Draw P@1 against training seconds as an SVG, with the Pareto front."""
    numbers = numbers[~numbers["model"].isin(LIMITS)]
    if means(numbers, "", ["model"], TIME, QUALITY).dropna()["model"].nunique() < 2:
        return None
    pareto = figure_of("pareto", "common")
    # Wide enough for the names
    spec = replace(pareto, by=(), plots=pareto.plots[:1], narrowest=4)
    return content_of(spec.draw(numbers.assign(need=0)), "svg")
