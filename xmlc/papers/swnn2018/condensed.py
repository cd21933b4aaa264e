"""What a nearest-neighbour index loses when near-duplicates are left out of it: the open point of swnn2018."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xmlc.records.reading import DATASET_COLUMNS
from xmlc.suites.needs import CONDENSED
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Records, Table, csv_frame, table

CONDENSED_KEYS = ("dataset", "model", "similarity")
PRINTED = ("instances", "instances_share", "index_mb", "index_share", "p@1", "p@3", "p@5", "predict_ms")
WHOLE = "all"


@table("condensed", CONDENSED_KEYS, CONDENSED)
def condensed(paper: str, records: Records, published: Published) -> Table:
    """Build the table of quality against size: a row for each similarity from which on instances are left out."""
    found = pd.DataFrame([row for record in records for row in condensed_rows(record)])
    frame = csv_frame(average_seeds(found, CONDENSED_KEYS), CONDENSED_KEYS, (*PRINTED, "predict_threads"))
    columns = [side_by_side(frame, published, name, contest="") for name in PRINTED]
    caption = (
        "Quality against size when instances are left out of the index for which another one with exactly the same "
        "label set stands, whose cosine similarity to them is at least so much; the open point of the paper's "
        "Conclusion. All: nothing is left out. Hyperparameters are those chosen for the whole training set. Index: "
        "the training instances by feature and by row, and their label sets, in memory. P@k is on the test set."
    )
    panels = [Panel("", frame, CONDENSED_KEYS, columns)]
    footnotes = notes(paper, records, "predict_threads", panels)
    return Table("condensed", paper, CONDENSED_KEYS, frame, caption, panels, footnotes)


def condensed_rows(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of one record, with the columns of the table."""
    whole = record["rows"][0]
    common = {"dataset": record["dataset"]["name"], "model": record["model"], "seed": record["seed"]}
    common |= {name: record["dataset"][name] for name in DATASET_COLUMNS}
    return [
        common
        | {
            "similarity": WHOLE if row["similarity"] is None else f"{row['similarity']:g}",
            "instances": row["instances"],
            "instances_share": 100 * row["instances"] / whole["instances"],
            "index_mb": row["index_bytes"] * 1e-6,
            "index_share": 100 * row["index_bytes"] / whole["index_bytes"],
            "predict_ms": row["predict_ms_per_instance"],
            "predict_threads": record["costs"]["predict_threads"],
        }
        | {name: 100 * value for name, value in row["metrics"].items()}
        for row in record["rows"]
    ]
