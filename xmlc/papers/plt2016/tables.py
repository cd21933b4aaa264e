"""Tables of plt2016: 1 to 4, and the measures of all its threshold methods.

A builder knows the columns of its table and the paper's conventions; it computes nothing but means over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.metrics.measures import (
    FURTHER_RANKING_METRICS,
    FURTHER_SET_METRICS,
    LABEL_WISE,
    MEASURE_METHODS,
    RANKING_METRICS,
    SET_METRICS,
    TUNABLE_MEASURES,
    UNLABELLED_METHODS,
)
from xmlc.papers.plt2016.claims import claims as claims
from xmlc.papers.tables.columns import DEVIATION, column
from xmlc.papers.tables.table import (
    Panel,
    PanelColumn,
    Published,
    Table,
    average_seeds,
    csv_frame,
    notes,
    side_by_side,
    table,
)
from xmlc.papers.tables.titles import (
    LIMITS,
    MACRO_F_CONVENTION,
    METHODS,
    hyperparameter_title,
    method_order,
    method_title,
    model_title,
    search_title,
)
from xmlc.records import ranking, thresholds
from xmlc.records.base import DATASET_COLUMNS, Record, Row
from xmlc.records.ranking import RankingRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.records.thresholds import frame as threshold_frame
from xmlc.steps.tuning.ranges import AUTO, Range
from xmlc.suites.needs import MEASURES as MEASURED
from xmlc.suites.needs import RANKINGS, RANKINGS_OF_SEARCHED, THRESHOLDS, THRESHOLDS_OF_FULL
from xmlc.suites.suite import ModelSpec, Suite

Records = Sequence[ThresholdRecord]
HASHED = "plt-hashed"  # the paper's own; "plt" is ours


@table("table1", ("dataset", "model"), RANKINGS)
def table1(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build Table 1 of plt2016: the datasets, P@k and training minutes."""
    keys, scores = ("dataset", "model"), ("p@1", "p@3", "p@5", "train_minutes")
    costs = ("predict_ms", "inner_products", "model_mb", "train_peak_mb", "predict_peak_mb")
    others = (*RANKING_METRICS[3:], *FURTHER_RANKING_METRICS)
    wanted = (*DATASET_COLUMNS, *scores, *others, *costs, "train_threads", "predict_threads")
    frame = csv_frame(average_seeds(ranking.frame(records), keys), keys, wanted)
    datasets, about = frame.drop_duplicates("dataset"), published.keyed_by("dataset")
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


ELSEWHERE = ("ofo-ab", *MEASURE_METHODS)  # methods of table4 and of measures
OF_TABLE_2 = [replace(need, methods=lambda name: name not in ELSEWHERE) for need in (THRESHOLDS, THRESHOLDS_OF_FULL)]


@table("table2", ("dataset", "model", "method"), *OF_TABLE_2)
def table2(paper: str, records: Records, published: Published, of_full: Records = ()) -> Table:
    """Build Table 2 of plt2016: test macro-F, milliseconds and inner products of each threshold method."""
    keys, measures = ("dataset", "model", "method"), ("macro_f", "test_ms", "inner_products")
    records = _with(of_full, records)
    others = (*SET_METRICS[1:], *FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f")
    wanted = (*measures, *others, "c", "a", "b", "tune_seconds", "test_threads")
    frame = csv_frame(average_seeds(thresholds.frame(records), keys), keys, wanted)
    panels = [by_method(frame, published, name) for name in measures]
    caption = (
        "Macro-F on the test set with the parameters that are best on the validation set, and the wall-clock time and "
        f"the number of inner products per test instance. {MACRO_F_CONVENTION} Where most labels have no "
        "test instance this decides: each that a method predicts costs it a 1 (the CSV has other conventions too)."
    )
    footnotes = (
        notes(paper, records, [record.costs.threads for record in records], panels)
        + overfitting(frame)
        + hashed(records)
    )
    return Table("table2", paper, keys, frame, caption, panels, footnotes)


def _with(of_full: Records, records: Records) -> list[ThresholdRecord]:
    """Put the records of models of the whole training set behind the others of the same dataset and model."""
    every = [*records, *of_full]
    places = list(dict.fromkeys((record.dataset.name, record.model) for record in every))
    return sorted(every, key=lambda record: places.index((record.dataset.name, record.model)))


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


TUNED, BESIDE = (replace(THRESHOLDS, methods=names.__contains__) for names in (("ofo-ab",), ("fta", "sto")))


@table("table4", ("model", "dataset"), TUNED, BESIDE)
def table4(paper: str, tuned: Records, published: Published, beside: Records = ()) -> Table:
    """Build Table 4 of plt2016: OFO with a and b tuned, beside FTA and STO."""
    keys = ("model", "dataset")
    records = [*tuned, *beside]
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


HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
EVERY_DATASET = "all"  # stands in the key of a range, which is that of all datasets
COLUMNS = ("low", "high", "drawn", "value", "validation_p@1", "found_by")


def searched_models(suite: Suite | None) -> dict[str, ModelSpec]:
    """Return the models of a suite that have ranges or are searched where nobody tuned them.

    Raises
    ------
    XmlcError
        No suite is given, or it gives no model a range.
    """
    if suite is None:
        raise XmlcError(
            "table3: the ranges stand in a paper's configuration; give it, as in --suite config/papers/x.yaml"
        )
    searched = {name: model for name, model in suite.models.items() if model.tuning or model.auto}
    if not any(model.tuning for model in searched.values()):
        file = suite.file
        raise XmlcError(f"{file}: no model has ranges of hyperparameters (key tuning), so there is no table of them")
    return searched


def ranges_of(model: ModelSpec) -> dict[str, Range]:
    """Return the ranges of a model's hyperparameters, in the order of the suite."""
    return {key: Range.parse(key, content) for key, content in (model.tuning or {}).items()}


def _names(model: ModelSpec) -> list[str]:
    """Name a model's searched hyperparameters: first those with ranges, then others in the order of its trials."""
    trials = [trial for stage in model.auto.stages for trial in stage] if model.auto else []
    return list(dict.fromkeys([*(model.tuning or {}), *(name for trial in trials for name in trial)]))


@table("table3", HYPERPARAMETER_KEYS, RANKINGS_OF_SEARCHED, takes_suite=True)
def table3(paper: str, records: Sequence[RankingRecord], published: Published, suite: Suite | None) -> Table:
    """Build Table 3 of plt2016: ranges beside the paper's, and the values that the models were trained with."""
    searched = searched_models(suite)
    records = [record for record in records if _is_shown(record, searched)]
    if not records:
        raise XmlcError(f"table3: no record is of a model with ranges; expected one of {', '.join(searched)}")
    models = list(dict.fromkeys(record.model for record in records))
    rows = [row for name in models for row in _range_rows(name, searched[name])]
    rows += [row for record in _one_per_dataset(records) for row in _value_rows(record, searched[record.model])]
    # As objects, lest whole numbers become fractions beside others.
    frame = pd.DataFrame(rows, columns=[*HYPERPARAMETER_KEYS, *COLUMNS], dtype=object)
    panels = [_ranges_panel(frame, published)]
    panels += [_values_panel(name, _names(searched[name]), frame) for name in models]
    caption = (
        "The hyperparameters, the ranges of their search, and the values in use, with the P@1 that they reach on the "
        "20 % of the training set that validation holds, where it is known."
    )
    return Table("table3", paper, HYPERPARAMETER_KEYS, frame, caption, panels, notes(paper, records, (), panels))


def _is_shown(record: RankingRecord, searched: dict[str, ModelSpec]) -> bool:
    """Tell whether a record is of a model with ranges, or of a model searched for its dataset."""
    model = searched.get(record.model)
    return model is not None and bool(model.tuning or (record.tuning and record.tuning["method"] == AUTO))


def _one_per_dataset(records: Sequence[RankingRecord]) -> list[RankingRecord]:
    """Drop further seeds: they have the same hyperparameters."""
    first: dict[tuple[str, str], RankingRecord] = {}
    for record in records:
        first.setdefault((record.dataset.name, record.model), record)
    return list(first.values())


def _range_rows(model: str, searched: ModelSpec) -> list[Row]:
    rows: list[Row] = []
    for name, values in ranges_of(searched).items():
        key: Row = {"dataset": EVERY_DATASET, "model": model, "hyperparameter": name}
        if values.values:
            rows.append(key | {"drawn": "one of " + ", ".join(map(str, values.values))})
        else:
            scale = "logarithmic" if values.log else "uniform"
            drawn = f"{scale}, integers" if values.integer else scale
            rows.append(key | {"low": values.low, "high": values.high, "drawn": drawn})
    return rows


def _value_rows(record: RankingRecord, searched: ModelSpec) -> list[Row]:
    dataset = record.dataset.name
    found = _provenance(record, searched)
    return [
        {"dataset": dataset, "model": record.model, "hyperparameter": name}
        | {"value": _in_print(record.hyperparameters.get(name))}
        | found
        for name in _names(searched)
    ]


def _in_print(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value  # as YAML has it; a table would show 1


def _provenance(record: RankingRecord, searched: ModelSpec) -> Row:
    """Return how a record's values were found: by the workflow's search, as the suite says, or unknown."""
    dataset = record.dataset.name
    by: str | None
    p1: float | None
    if search := record.tuning:
        by, p1 = search_title(search["method"], search["budget"]), search["p@1"]
    else:
        used, configured = record.hyperparameters, searched.datasets.get(dataset, {})
        # What the suite says holds for its own values only.
        same = all(used.get(name) == value for name, value in configured.items())
        stated = searched.found.get(dataset) if same else None
        by, p1 = (stated.by, stated.p_at_1) if stated else (None, None)
    return {"found_by": by, "validation_p@1": None if p1 is None else 100 * p1}


def _ranges_panel(frame: pd.DataFrame, published: Published) -> Panel:
    rows = frame[frame["dataset"] == EVERY_DATASET].reset_index(drop=True)
    columns = [side_by_side(rows, published, name, contest="") for name in ("low", "high", "drawn")]
    titled = rows.assign(hyperparameter=rows["hyperparameter"].map(hyperparameter_title))
    return Panel("Ranges", titled, ("model", "hyperparameter"), columns)


def _values_panel(model: str, names: list[str], frame: pd.DataFrame) -> Panel:
    values = frame[(frame["model"] == model) & (frame["dataset"] != EVERY_DATASET)]
    rows = values.drop_duplicates("dataset").reset_index(drop=True)
    nothing = Published({}, HYPERPARAMETER_KEYS)
    columns: list[PanelColumn] = []
    for name in names:
        one = values[values["hyperparameter"] == name].reset_index(drop=True)
        columns.append(side_by_side(one, nothing, "value", heading=hyperparameter_title(name), contest=""))
    columns += [side_by_side(rows, nothing, name, contest="") for name in ("validation_p@1", "found_by")]
    return Panel(f"Values: {model_title(model)}", rows, ("dataset",), columns)


MEASURE_KEYS = ("dataset", "model", "tuned_for")


OF_MEASURES = (*MEASURE_METHODS, *UNLABELLED_METHODS)


@table("measures", MEASURE_KEYS, replace(MEASURED, methods=OF_MEASURES.__contains__), THRESHOLDS_OF_FULL)
def measures(paper: str, records: Records, published: Published, of_full: Records = ()) -> Table:
    """Build the table of measures: a row for each that thresholds were tuned for, a column for each."""
    records = _with(of_full, records)
    tuned = threshold_frame(records)
    tuned["tuned_for"] = tuned.pop("method").replace(MEASURE_METHODS)
    wanted = (
        *TUNABLE_MEASURES,
        "predicted_per_instance",
        "c",
        "inner_products",
        "test_ms",
        "tune_seconds",
        "test_threads",
    )
    frame = csv_frame(average_seeds(tuned, MEASURE_KEYS), MEASURE_KEYS, wanted)
    printed = [name for name in TUNABLE_MEASURES if any(_own(row) == name for row in frame["tuned_for"])]
    panels = [_of_model(model, frame[frame["model"] == model], published, printed) for model in frame["model"].unique()]
    caption = (
        "What tuning thresholds for one measure costs on the others: a row for each measure that thresholds were tuned "
        "for on the validation set, all measures on the test set (%), and in brackets a row's own. For a mean over "
        "labels (macro), and where it says label-wise, each label has its own best threshold; for pooled counts "
        "(micro) and a mean over instances all labels share the best common one. F2 counts recall twice as much as "
        "precision. "
        f"{MACRO_F_CONVENTION}"
    )
    footnotes = notes(paper, records, (), panels, best_of="each model and dataset")
    return Table("measures", paper, MEASURE_KEYS, frame, caption, panels, footnotes)


def _of_model(model: str, rows: pd.DataFrame, published: Published, printed: Sequence[str]) -> Panel:
    """Return one model's rows, each measure's own bracketed; the best is sought among the model's rows."""
    columns = []
    for name in printed:
        part = side_by_side(rows, published, name, heading=column(name).title)
        columns.append(replace(part, marked=[_own(row) == name for row in rows["tuned_for"]]))
    columns.append(side_by_side(rows, published, "predicted_per_instance", heading="pred./inst."))
    titled = rows.assign(tuned_for=[_title(row) for row in rows["tuned_for"]])
    return Panel(model_title(model), titled, MEASURE_KEYS, columns)


def _own(tuned_for: str) -> str:
    """Return the measure that a row was tuned for, whichever the variant of the method."""
    return "macro_f" if tuned_for in METHODS else tuned_for.removesuffix(LABEL_WISE)


def _title(tuned_for: str) -> str:
    if tuned_for in METHODS:
        return method_title(tuned_for)
    return column(_own(tuned_for)).title + ", label-wise" * tuned_for.endswith(LABEL_WISE)


def overfitting(frame: pd.DataFrame) -> list[str]:
    """Say where STO has the highest macro-F on the validation set and not on the test set, as plt2016 observes.

    Parameters
    ----------
    frame : DataFrame
        Rows of dataset, model, method with ``macro_f`` and ``validation_macro_f``; FTA, STO and OFO are looked at.
    """
    shown: dict[bool, list[str]] = {True: [], False: []}
    three = frame[frame["method"].isin(("fta", "sto", "ofo")) & ~frame["model"].isin(LIMITS)]
    for (dataset, model), rows in three.groupby(["dataset", "model"], sort=False):
        by_method = rows.set_index("method")
        if len(by_method) < 3:
            continue
        highest = by_method["validation_macro_f"].idxmax() == "sto"
        sto, others = by_method["macro_f"]["sto"], by_method["macro_f"].drop("sto").max()
        on_validation = by_method["validation_macro_f"]["sto"]
        figures = f"{on_validation:.1f} on validation, {sto:.1f} on test, the best other {others:.1f}"
        shown[bool(highest and sto < others)].append(f"{dataset} with {model_title(model)} ({figures})")
    parts = ("STO overfits (highest macro-F on the validation set, not on the test set): ", shown[True])
    rest = ("This is not seen on ", shown[False])
    return [start + "; ".join(names) + "." for start, names in (parts, rest) if names]
