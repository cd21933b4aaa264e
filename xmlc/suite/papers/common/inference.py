"""Declare the table of label sets that inference methods predict for each instance.

Inference methods compute label sets from sparse probability estimates.
"""

from __future__ import annotations

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.tables import Table, TableSpec, columns
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records.inference import ESTIMATES
from xmlc.suite.results.titles import method_title, model_title

INFERENCE_KEYS = ("dataset", "model", "method")
THRESHOLD = "for-instance-f"  # The method with the best common threshold, a baseline for inference methods.
PRINTED = (
    "instance_f",
    "expected_f",
    "truncation_loss",
    "predicted_per_instance",
    "infer_ms",
    "estimate_ms",
)
LEFT_OUT = ("gfm-sizes",)  # No suite has this method, but records of earlier versions do.
# The costs of a threshold are shown in the columns for the costs of inference.
COSTS_OF_THRESHOLD = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}

INSTANCE_F_CONVENTION = "F is the mean over the test instances. F is 1 if both sets are empty (gfm2011's equation 1)."


def timeouts(table: Table) -> list[str]:
    """Return notes that name the runs that reached the time limit, whose numbers are dashes in the table."""
    stopped = table.means[table.means["quantity"] == "note"].dropna(subset="value")
    notes = []
    for row in stopped.itertuples():
        notes.append(f"A dash: {row.value} on {row.dataset} with {model_title(row.model)} {method_title(row.method)}.")
    return notes


def _beside_thresholds(table: Table) -> pd.DataFrame:
    """Return the rows of inference methods. For each dataset and model, the row of the best threshold comes first.

    Raises
    ------
    XmlcError
        No record has estimates with a minimum probability.
    """
    numbers = table.numbers
    truncated = numbers[(numbers["quantity"] == "min_probability") & (numbers["need"] == 0)].dropna(subset="value")
    if truncated.empty:
        raise XmlcError(
            "instance-f: found no record of estimates with a minimum probability. Run `xmlc thresholds --infer` first"
        )
    table.numbers = numbers[(numbers["need"] == 1) | numbers["record"].isin({*truncated["record"]})]
    own = table.own
    inferred = mean_over_seeds(own[own["need"] == 0], INFERENCE_KEYS)
    tuned = own[own["need"] == 1]
    best = mean_over_seeds(tuned.assign(quantity=tuned["quantity"].replace(COSTS_OF_THRESHOLD)), INFERENCE_KEYS)
    best = best.merge(inferred[["dataset", "model"]].drop_duplicates(), on=["dataset", "model"])
    return pd.concat([best, inferred], ignore_index=True)


instance_f = TableSpec(
    name="instance-f",
    needs=(
        Where("inference", "80", but_methods=LEFT_OUT),
        Where("thresholds", "80", methods=(THRESHOLD,)),
    ),
    keys=INFERENCE_KEYS,
    rows=_beside_thresholds,
    columns=(
        *PRINTED,
        "micro_f",
        "macro_f",
        "hamming_loss",
        "inference_threads",
        *ESTIMATES,
        "m",
        "note",
    ),
    panels=(
        columns(
            "",
            *PRINTED,
            each="model",
            names=("dataset", "method"),
            contests={"instance_f": "instance_f"},
        ),
        columns(
            "Estimates",
            "m",
            *ESTIMATES,
            names=("dataset", "model"),
            contests={},
        ),
    ),
    notes=(
        INSTANCE_F_CONVENTION,
        "Expected F is the F-measure that a method predicts for its label sets, if labels are independent.",
        "Inferring is the time to compute the label sets from the estimates. Thresholds need no time for inferring.",
        "Models are trained on 80 % of the training set. A label without an estimate is never predicted.",
        "Lost expected F: a bound on the loss of exact methods if missing estimates are below the minimum probability.",
        timeouts,
    ),
    caption="Instance-F on the test set. The best threshold has the highest instance-F on the validation set.",
)
