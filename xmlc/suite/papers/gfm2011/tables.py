"""Table 1 of gfm2011: label sets that are inferred for each instance."""

from __future__ import annotations

from xmlc.metrics.measures import FURTHER_SET_METRICS, SET_METRICS
from xmlc.suite.config.planned import INFERRED
from xmlc.suite.papers.common.tables import INSTANCE_F_CONVENTION, METHOD_KEYS, timeouts
from xmlc.suite.papers.gfm2011.claims import claims as claims
from xmlc.suite.papers.tables import Table, TableSpec, columns, datasets
from xmlc.suite.results.titles import model_title

SIZES = ("m", "n_train", "n_test")
MEASURED = ("hamming_loss", "macro_f", "micro_f", "instance_f", "inference_seconds")


def _drawn(table: Table) -> list[str]:
    drawn = table.numbers[table.numbers["quantity"] == "samples"].dropna(subset="value")
    notes = []
    for samples, numbers in drawn.groupby("value", sort=False):
        models = map(model_title, numbers["model"].unique())
        notes.append(f"Samples drawn for each instance from {', '.join(models)}: {samples:g}.")
    return notes


table1 = TableSpec(
    name="table1",
    needs=(INFERRED,),
    keys=METHOD_KEYS,
    columns=(
        *(*MEASURED, "draw_ms", "estimate_ms", "infer_ms", "inference_threads", "expected_f"),
        *SET_METRICS,
        *FURTHER_SET_METRICS,
        *("predicted_per_instance", *SIZES, "note"),
    ),
    panels=(
        datasets(*SIZES),
        columns(
            "",
            *MEASURED,
            each="dataset",
            names=("model", "method"),
            headings={"instance_f": "F (%)", "inference_seconds": "Inference (s)"},
            contests={name: name for name in MEASURED if name != "inference_seconds"},
        ),
    ),
    notes=(
        "GFM and GFM-T use the joint distribution of PCC, a classifier chain. H and MEUF use "
        "marginal probabilities.",
        "BR has one classifier for each label, and therefore only marginals.",
        INSTANCE_F_CONVENTION,
        "Macro-F is the mean over all m labels, with 0/0 = 1.",
        "MEUF finds the same label sets as the published procedure, but in O(m^2) instead of "
        "O(m^3) steps.",
        _drawn,
        timeouts,
    ),
    caption="Label sets inferred from a model's estimates. The time contains sampling or "
    "estimating, and inference.",
)
