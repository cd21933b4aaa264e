"""Tables of label sets that are inferred instance by instance: Table 1 of gfm2011, and instance-F from estimates."""

from __future__ import annotations

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.metrics.measures import FURTHER_SET_METRICS, SET_METRICS
from xmlc.records.reading import ESTIMATES, inference_frame, threshold_frame
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Records, Table, csv_frame
from xmlc.tables.titles import method_title, model_title

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


def inference_table(paper: str, records: Records, published: Published) -> Table:
    """Build Table 1 of gfm2011: what each inference method reaches on each dataset, and how long it takes."""
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
        panels.append(Panel(str(dataset), _titled(rows), ("model", "method"), columns))
    caption = (
        "Label sets that are inferred for each instance of the test set from what a model estimates, and the time that "
        "takes: drawing label vectors from the model, or estimating marginals, and inferring. From samples of a "
        "classifier chain (PCC) GFM and GFM-T take the joint distribution, H and MEUF the marginals; a model of single "
        f"labels (BR) has only these. {INSTANCE_F_CONVENTION} Macro-F is the mean over all m labels, likewise with "
        "0/0 = 1. MEUF, as published, has the cubic inner maximisation that the paper's times are about; MEUF below it "
        "finds the same sets in O(m^2)."
    )
    footnotes = notes(paper, records, "threads", panels) + _drawn(records) + _stopped(records) + _zero_division(frame)
    return Table("table1", paper, INFERENCE_KEYS, frame, caption, panels, footnotes)


def _sizes(frame: pd.DataFrame, published: Published) -> Panel:
    datasets, about = frame.drop_duplicates("dataset"), published.about("dataset")
    return Panel("Datasets", datasets, ("dataset",), [side_by_side(datasets, about, name) for name in SIZES])


def _titled(rows: pd.DataFrame) -> pd.DataFrame:
    titles = {THRESHOLD: THRESHOLD_TITLE}
    return rows.assign(method=[titles.get(name) or method_title(name) for name in rows["method"]])


def _drawn(records: Records) -> list[str]:
    """Say how many samples were drawn, and by whom."""
    drawn: dict[float, list[str]] = {}
    for record in records:
        if record["samples"] is not None:
            drawn.setdefault(record["samples"], []).append(model_title(record["model"]))
    return [f"Samples drawn for each instance from {', '.join(dict.fromkeys(who))}: {n:g}." for n, who in drawn.items()]


def _stopped(records: Records) -> list[str]:
    """Say where a dash means that the clock ran out."""
    lines: dict[str, list[str]] = {}
    for record in records:
        if not record["finished"]:
            where = f"{record['dataset']['name']} with {model_title(record['model'])} {method_title(record['method'])}"
            lines.setdefault(f"{record['time_limit']:g} s", []).append(where)
    return [f"A dash: stopped after {limit}, on {'; '.join(dict.fromkeys(where))}." for limit, where in lines.items()]


def _zero_division(frame: pd.DataFrame) -> list[str]:
    """Say whether the convention of 0/0 decides anything about macro-F."""
    finished = frame[frame["macro_f"].notna()]
    decided = finished.loc[finished["macro_f"] != finished["macro_f_zero"], "dataset"].unique().tolist()
    same = [name for name in finished["dataset"].unique() if name not in decided]
    lines = []
    if same:
        lines.append(
            f"On {', '.join(same)} no label is without positives and predictions: macro-F is one number whatever 0/0 "
            "counts."
        )
    if decided:
        lines.append(f"On {', '.join(decided)} 0/0 counts; macro-F with 0/0 = 0 is in the CSV.")
    return lines


def instance_f_table(paper: str, records: Records, published: Published, thresholds: Records) -> Table:
    """Build the table of instance-F from sparse estimates: inferring for each instance, against one best threshold.

    Raises
    ------
    XmlcError
        No record has estimates with a floor.
    """
    records = [record for record in records if record["estimates"] is not None]
    if not records:
        raise XmlcError(
            "instance-f: no record tells of estimates with a floor; expected those of `xmlc infer --estimates`"
        )
    inferred = average_seeds(inference_frame(records), INFERENCE_KEYS)
    averaged = _beside(inferred, [record for record in thresholds if record["method"] == THRESHOLD])
    others = ("micro_f", "macro_f", "hamming_loss", "inference_threads", *ESTIMATES, "m", "note")
    frame = csv_frame(averaged, INFERENCE_KEYS, (*PRINTED, *others))
    panels = [_of_model(model, frame[frame["model"] == model], published) for model in frame["model"].unique()]
    estimated = inferred.drop_duplicates(["dataset", "model"])
    about = [side_by_side(estimated, published, name, contest="") for name in ("m", *ESTIMATES)]
    panels.append(Panel("Estimates that they are inferred from", estimated, ("dataset", "model"), about))
    caption = (
        "Instance-F on the test set of label sets that are inferred for each instance from a model's sparse estimates, "
        "taken as marginals of independent labels, beside the one threshold for all labels that has the highest "
        f"instance-F on the validation set. {INSTANCE_F_CONVENTION} Expected F is what a method believes to reach. "
        "Inferring is what the label sets take once the estimates are there; a threshold takes nothing besides. Models "
        "are trained on 80 % of the training set. A label without an estimate counts as one that an instance cannot "
        "have; the last panel says how many true labels that concerns. What it costs an exact maximiser in expected F "
        "is bounded, provided that no such label is more probable than the floor. GFM with sizes learned takes labels "
        "as independent but for their number, which it knows from the validation set; that is not in gfm2011."
    )
    footnotes = notes(paper, records, "threads", panels, best_of="each model and dataset") + _stopped(records)
    return Table("instance-f", paper, INFERENCE_KEYS, frame, caption, panels, footnotes)


def _beside(inferred: pd.DataFrame, thresholds: Records) -> pd.DataFrame:
    """Put the best threshold's row before the inferred ones of the same dataset and model."""
    if not thresholds:
        return inferred
    names = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}
    best = average_seeds(threshold_frame(thresholds), INFERENCE_KEYS).rename(columns=names)
    pairs = list(dict.fromkeys(inferred[["dataset", "model"]].itertuples(index=False, name=None)))
    places = {pair: place for place, pair in enumerate(pairs)}
    both = pd.concat([best, inferred], ignore_index=True)
    both["place"] = [places.get(pair) for pair in both[["dataset", "model"]].itertuples(index=False, name=None)]
    return both.dropna(subset="place").sort_values("place", kind="stable").drop(columns="place")


def _of_model(model: str, rows: pd.DataFrame, published: Published) -> Panel:
    """Return one model's rows; the best is sought among what was measured on the test set."""
    columns = [side_by_side(rows, published, name, contest=name if name == "instance_f" else "") for name in PRINTED]
    return Panel(model_title(model), _titled(rows), ("dataset", "method"), columns)
