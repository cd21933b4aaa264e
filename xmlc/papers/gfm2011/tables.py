"""Tables of label sets that are inferred instance by instance: Table 1 of gfm2011, and instance-F from estimates."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.metrics.measures import FURTHER_SET_METRICS, SET_METRICS
from xmlc.papers.gfm2011.claims import claims as claims
from xmlc.papers.tables.table import Panel, Published, Table, average_seeds, csv_frame, notes, side_by_side, table
from xmlc.papers.tables.titles import method_title, model_title
from xmlc.records.inference import InferenceRecord
from xmlc.records.inference import frame as inference_frame
from xmlc.suites.needs import INFERRED_FROM_MODELS

INFERENCE_KEYS = ("dataset", "model", "method")
SIZES = ("m", "n_train", "n_test")
MEASURED = ("hamming_loss", "macro_f", "micro_f", "instance_f", "inference_seconds")
COSTS = ("draw_ms", "estimate_ms", "infer_ms", "inference_threads")
THRESHOLD = "for-instance-f"  # the best common threshold: what a label set inferred for each instance must beat
THRESHOLD_TITLE = "best threshold"
PRINTED = ("instance_f", "expected_f", "floor_loss", "predicted_per_instance", "infer_ms", "estimate_ms")

INSTANCE_F_CONVENTION = (
    "F is the mean over the instances of the test set, where two empty sets count 1 (0/0 = 1, gfm2011's equation 1)."
)


@table("table1", INFERENCE_KEYS, INFERRED_FROM_MODELS)
def table1(paper: str, records: Sequence[InferenceRecord], published: Published) -> Table:
    """Build Table 1 of gfm2011: scores and times of each inference method on each dataset."""
    averaged = average_seeds(inference_frame(records), INFERENCE_KEYS)
    unprinted = (name for name in (*SET_METRICS, *FURTHER_SET_METRICS) if name not in MEASURED)
    others = ("expected_f", *unprinted, "predicted_per_instance")
    frame = csv_frame(averaged, INFERENCE_KEYS, (*MEASURED, *COSTS, *others, *SIZES, "note"))
    panels = [_sizes(frame, published)]
    for dataset, rows in frame.groupby("dataset", sort=False):
        headings = ("Hamming loss (%)", "Macro-F (%)", "Micro-F (%)", "F (%)", "Inference (s)")
        columns = [
            side_by_side(rows, published, name, heading, contest="" if name == "inference_seconds" else None)
            for name, heading in zip(MEASURED, headings, strict=True)
        ]
        panels.append(Panel(str(dataset), with_method_titles(rows), ("model", "method"), columns))
    caption = (
        "Label sets that are inferred for each instance of the test set from what a model estimates, and the time that "
        "takes: drawing label vectors from the model, or estimating marginals, and inferring. From samples of a "
        "classifier chain (PCC) GFM and GFM-T take the joint distribution, H and MEUF the marginals; a model of single "
        f"labels (BR) has only these. {INSTANCE_F_CONVENTION} Macro-F is the mean over all m labels, likewise with "
        "0/0 = 1. MEUF, as published, has the cubic inner maximisation that the paper's times are about; MEUF below it "
        "finds the same sets in O(m^2)."
    )
    footnotes = notes(paper, records, [record.costs.threads for record in records], panels)
    footnotes += _drawn(records) + timeout_notes(records)
    return Table("table1", paper, INFERENCE_KEYS, frame, caption, panels, footnotes)


def _sizes(frame: pd.DataFrame, published: Published) -> Panel:
    datasets, about = frame.drop_duplicates("dataset"), published.keyed_by("dataset")
    return Panel("Datasets", datasets, ("dataset",), [side_by_side(datasets, about, name) for name in SIZES])


def with_method_titles(rows: pd.DataFrame) -> pd.DataFrame:
    """Give methods their names in print."""
    titles = {THRESHOLD: THRESHOLD_TITLE}
    return rows.assign(method=[titles.get(name) or method_title(name) for name in rows["method"]])


def _drawn(records: Sequence[InferenceRecord]) -> list[str]:
    """Say how many samples were drawn, and by whom."""
    drawn: dict[float, list[str]] = {}
    for record in records:
        if record.samples is not None:
            drawn.setdefault(record.samples, []).append(model_title(record.model))
    return [f"Samples drawn for each instance from {', '.join(dict.fromkeys(who))}: {n:g}." for n, who in drawn.items()]


def timeout_notes(records: Sequence[InferenceRecord]) -> list[str]:
    """Say where a dash means that the clock ran out."""
    lines: dict[str, list[str]] = {}
    for record in records:
        if not record.finished:
            where = f"{record.dataset.name} with {model_title(record.model)} {method_title(record.method)}"
            lines.setdefault(f"{record.time_limit:g} s", []).append(where)
    return [f"A dash: stopped after {limit}, on {'; '.join(dict.fromkeys(where))}." for limit, where in lines.items()]
