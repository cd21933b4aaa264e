"""Tables of swnn2018: statistics of datasets (Tables 1-5), precision and costs (Table 6)."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xmlc.metrics.measures import MAXIMA
from xmlc.suite.config.planned import RANKINGS
from xmlc.suite.papers.common.tables import MODEL_KEYS, PRECISION
from xmlc.suite.papers.swnn2018.claims import claims as claims
from xmlc.suite.papers.tables import Table, TableSpec, columns, not_run, table_of_datasets
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records.statistics import SUMMARY

HYPERPARAMETERS = ("S", "alpha", "beta")
# The only model that the paper measured and did not quote
OURS = "swnn-searched"
# Points between comparable scores, "by approximately 1 %" (Section 4.3)
CLOSE = 1.0

table1 = table_of_datasets(
    "table1",
    *("d", "n_train", "n_test"),
    caption="The datasets: numbers of features, training instances and test instances.",
)


def _counts(counted: str, table: Table) -> pd.DataFrame:
    return mean_over_seeds(table.numbers[table.numbers["variant"] == counted], ("dataset",))


def summary_table(name: str, counted: str, text: str) -> TableSpec:
    """Declare one of Tables 2-5: five-number summary and mean of counts."""
    caption = f"Number of {text}. Quartiles are interpolated, and the paper does not define them."
    return table_of_datasets(name, *SUMMARY, caption=caption, rows=partial(_counts, counted))


LABELS = "occurrences of a label, over the labels that occur in the training set"
OF_INSTANCES = "labels of an instance, over all instances of the training set"
FEATURES = "occurrences of a feature, over the features that occur in the training set"
ACTIVATIONS = (
    "feature activations of an instance, over all training instances, including instances without "
    "features"
)
table2 = summary_table("table2", "instances_per_label_seen", LABELS)
table3 = summary_table("table3", "labels_per_instance", OF_INSTANCES)
table4 = summary_table("table4", "activations_per_instance", ACTIVATIONS)
table5 = summary_table("table5", "occurrences_per_feature_seen", FEATURES)


def _with_comparable(table: Table) -> pd.DataFrame:
    """Return means over seeds, with bold precision of SWNN at most `CLOSE` below the best
    quoted.
    """
    means = mean_over_seeds(table.own, MODEL_KEYS)
    quoted = table.published[
        table.published["quantity"].isin(PRECISION) & (table.published["model"] != OURS)
    ]
    best = quoted.astype({"value": float}).groupby(["dataset", "quantity"])["value"].max()
    means = means.join(best.rename("best"), on=["dataset", "quantity"])
    values = means["value"].where(means["best"].notna()).astype(float)
    is_close = (means["model"] == OURS) & ((values - means["best"]).round(2) >= -CLOSE)
    return means.assign(mark=is_close.map({True: "bold", False: ""}))


COSTS = ("predict_ms", "model_mb", "train_seconds", "predict_threads")
SEARCHED = ("validation_p@1", "trials")
table6 = TableSpec(
    name="table6",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    rows=_with_comparable,
    more=("train_threads",),
    panels=(
        columns("Precision on the test set", *PRECISION, *MAXIMA, contests={}),
        columns(
            "Hyperparameters chosen on the validation set", *HYPERPARAMETERS, *SEARCHED, contests={}
        ),
        columns("Cost", *COSTS, contests={}),
        not_run(*PRECISION, *MAXIMA, *HYPERPARAMETERS, "predict_ms"),
    ),
    notes=(
        "S, alpha and beta maximise the mean of P@1, P@3 and P@5 over five random splits of the "
        "training set.",
        "The search tries six pairs (alpha, beta), then the best pairs with S = 25, 50 and 75, as "
        "in the paper.",
        "Training is the time to index the training set. Only the paper's time includes reading "
        "and writing files.",
        "Model: the size of the index and the label sets on disk. Predict: the time of ranking "
        "per test instance.",
        "Bold, as in the paper: precision of SWNN that is at most one point below the best quoted "
        "precision, or above.",
    ),
    measured_models=(OURS,),
    caption="Precision of SWNN on the test set. The maximum P@k of any ranking is the mean of "
    "min(|y|, k) / k.",
)
