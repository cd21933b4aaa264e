"""Declare the tables of oplt2021: datasets, precision and costs of online trees."""

from __future__ import annotations

import math
from functools import partial

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.common.rankings import CPU, MODEL_KEYS, PRECISION, PROPENSITY_SCORED, THREADS, threads_of_both
from xmlc.suite.papers.common.rankings import passes as passes
from xmlc.suite.papers.declared import Table, TableDefinition, columns, not_run, table_of_datasets
from xmlc.suite.papers.oplt2021.claims import claims as claims
from xmlc.suite.results.frame import Rows, average, make_row
from xmlc.suite.results.titles import without_passes

COSTS = ("predict_ms", "train_seconds", "model_mb", "train_peak_mb", "predict_peak_mb")
SYNTHETIC = "synthetic-"  # Names of synthetic datasets begin with this prefix.
BEST = (
    "Each method has 1 or 3 passes, whichever is better by {} on the test set, as in the paper. "
    "If 1 and 3 passes are equal, the method has 1 pass."
)

table1 = table_of_datasets(
    "table1", "n_train", "n_test", "m", "d", caption="The datasets: training and test instances, labels, features."
)


def better_passes(table: Table, score: str) -> Rows:
    """Return a row for each dataset and method.

    If a method was run with several numbers of passes, the row contains the results with the best mean ``score``.
    """
    best: Rows = {}
    for (dataset, model), row in average(table.numbers(), MODEL_KEYS).items():
        method, passes = without_passes(model)
        key = dataset, method
        row |= make_row(key, {"passes": passes}, row[score].records)
        best[key] = min(best.get(key, row), row, key=lambda row: (-row[score].value, row["passes"].value or math.inf))
    return best


def _by_accuracy(table: Table) -> Rows:
    for dataset in (record.dataset for record in table.records):
        if (labels := dataset.labels_per_instance) != 1:
            raise XmlcError(
                f"table3: {dataset.name} has {labels:g} labels per instance, expected 1. Remove it from few_shot"
            )
    return {key: row | {"accuracy": row["p@1"]} for key, row in better_passes(table, "p@1").items()}


def _made(table: Table) -> list[str]:
    """Return a list with a note on the table's synthetic datasets. The list is empty if no dataset is synthetic."""
    made = sorted({dataset for dataset, _ in table.rows if dataset.startswith(SYNTHETIC)})
    return [f"{', '.join(made)}: made by `xmlc synth` with the sizes of datasets that are not available."] * bool(made)


table2 = TableDefinition(
    name="table2",
    needs=(Where("ranking", "full", task="multi-label"),),
    keys=MODEL_KEYS,
    rows=partial(better_passes, score="p@1"),
    more=THREADS,
    panels=(
        columns("Precision on the test set, training time", "passes", *PRECISION, "train_cpu_minutes", own=("passes",)),
        columns(
            "Propensity-scored precision, prediction time per test instance, size and memory",
            *(*PROPENSITY_SCORED, *COSTS),
        ),
        not_run(*PRECISION, "train_cpu_minutes"),
    ),
    notes=(BEST.format("P@1"), CPU, threads_of_both, _made),
    caption="Precision of offline and online label trees on the test set.",
)
table3 = TableDefinition(
    name="table3",
    needs=(Where("ranking", "full", task="few-shot"),),
    keys=MODEL_KEYS,
    rows=_by_accuracy,
    more=THREADS,
    panels=(
        columns("Accuracy on the test set, training time", "passes", "accuracy", "train_cpu_seconds", own=("passes",)),
        columns("Prediction time per test instance, size and memory", *COSTS),
        not_run("accuracy", "train_cpu_seconds"),
    ),
    notes=(BEST.format("the accuracy"), CPU, threads_of_both, _made),
    caption="Accuracy on the test set: the share of instances whose class is ranked first.",
)
