"""Declare the tables of swnn2018: statistics of datasets (Tables 1-5), precision and costs (Table 6)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from xmlc.metrics.measures import MAXIMA
from xmlc.suite.config.planned import RANKINGS
from xmlc.suite.papers.common.rankings import MODEL_KEYS, PRECISION
from xmlc.suite.papers.declared import Notes, Table, TableDefinition, columns, not_run, table_of_datasets
from xmlc.suite.papers.swnn2018.claims import claims as claims
from xmlc.suite.results.frame import Rows, average
from xmlc.suite.results.records.statistics import SUMMARY

HYPERPARAMETERS = ("S", "alpha", "beta")
OURS = "swnn-searched"  # The only model that the paper measured. The paper quotes the numbers of all other models.
# Largest difference in points between comparable scores: "by approximately 1 %" (Section 4.3).
CLOSE = 1.0

table1 = table_of_datasets(
    "table1",
    *("d", "n_train", "n_test"),
    caption="The datasets: numbers of features, training instances and test instances.",
)


def _left_out(what: str, table: Table) -> list[str]:
    """Return a note on labels or features that never occur in the training set.

    Labels and features that never occur do not count in the table.
    """
    never = {record.name: getattr(record.train, f"{what}_never_seen") for record in table.records}
    listed = ", ".join(f"{name} ({number})" for name, number in never.items() if number)
    return [f"Left out: {what} that never occur in the training set, on {listed}."] * bool(listed)


def summary_table(name: str, counted: str, text: str, *notes: Notes) -> TableDefinition:
    """Declare one of Tables 2-5: the five-number summary and the mean of the counts ``counted`` in each dataset."""
    caption = f"Number of {text}. Quartiles are interpolated, and the paper does not define them."
    return table_of_datasets(name, *SUMMARY, caption=caption, variant=counted, notes=notes)


LABELS = "occurrences of a label, over the labels that occur in the training set"
OF_INSTANCES = "labels of an instance, over all instances of the training set"
FEATURES = "occurrences of a feature, over the features that occur in the training set"
ACTIVATIONS = "feature activations of an instance, over all training instances, including instances without features"
table2 = summary_table("table2", "instances_per_label_seen", LABELS, partial(_left_out, "labels"))
table3 = summary_table("table3", "labels_per_instance", OF_INSTANCES)
table4 = summary_table("table4", "activations_per_instance", ACTIVATIONS)
table5 = summary_table("table5", "occurrences_per_feature_seen", FEATURES, partial(_left_out, "features"))


def _with_comparable(table: Table) -> Rows:
    """Return the means of all quantities over seeds.

    A precision of the paper's method is bold if it is at most `CLOSE` points below the best quoted precision.
    """
    rows = average(table.numbers(), MODEL_KEYS)
    for (dataset, model), row in rows.items():
        for name in PRECISION if model == OURS else ():
            quoted = [other for key, other in table.printed.items() if key[0] == dataset and key[1] != OURS]
            best = max((float(other[name].value) for other in quoted if name in other), default=math.inf)
            if round(row[name].value - best, 2) >= -CLOSE:
                row[name] = replace(row[name], mark="bold")
    return rows


def _bold(table: Table) -> list[str]:
    is_marked = any(number.mark for row in table.rows.values() for number in row.values())
    said = "precision of SWNN that is above the best quoted precision, or at most one point below"
    return [f"Bold, as in the paper: {said}."] * is_marked


COSTS = ("predict_ms", "model_mb", "train_seconds", "predict_threads")
SEARCHED = ("validation_p@1", "trials")
table6 = TableDefinition(
    name="table6",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    rows=_with_comparable,
    more=("train_threads",),
    panels=(
        columns("Precision on the test set", *PRECISION, *MAXIMA, contests={}),
        columns("Hyperparameters chosen on the validation set", *HYPERPARAMETERS, *SEARCHED, contests={}, own=SEARCHED),
        columns("Cost", *COSTS, contests={}, own=COSTS[1:]),
        not_run(*PRECISION, *MAXIMA, *HYPERPARAMETERS, "predict_ms"),
    ),
    notes=(
        "S, alpha and beta maximise the mean of P@1, P@3 and P@5 over five random splits of the training set.",
        "The search tries six pairs (alpha, beta), then the best pairs with S = 25, 50 and 75, as in the paper.",
        "Training is the time to index the training set. Only the paper's time includes reading and writing files.",
        "Model: the size of the index and the label sets on disk. Predict: the time of ranking per test instance.",
        _bold,
    ),
    threads=("predict_threads",),
    measured_models=(OURS,),
    caption="Precision of SWNN on the test set. The maximum P@k of any ranking is the mean of min(|y|, k) / k.",
)
