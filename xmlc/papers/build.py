"""One builder for each table: from records to the frame of its CSV and the panels of its print.

A builder knows the columns of its table and the paper's conventions; it computes nothing but means over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.metrics.measures import (
    FURTHER_RANKING_METRICS,
    FURTHER_SET_METRICS,
    MEASURE_METHODS,
    RANKING_METRICS,
    SET_METRICS,
)
from xmlc.papers.common.peers import PEER_KEYS, peers_table
from xmlc.papers.common.summaries import (
    SUMMARISED,
    SUMMARY_KEYS,
    averages_table,
    counts_table,
    read_statistics,
    sizes_table,
    summary_table,
)
from xmlc.papers.gfm2011.tables import INFERENCE_KEYS, inference_table, instance_f_table
from xmlc.papers.ldsm2020.tables import (
    LDSM_KEYS,
    TREE_KEYS,
    precision_table,
    prediction_table,
    training_table,
    trees_table,
)
from xmlc.papers.oplt2021.tables import OPLT_KEYS, accuracy_table, passes_table
from xmlc.papers.oplt2021.tables import precision_table as online_precision_table
from xmlc.papers.plt2016.hyperparameters import HYPERPARAMETER_KEYS, hyperparameter_table
from xmlc.papers.plt2016.measures import MEASURE_KEYS, measures_table
from xmlc.papers.scale.growth import GROWTH_KEYS, growth_table
from xmlc.papers.scale.steps import STEP_KEYS, read_steps, steps_table
from xmlc.papers.swnn2018.condensed import CONDENSED_KEYS, condensed_table
from xmlc.papers.swnn2018.tables import NEAREST_KEYS, nearest_table
from xmlc.records.reading import (
    DATASET_COLUMNS,
    ranking_frame,
    read_records,
    threshold_frame,
)
from xmlc.tables.columns import DEVIATION
from xmlc.tables.notes import notes, overfitting
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import TABLES as TABLES  # who takes it from here takes it filled
from xmlc.tables.table import Records, Table, csv_frame, register
from xmlc.tables.titles import MACRO_F_CONVENTION, method_order, method_title

# How to read files that are no records of experiments, by the kind that a table takes.
OTHER_FILES = {"step": read_steps, "statistics": read_statistics}


def build_table(
    name: str, paper: str, records: Sequence[Path], published: Path | None = None, suite: Path | None = None
) -> Table:
    """Build one table of a paper.

    Parameters
    ----------
    name : str
        A name of `TABLES`, of the paper or of all suites; a bare number means ``table<number>``.
    paper : str
    records : sequence of Path
    published : Path or None
        Folder with ``<paper>/<table>.csv``; a paper without such a file has no published values.
    suite : Path or None
        The paper's configuration, for a table that tells something of it.

    Raises
    ------
    XmlcError
        The table is unknown, or the records do not fit.
    """
    definition = TABLES.of(name, paper)
    printed = read_published(name, paper, published)
    if definition.kind in OTHER_FILES:
        content = OTHER_FILES[definition.kind](records)
    else:
        content = read_records(records, definition.kind, definition.portion)
    more: list[Any] = [read_records(records, "thresholds", "80", needed=False)] if definition.takes_thresholds else []
    more += [suite] if definition.takes_suite else []
    return definition.build(paper, content, printed, *more)


def read_published(name: str, paper: str, folder: Path | None) -> Published:
    """Read what a paper prints of one table, from the files in ``folder/<paper>/`` that hold it; maybe nothing."""
    definition = TABLES.of(name, paper)
    printed = Published({}, definition.keys)
    for source in definition.printed_in or (TABLES.full_name(name),):
        file = folder / paper / f"{source}.csv" if folder else None
        printed = Published.read(file, definition.keys).over(printed)
    return printed


@register("table1", ("dataset", "model"), "ranking", "full")
def table1(paper: str, records: Records, published: Published) -> Table:
    """Build Table 1 of plt2016: the datasets, P@k and training minutes."""
    keys, scores = ("dataset", "model"), ("p@1", "p@3", "p@5", "train_minutes")
    costs = ("predict_ms", "inner_products", "model_mb", "train_peak_mb", "predict_peak_mb")
    others = (*RANKING_METRICS[3:], *FURTHER_RANKING_METRICS)
    wanted = (*DATASET_COLUMNS, *scores, *others, *costs, "train_threads", "predict_threads")
    frame = csv_frame(average_seeds(ranking_frame(records), keys), keys, wanted)
    datasets, about = frame.drop_duplicates("dataset"), published.about("dataset")
    counts = [side_by_side(datasets, about, name) for name in DATASET_COLUMNS]
    ranking = [side_by_side(frame, published, name) for name in scores]
    panels = [
        Panel("Datasets", datasets, ("dataset",), counts),
        Panel("Ranking on the test set, and training time", frame, keys, ranking),
    ]
    caption = (
        "Characteristics of the datasets, precision@k on the test set, and training time. Models are trained on the "
        "whole training set; averages are over the training set."
    )
    return Table("table1", paper, keys, frame, caption, panels, notes(paper, records, "train_threads", panels))


@register("table2", ("dataset", "model", "method"), "thresholds", "80")
def table2(paper: str, records: Records, published: Published) -> Table:
    """Build Table 2 of plt2016: test macro-F, milliseconds and inner products of each threshold method."""
    keys, measures = ("dataset", "model", "method"), ("macro_f", "test_ms", "inner_products")
    records = [record for record in records if record["method"] not in ("ofo-ab", *MEASURE_METHODS)]
    if not records:
        raise XmlcError(
            "table2: all records are of ofo-ab or of for-<measure>, which stand in tables table4 and measures"
        )
    others = (*SET_METRICS[1:], *FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f")
    wanted = (*measures, *others, "c", "a", "b", "tune_seconds", "test_threads")
    frame = csv_frame(average_seeds(threshold_frame(records), keys), keys, wanted)
    panels = [by_method(frame, published, name) for name in measures]
    caption = (
        "Macro-F on the test set with the parameters that are best on the validation set, and the wall-clock time and "
        f"the number of inner products per test instance. {MACRO_F_CONVENTION}"
    )
    footnotes = notes(paper, records, "threads", panels) + overfitting(frame)
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


@register("table4", ("model", "dataset"), "thresholds", "80")
def table4(paper: str, records: Records, published: Published) -> Table:
    """Build Table 4 of plt2016: OFO with a and b tuned, beside FTA and STO."""
    keys = ("model", "dataset")
    records = [record for record in records if record["method"] in ("ofo-ab", "fta", "sto")]
    if all(record["method"] != "ofo-ab" for record in records):
        raise XmlcError("table4: no record of method 'ofo-ab' is given; expected one for each dataset and model")
    averaged = average_seeds(threshold_frame(records), (*keys, "method"))
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
    return Table("table4", paper, keys, frame, caption, panels, notes(paper, records, None, panels))


def _scores_as(averaged: pd.DataFrame, method: str, name: str, columns: Sequence[str]) -> pd.DataFrame:
    """Return one method's rows with its macro-F under another name, deviation included."""
    names = {"macro_f": name, "macro_f" + DEVIATION: name + DEVIATION}
    return averaged.loc[averaged["method"] == method, list(columns)].rename(columns=names)


register("table3", HYPERPARAMETER_KEYS, "ranking", "full", takes_suite=True)(hyperparameter_table)
register("measures", MEASURE_KEYS, "thresholds", "80")(measures_table)
register("scale", STEP_KEYS, "step", "")(steps_table)
register("growth", GROWTH_KEYS, "ranking", "full")(growth_table)
register("peers", PEER_KEYS, "ranking", "full", takes_suite=True, takes_thresholds=True)(peers_table)
register("table1", INFERENCE_KEYS, "inference", "full", paper="gfm2011")(inference_table)
register("instance-f", INFERENCE_KEYS, "inference", "80", takes_thresholds=True)(instance_f_table)
register("table1", SUMMARY_KEYS, "statistics", "", paper="swnn2018")(sizes_table)
for _name in SUMMARISED:
    register(_name, SUMMARY_KEYS, "statistics", "", paper="swnn2018")(summary_table(_name))
register("table6", NEAREST_KEYS, "ranking", "full", paper="swnn2018")(nearest_table)
register("table1", LDSM_KEYS, "ranking", "full", paper="ldsm2020", printed_in=("table7",))(precision_table("table1"))
register("table2", LDSM_KEYS, "ranking", "full", paper="ldsm2020", printed_in=("table5", "table2"))(
    prediction_table("table2")
)
register("table3", SUMMARY_KEYS, "statistics", "", paper="ldsm2020")(averages_table)
register("table4", TREE_KEYS, "forest", "full", paper="ldsm2020")(trees_table)
register("table5", LDSM_KEYS, "ranking", "full", paper="ldsm2020")(prediction_table("table5"))
register("table6", LDSM_KEYS, "ranking", "full", paper="ldsm2020")(training_table)
register("table7", LDSM_KEYS, "ranking", "full", paper="ldsm2020")(precision_table("table7"))
register("condensed", CONDENSED_KEYS, "condensed", "full")(condensed_table)
register("table1", SUMMARY_KEYS, "statistics", "", paper="oplt2021")(counts_table)
register("table2", OPLT_KEYS, "ranking", "full", paper="oplt2021")(online_precision_table)
register("table3", OPLT_KEYS, "ranking", "full", paper="oplt2021")(accuracy_table)
register("passes", OPLT_KEYS, "ranking", "full")(passes_table)
