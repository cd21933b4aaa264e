"""Table 3 of plt2016: the hyperparameters, the ranges in which they are searched, and the values in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.estimator import Hyperparameters
from xmlc.records.base import Row
from xmlc.records.ranking import RankingRecord
from xmlc.suites.needs import RANKINGS
from xmlc.suites.suite import Found, ModelSpec, Suite
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, PanelColumn, Published, side_by_side
from xmlc.tables.table import Table, table
from xmlc.tables.titles import hyperparameter_title, model_title, search_title
from xmlc.tuning.auto import METHOD as AUTO
from xmlc.tuning.ranges import Range

HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
EVERY_DATASET = "all"  # stands in the key of a range, which is that of all datasets
COLUMNS = ("low", "high", "drawn", "value", "validation_p@1", "found_by")


@dataclass(frozen=True)
class SearchedModel:
    """What a suite says about one model whose hyperparameters are searched.

    Attributes
    ----------
    ranges : dict of str to Range
        In the order of the suite; empty for a model that is searched only where nobody tuned it.
    names : list of str
        Hyperparameters that are searched in one way or the other.
    configured : dict of str to dict
        By dataset, the hyperparameters that the suite gives for it alone.
    found : dict of str to Found
        By dataset, how those were found.
    """

    ranges: dict[str, Range]
    names: list[str]
    configured: dict[str, Hyperparameters]
    found: dict[str, Found]


def searched_models(suite: Suite | None) -> dict[str, SearchedModel]:
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
    searched = {
        name: SearchedModel(
            {key: Range.parse(key, content) for key, content in (model.tuning or {}).items()},
            _names(model),
            model.datasets,
            model.found,
        )
        for name, model in suite.models.items()
        if model.tuning or model.auto
    }
    if not any(model.ranges for model in searched.values()):
        file = suite.file
        raise XmlcError(f"{file}: no model has ranges of hyperparameters (key tuning), so there is no table of them")
    return searched


def _names(model: ModelSpec) -> list[str]:
    """Name a model's hyperparameters that are searched: those of its ranges, then others in the order of its trials."""
    trials = [trial for stage in model.auto.stages for trial in stage] if model.auto else []
    return list(dict.fromkeys([*(model.tuning or {}), *(name for trial in trials for name in trial)]))


@table("table3", HYPERPARAMETER_KEYS, RANKINGS, takes_suite=True)
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
    panels += [_values_panel(name, searched[name].names, frame) for name in models]
    caption = (
        "The hyperparameters, the ranges of their search, and the values in use, with the P@1 that they reach on the "
        "20 % of the training set that validation holds, where it is known."
    )
    return Table("table3", paper, HYPERPARAMETER_KEYS, frame, caption, panels, notes(paper, records, (), panels))


def _is_shown(record: RankingRecord, searched: dict[str, SearchedModel]) -> bool:
    """Say whether a record is of a model with ranges, or of one that was searched for its dataset."""
    model = searched.get(record.model)
    return model is not None and bool(model.ranges or (record.tuning and record.tuning["method"] == AUTO))


def _one_per_dataset(records: Sequence[RankingRecord]) -> list[RankingRecord]:
    """Drop further seeds: they have the same hyperparameters."""
    first: dict[tuple[str, str], RankingRecord] = {}
    for record in records:
        first.setdefault((record.dataset.name, record.model), record)
    return list(first.values())


def _range_rows(model: str, searched: SearchedModel) -> list[Row]:
    rows: list[Row] = []
    for name, values in searched.ranges.items():
        key: Row = {"dataset": EVERY_DATASET, "model": model, "hyperparameter": name}
        if values.values:
            rows.append(key | {"drawn": "one of " + ", ".join(map(str, values.values))})
        else:
            scale = "logarithmic" if values.log else "uniform"
            drawn = f"{scale}, integers" if values.integer else scale
            rows.append(key | {"low": values.low, "high": values.high, "drawn": drawn})
    return rows


def _value_rows(record: RankingRecord, searched: SearchedModel) -> list[Row]:
    dataset = record.dataset.name
    found = _provenance(record, searched)
    return [
        {"dataset": dataset, "model": record.model, "hyperparameter": name}
        | {"value": _in_print(record.hyperparameters.get(name))}
        | found
        for name in searched.names
    ]


def _in_print(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value  # as YAML has it; a table would show 1


def _provenance(record: RankingRecord, searched: SearchedModel) -> Row:
    """Return how a record's values were found: by the workflow's search, as the suite says, or unknown."""
    dataset = record.dataset.name
    by: str | None
    p1: float | None
    if search := record.tuning:
        by, p1 = search_title(search["method"], search["budget"]), search["p@1"]
    else:
        used, configured = record.hyperparameters, searched.configured.get(dataset, {})
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
