"""Instance-F of label sets inferred from sparse estimates, against one best threshold for all labels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.papers.gfm2011.tables import (
    INFERENCE_KEYS,
    INSTANCE_F_CONVENTION,
    PRINTED,
    THRESHOLD,
    stopped,
    titled,
)
from xmlc.records.inference import ESTIMATES, InferenceRecord
from xmlc.records.inference import frame as inference_frame
from xmlc.records.thresholds import ThresholdRecord
from xmlc.records.thresholds import frame as threshold_frame
from xmlc.suites.needs import BEST_INSTANCE_F, INFERRED_FROM_ESTIMATES
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table
from xmlc.tables.titles import model_title


@table("instance-f", INFERENCE_KEYS, INFERRED_FROM_ESTIMATES, BEST_INSTANCE_F)
def instance_f(
    paper: str, records: Sequence[InferenceRecord], published: Published, thresholds: Sequence[ThresholdRecord]
) -> Table:
    """Build the table of instance-F from sparse estimates: inferring for each instance, against one best threshold.

    Raises
    ------
    XmlcError
        No record has estimates with a floor.
    """
    records = [record for record in records if record.estimates is not None]
    if not records:
        raise XmlcError(
            "instance-f: no record is of estimates with a floor; expected those of `xmlc infer --estimates`"
        )
    inferred = average_seeds(inference_frame(records), INFERENCE_KEYS)
    averaged = _beside(inferred, [record for record in thresholds if record.method == THRESHOLD])
    others = ("micro_f", "macro_f", "hamming_loss", "inference_threads", *ESTIMATES, "m", "note")
    frame = csv_frame(averaged, INFERENCE_KEYS, (*PRINTED, *others))
    panels = [_of_model(model, frame[frame["model"] == model], published) for model in frame["model"].unique()]
    estimated = inferred.drop_duplicates(["dataset", "model"])
    about = [side_by_side(estimated, published, name, contest="") for name in ("m", *ESTIMATES)]
    panels.append(Panel("Estimates that they are inferred from", estimated, ("dataset", "model"), about))
    caption = (
        "Instance-F on the test set of label sets that are inferred for each instance from a model's sparse estimates, "
        "taken as marginals of independent labels, beside the one threshold for all labels that has the highest "
        f"instance-F on the validation set. {INSTANCE_F_CONVENTION} Expected F is the F-measure that a method expects "
        "under the model's distribution. Inferring is the time of finding the label sets from the estimates; a "
        "threshold takes no time of its own. Models are trained on 80 % of the training set. A label without an "
        "estimate counts as one that an instance cannot have; the last panel says how many true labels that concerns. "
        "The loss of an exact maximiser in expected F is bounded, provided that no such label is more probable than "
        "the floor. GFM with sizes learned takes labels as independent but for their number, whose distribution it "
        "learns from the validation set; that is not in gfm2011."
    )
    threads = [record.costs.threads for record in records]
    footnotes = notes(paper, records, threads, panels, best_of="each model and dataset") + stopped(records)
    return Table("instance-f", paper, INFERENCE_KEYS, frame, caption, panels, footnotes)


def _beside(inferred: pd.DataFrame, thresholds: Sequence[ThresholdRecord]) -> pd.DataFrame:
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
    return Panel(model_title(model), titled(rows), ("dataset", "method"), columns)
