"""Tables 1, 2 and 4 of plt2016, and by import what else it has.

A builder knows the columns of its table and the paper's conventions; it computes nothing but means over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.metrics.measures import (
    FURTHER_RANKING_METRICS,
    FURTHER_SET_METRICS,
    MEASURE_METHODS,
    RANKING_METRICS,
    SET_METRICS,
)
from xmlc.papers.plt2016.claims import claims as claims
from xmlc.papers.plt2016.hyperparameters import table3 as table3
from xmlc.papers.plt2016.measures import measures as measures
from xmlc.records import ranking, thresholds
from xmlc.records.base import DATASET_COLUMNS, Record
from xmlc.records.ranking import RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.suites.needs import RANKINGS, THRESHOLDS
from xmlc.tables.columns import DEVIATION
from xmlc.tables.notes import notes, overfitting
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table
from xmlc.tables.titles import MACRO_F_CONVENTION, method_order, method_title, model_title

HASHED = "plt-hashed"  # the paper's own; "plt" is ours


@table("table1", ("dataset", "model"), RANKINGS, contrasts=("model",))
def table1(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build Table 1 of plt2016: the datasets, P@k and training minutes."""
    keys, scores = ("dataset", "model"), ("p@1", "p@3", "p@5", "train_minutes")
    costs = ("predict_ms", "inner_products", "model_mb", "train_peak_mb", "predict_peak_mb")
    others = (*RANKING_METRICS[3:], *FURTHER_RANKING_METRICS)
    wanted = (*DATASET_COLUMNS, *scores, *others, *costs, "train_threads", "predict_threads")
    frame = csv_frame(average_seeds(ranking.frame(records), keys), keys, wanted)
    datasets, about = frame.drop_duplicates("dataset"), published.about("dataset")
    counts = [side_by_side(datasets, about, name) for name in DATASET_COLUMNS]
    scored = [side_by_side(frame, published, name) for name in scores]
    panels = [
        Panel("Datasets", datasets, ("dataset",), counts),
        Panel("Ranking on the test set, and training time", frame, keys, scored),
    ]
    caption = (
        "Characteristics of the datasets, precision@k on the test set, and training time. Models are trained on the "
        "whole training set; averages are over the training set."
    )
    threads = [record.costs.train_threads for record in records]
    return Table(
        "table1", paper, keys, frame, caption, panels, notes(paper, records, threads, panels) + hashed(records)
    )


@table("table2", ("dataset", "model", "method"), THRESHOLDS, contrasts=("model", "method"))
def table2(paper: str, records: Sequence[ThresholdRecord], published: Published) -> Table:
    """Build Table 2 of plt2016: test macro-F, milliseconds and inner products of each threshold method."""
    keys, measures = ("dataset", "model", "method"), ("macro_f", "test_ms", "inner_products")
    records = [record for record in records if record.method not in ("ofo-ab", *MEASURE_METHODS)]
    if not records:
        raise XmlcError(
            "table2: all records are of ofo-ab or of for-<measure>, which stand in tables table4 and measures"
        )
    others = (*SET_METRICS[1:], *FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f")
    wanted = (*measures, *others, "c", "a", "b", "tune_seconds", "test_threads")
    frame = csv_frame(average_seeds(thresholds.frame(records), keys), keys, wanted)
    panels = [by_method(frame, published, name) for name in measures]
    caption = (
        "Macro-F on the test set with the parameters that are best on the validation set, and the wall-clock time and "
        f"the number of inner products per test instance. {MACRO_F_CONVENTION}"
    )
    footnotes = (
        notes(paper, records, [record.costs.threads for record in records], panels)
        + overfitting(frame)
        + hashed(records)
    )
    return Table("table2", paper, keys, frame, caption, panels, footnotes)


BY_METHOD = {
    "macro_f": "Macro-F on the test set (%)",
    "test_ms": "Time per test instance (ms)",
    "inner_products": "Inner products per test instance",
}


def by_method(frame: pd.DataFrame, published: Published, name: str) -> Panel:
    """Return one measure of Table 2, of `BY_METHOD`: a row for each dataset and model, a column for each method."""
    keys = ("dataset", "model")
    rows = frame.drop_duplicates(list(keys))
    columns = []
    for method in method_order(frame["method"].unique()):
        cells = rows[list(keys)].merge(frame[frame["method"] == method], how="left", on=list(keys))
        cells["method"] = method
        columns.append(side_by_side(cells, published, name, heading=method_title(method)))
    return Panel(BY_METHOD[name], rows, keys, columns)


@table("table4", ("model", "dataset"), THRESHOLDS, contrasts=("model",))
def table4(paper: str, records: Sequence[ThresholdRecord], published: Published) -> Table:
    """Build Table 4 of plt2016: OFO with a and b tuned, beside FTA and STO."""
    keys = ("model", "dataset")
    records = [record for record in records if record.method in ("ofo-ab", "fta", "sto")]
    if all(record.method != "ofo-ab" for record in records):
        raise XmlcError("table4: no record of method 'ofo-ab' is given; expected one for each dataset and model")
    averaged = average_seeds(thresholds.frame(records), (*keys, "method"))
    scores = [name for name in ("macro_f", "macro_f" + DEVIATION) if name in averaged]
    chosen = _scores_as(averaged, "ofo-ab", "test_macro_f", averaged.columns.drop("method"))
    for method in ("fta", "sto"):
        chosen = chosen.merge(_scores_as(averaged, method, method, [*keys, *scores]), how="left", on=list(keys))
    places = {name: place for place, name in enumerate(dict.fromkeys(chosen["model"]))}
    chosen = chosen.sort_values("model", kind="stable", key=lambda models: models.map(places))
    printed = ("a", "b", "validation_macro_f", "test_macro_f", "fta", "sto")
    others = ("micro_f", "instance_f", "predicted_per_instance", "inner_products", "test_ms", "tune_seconds")
    frame = csv_frame(chosen, keys, (*printed, *others, "test_threads"))
    headings = ("a", "b", "OFO, valid. (%)", "OFO (%)", "FTA (%)", "STO (%)")
    contests = ("", "", "", "test", "test", "test")
    columns = [side_by_side(frame, published, *part) for part in zip(printed, headings, contests, strict=True)]
    panels = [Panel("", frame, keys, columns)]
    caption = (
        "Macro-F on the test set when both parameters of OFO, a and b, are tuned on the validation set. "
        f"{MACRO_F_CONVENTION}"
    )
    return Table("table4", paper, keys, frame, caption, panels, notes(paper, records, (), panels) + hashed(records))


def hashed(records: Sequence[Record]) -> list[str]:
    """Say which PLT is the paper's, and how many slots its weights share on each dataset; nothing without its row."""
    bits = {record.dataset.name: record.hyperparameters["hash_bits"] for record in records if record.model == HASHED}
    if not bits:
        return []
    slots = ", ".join(f"2^{bits[name]} ({name})" for name in bits)
    both = " PLT has a weight for each feature and node, which is ours." * any(r.model == "plt" for r in records)
    return [
        f"{model_title(HASHED)}: the paper's PLT, whose weights share one table; slots: {slots}, in the paper 2^30 "
        f"(Section 6).{both}"
    ]


def _scores_as(averaged: pd.DataFrame, method: str, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one method's rows with its macro-F under another name, deviation included."""
    names = {"macro_f": name, "macro_f" + DEVIATION: name + DEVIATION}
    return averaged.loc[averaged["method"] == method, list(columns)].rename(columns=names)
