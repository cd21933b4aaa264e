"""Comparison of all models on each dataset: a table, and a drawing of quality against time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from xmlc.suite.papers.tables import Panel, Table, TableSpec, columns
from xmlc.suite.report.page.cells import PagePanel, Place, page_panel
from xmlc.suite.report.page.drawing import quality_against_time
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import mean_over_seeds, read
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.results.titles import LIMITS, method_title

KEYS = ("dataset", "model")
QUALITY = "p@1"
TIME = "train_seconds"
RANKED = (QUALITY, "p@5", TIME, "predict_ms", "model_mb")
OF_SETS = ("macro_f_present", "macro_f", "instance_f")
SHOWN = (*RANKED[:2], *OF_SETS, *RANKED[2:])
COSTS = [name for name in SHOWN if column(name).cost]
FOR = "for-"  # Names of methods that optimise one measure begin with this prefix, also in old records.


@dataclass(frozen=True)
class ModelsOnDataset:
    """The comparison of all models on one dataset.

    ``panel`` has a row for each model, sorted by P@1. ``drawing`` is None if fewer than two models have a P@1 and a
    time of training.
    """

    name: str
    labels: int
    panel: PagePanel
    drawing: Markup | None

    @property
    def identifier(self) -> str:
        """Return the identifier of the dataset's section. The names of synthetic datasets contain a space."""
        return f"on-{self.name}".replace(" ", "-")


def models_on_datasets(records: Mapping[Path, RecordFile]) -> list[ModelsOnDataset]:
    """Return the comparison of models for each dataset with results on the test set, by number of labels."""
    kinds = RankingRecord | ThresholdRecord | InferenceRecord
    numbers = read({path: record for path, record in records.items() if isinstance(record, kinds)})
    table = COMPARISON.build("", numbers, pd.DataFrame(columns=[*KEYS, "quantity", "value"]))
    means = table.means
    methods: dict[Place, str] = {}
    runs: dict[Place, tuple[Path, ...]] = {}
    for row in means.itertuples():
        place = (row.dataset, row.model), row.quantity
        methods[place] = method_title(row.method)
        runs[place] = row.records
    sizes = numbers[numbers["quantity"] == "m"].drop_duplicates("dataset").set_index("dataset")["value"]
    comparisons = []
    for panel in map(_distinct, table.panels):
        shown = page_panel(panel, {}, runs)
        for j, part in enumerate(panel.columns):
            for line, cell in zip(shown.cells, part.cells, strict=True):
                line[j] = line[j]._replace(by=methods.get((cell.key, cell.quantity), ""))
        comparisons.append(ModelsOnDataset(panel.title, int(sizes[panel.title]), shown, _drawing(panel)))
    return sorted(comparisons, key=lambda one: one.labels)


def _distinct(panel: Panel) -> Panel:
    """Return a panel without a second column of equal macro-F, and with the names of models that share a title."""
    parts = {part.quantity: part for part in panel.columns}
    if "macro_f" in parts and parts["macro_f"].texts == parts["macro_f_present"].texts:
        del parts["macro_f"]
    names = []
    for (title,), cell in zip(panel.rows, panel.columns[0].cells, strict=True):
        is_shared = panel.rows.count((title,)) > 1
        names.append((f"{title} ({cell.key[1]})",) if is_shared else (title,))
    return replace(panel, rows=names, columns=list(parts.values()))


def _best_numbers(table: Table) -> pd.DataFrame:
    """Return the means over seeds of each model, sorted by P@1, with the method of measures of label sets.

    For a measure of label sets, the number comes from the model's best method. Methods that optimise another measure
    are left out. Methods that optimise macro-F count for all its variants.
    """
    numbers = table.own
    # Two tables may have two copies of a record.
    numbers = numbers.drop_duplicates([*KEYS, "method", "split", "seed", "quantity"])
    sets = numbers[(numbers["method"] != "") & numbers["quantity"].isin(OF_SETS)]
    sets = mean_over_seeds(sets, (*KEYS, "method")).dropna(subset="value")
    target = sets["method"].str.removeprefix(FOR).str.replace("-", "_")
    fits = [quantity.startswith(measure) for quantity, measure in zip(sets["quantity"], target, strict=True)]
    sets = sets[~sets["method"].str.startswith(FOR) | pd.Series(fits, index=sets.index, dtype=bool)]
    sets = sets.sort_values("value", ascending=False, kind="stable").drop_duplicates([*KEYS, "quantity"])
    ranked = numbers[(numbers["method"] == "") & numbers["quantity"].isin(RANKED)]
    ranked = mean_over_seeds(ranked, KEYS).dropna(subset="value").assign(method="")
    means = pd.concat([ranked, sets], ignore_index=True)
    # Times differ from run to run anyway.
    means.loc[means["quantity"].isin(COSTS), "deviation"] = np.nan
    quality = ranked[ranked["quantity"] == QUALITY].set_index([*KEYS])["value"].astype(float)
    quality = quality.reindex(pd.MultiIndex.from_frame(means[[*KEYS]])).to_numpy()
    order = means.assign(quality=quality).sort_values("quality", ascending=False, kind="stable")
    return order.drop(columns="quality")


COMPARISON = TableSpec(
    name="models",
    needs=(),
    keys=KEYS,
    rows=_best_numbers,
    panels=(columns("", *SHOWN, optional=SHOWN, each="dataset", headings={"macro_f": "Macro-F, 0/0 = 1 (%)"}),),
)


def _drawing(panel: Panel) -> Markup | None:
    parts = {part.quantity: part.cells for part in panel.columns}
    points = []
    for time, quality in zip(parts.get(TIME, []), parts.get(QUALITY, []), strict=False):
        model = time.key[1]
        if model not in LIMITS and time.rounded is not None and quality.rounded is not None and time.value > 0:
            points.append((model, time.value, quality.value))
    if len(points) < 2:
        return None
    return quality_against_time(pd.DataFrame(points, columns=["model", "x", "y"]))
