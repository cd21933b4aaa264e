"""Declare the table of label sets that inference methods predict for each instance.

Inference methods compute label sets from sparse probability estimates.
"""

from __future__ import annotations

from dataclasses import replace

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.declared import Table, TableDefinition, columns
from xmlc.suite.results.frame import Rows, average, numbers_of
from xmlc.suite.results.records.inference import ESTIMATES, InferenceRecord
from xmlc.suite.results.titles import method_title, model_title

INFERENCE_KEYS = ("dataset", "model", "method")
THRESHOLD = "for-instance-f"  # The method with the best common threshold, a baseline for inference methods.
PRINTED = ("instance_f", "expected_f", "truncation_loss", "predicted_per_instance", "infer_ms", "estimate_ms")
# The costs of a threshold are shown in the columns for the costs of inference.
COSTS_OF_THRESHOLD = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}

INSTANCE_F_CONVENTION = "F is the mean over the test instances. F is 1 if both sets are empty (gfm2011's equation 1)."


def timeouts(table: Table) -> list[str]:
    """Return notes that name the runs that reached the time limit.

    In the table, dashes replace the numbers of runs that reached the time limit.
    """
    lines: dict[str, list[str]] = {}
    for record in table.records:
        if isinstance(record, InferenceRecord) and not record.finished:
            where = f"{record.dataset.name} with {model_title(record.model)} {method_title(record.method)}"
            lines.setdefault(f"{record.time_limit:g} s", []).append(where)
    return [
        f"A dash: the run reached the time limit of {limit}, on {'; '.join(dict.fromkeys(where))}."
        for limit, where in lines.items()
    ]


def _beside_thresholds(table: Table) -> Rows:
    """Return the rows of inference methods. For each dataset and model, the row of the best threshold comes first.

    Raises
    ------
    XmlcError
        No record has estimates with a minimum probability.
    """
    truncated = [s for s in table.given[0] if isinstance(s.record, InferenceRecord) and s.record.estimates is not None]
    if not truncated:
        raise XmlcError(
            "instance-f: found no record of estimates with a minimum probability. Run `xmlc thresholds --infer` first"
        )
    table.given[0] = truncated
    inferred = average(numbers_of(truncated), INFERENCE_KEYS)
    tuned = (replace(n, quantity=COSTS_OF_THRESHOLD.get(n.quantity, n.quantity)) for n in table.numbers(1))
    best = average(tuned, INFERENCE_KEYS)
    found: Rows = {}
    for dataset, model in dict.fromkeys(key[:2] for key in inferred):
        threshold = (dataset, model, THRESHOLD)
        found |= {threshold: best[threshold]} if threshold in best else {}
        found |= {key: row for key, row in inferred.items() if key[:2] == (dataset, model)}
    return found


instance_f = TableDefinition(
    name="instance-f",
    needs=(Where("inference", "80"), Where("thresholds", "80", methods=(THRESHOLD,))),
    keys=INFERENCE_KEYS,
    rows=_beside_thresholds,
    columns=(*PRINTED, "micro_f", "macro_f", "hamming_loss", "inference_threads", *ESTIMATES, "m", "note"),
    panels=(
        columns("", *PRINTED, each="model", names=("dataset", "method"), contests={"instance_f": "instance_f"}),
        columns("Estimates", "m", *ESTIMATES, names=("dataset", "model"), having="min_probability", contests={}),
    ),
    threads=("inference_threads",),
    notes=(
        INSTANCE_F_CONVENTION,
        "Expected F is the F-measure that a method predicts for its label sets, if labels are independent.",
        "Inferring is the time to compute the label sets from the estimates. Thresholds need no time for inferring.",
        "Models are trained on 80 % of the training set. A label without an estimate is never predicted.",
        "Lost expected F: a bound on the loss of exact methods if missing estimates are below the minimum probability.",
        "The method 'GFM, sizes learned' is not in gfm2011. It learns the number of labels from the validation set.",
        timeouts,
    ),
    caption="Instance-F on the test set. The best threshold has the highest instance-F on the validation set.",
)
