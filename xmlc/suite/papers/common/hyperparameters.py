"""Declare Table 3 of plt2016: the suite's and the paper's ranges of hyperparameters, and the values for training."""

from __future__ import annotations

from typing import Any

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.config.ranges import AUTO, Range
from xmlc.suite.config.suite import ModelSpec, Suite
from xmlc.suite.papers.declared import Table, TableDefinition, columns
from xmlc.suite.results.frame import Rows, Source, make_row
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.titles import search_title

HYPERPARAMETER_KEYS = ("dataset", "model", "hyperparameter")
EVERY_DATASET = "all"  # In rows of ranges, this name replaces the dataset, because ranges apply to all datasets.


def searched_models(suite: Suite | None) -> dict[str, ModelSpec]:
    """Return the suite's models whose hyperparameters have ranges, or are searched on some datasets.

    Hyperparameters are searched on datasets without tuned values.

    Raises
    ------
    XmlcError
        No suite is given, or no model of the suite has a range.
    """
    if suite is None:
        raise XmlcError(
            "table3: found no file with the ranges. Pass a paper's configuration, as in --suite config/papers/x.yaml"
        )
    searched = {name: model for name, model in suite.models.items() if model.search.ranges or model.search.auto}
    if not any(model.search.ranges for model in searched.values()):
        raise XmlcError(f"{suite.file}: found no model with search.ranges, expected one, because table3 lists ranges")
    return searched


def ranges_of(model: ModelSpec) -> dict[str, Range]:
    """Return the ranges of a model's hyperparameters by name, in the order of the suite's configuration."""
    return {key: Range.parse(key, content) for key, content in model.search.ranges.items()}


def _names(model: ModelSpec) -> list[str]:
    """Return the names of a model's searched hyperparameters.

    Hyperparameters with ranges come first. Hyperparameters without ranges follow in the order of the trials.
    """
    trials = [trial for stage in model.search.stages for trial in stage]
    return list(dict.fromkeys([*model.search.ranges, *(name for trial in trials for name in trial)]))


def _ranges_and_values(table: Table) -> Rows:
    """Return the rows with each model's ranges, followed by the rows with each model's values on each dataset."""
    searched = searched_models(table.suite)
    shown = [source for source in table.given[0] if _is_shown(source.record, searched)]
    if not shown:
        raise XmlcError(f"table3: found no record of a model with ranges, expected one of {', '.join(searched)}")
    table.given[0] = shown
    rows: Rows = {}
    for name in dict.fromkeys(source.record.model_name for source in shown):
        rows |= _ranges(name, searched[name])
    one_of_each: dict[tuple[str, str], Source] = {}
    for source in shown:  # All seeds have the same hyperparameters.
        one_of_each.setdefault((source.record.dataset_name, source.record.model_name), source)
    for (_, model), source in one_of_each.items():
        rows |= _values(source, searched[model])
    return rows


def _is_shown(record: Any, searched: dict[str, ModelSpec]) -> bool:
    """Return whether the hyperparameters of a record's model have ranges, or were searched on the record's dataset."""
    model = searched.get(record.model)
    return model is not None and bool(model.search.ranges or (record.tuning and record.tuning["method"] == AUTO))


def _ranges(model: str, searched: ModelSpec) -> Rows:
    rows: Rows = {}
    for name, values in ranges_of(searched).items():
        key = EVERY_DATASET, model, name
        if values.values:
            rows[key] = make_row(key, {"drawn": "one of " + ", ".join(map(str, values.values))})
        else:
            drawn = ("logarithmic" if values.log else "uniform") + ", integers" * values.integer
            rows[key] = make_row(key, {"low": values.low, "high": values.high, "drawn": drawn})
    return rows


def _values(source: Source, searched: ModelSpec) -> Rows:
    record = source.record
    assert isinstance(record, RankingRecord)
    rows: Rows = {}
    for name in _names(searched):
        key, value = (record.dataset.name, record.model, name), record.hyperparameters.get(name)
        # Truth values are printed as in YAML, because a table would show True as 1.
        row = {"value": str(value).lower() if isinstance(value, bool) else value} | _provenance(record, searched)
        rows[key] = make_row(key, row, (source.path,))
    return rows


def _provenance(record: RankingRecord, searched: ModelSpec) -> dict[str, object]:
    """Return the source of a record's hyperparameters, and the P@1 of these hyperparameters on the validation set.

    The source of hyperparameters is a search by the workflow, or the source that the suite's configuration states, or
    None.
    """
    if search := record.tuning:
        return {"found_by": search_title(search["method"], search["budget"]), "validation_p@1": 100 * search["p@1"]}
    configured = searched.datasets.get(record.dataset.name, {})
    # The source in the configuration is correct only if the model was trained with the values in the configuration.
    same = all(record.hyperparameters.get(name) == value for name, value in configured.items())
    stated = searched.selected.get(record.dataset.name) if same else None
    p1 = stated.p_at_1 if stated else None
    return {"found_by": stated.by if stated else None, "validation_p@1": None if p1 is None else 100 * p1}


table3 = TableDefinition(
    name="table3",
    needs=(Where("ranking", "full", searched=True),),
    keys=HYPERPARAMETER_KEYS,
    rows=_ranges_and_values,
    panels=(
        columns("Ranges", "low", "high", "drawn", names=("model", "hyperparameter"), having="drawn", contests={}),
        columns(
            "Values: {model}",
            *("value", "validation_p@1", "found_by"),
            names=("dataset",),
            each="model",
            across="hyperparameter",
            having="value",
            contests={},
        ),
    ),
    takes_suite=True,
    caption="Ranges and values of hyperparameters, with P@1 on the validation set (20 % of the training set).",
)
