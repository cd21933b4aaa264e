"""What a nearest-neighbour index loses when near-duplicates are left out of it: the open point of swnn2018."""

from __future__ import annotations

from collections.abc import Sequence

from xmlc.records.condensed import CondensedRecord
from xmlc.records.condensed import frame as condensed_frame
from xmlc.suites.needs import CONDENSED
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table

CONDENSED_KEYS = ("dataset", "model", "similarity")
PRINTED = ("instances", "instances_share", "index_mb", "index_share", "p@1", "p@3", "p@5", "predict_ms")


@table("condensed", CONDENSED_KEYS, CONDENSED)
def condensed(paper: str, records: Sequence[CondensedRecord], published: Published) -> Table:
    """Build the table of quality against size: a row for each similarity from which on instances are left out."""
    found = condensed_frame(records)
    frame = csv_frame(average_seeds(found, CONDENSED_KEYS), CONDENSED_KEYS, (*PRINTED, "predict_threads"))
    columns = [side_by_side(frame, published, name, contest="") for name in PRINTED]
    caption = (
        "Quality against size when instances are left out of the index for which another one with exactly the same "
        "label set stands, whose cosine similarity to them is at least so much; the open point of the paper's "
        "Conclusion. All: nothing is left out. Hyperparameters are those chosen for the whole training set. Index: "
        "the training instances by feature and by row, and their label sets, in memory. P@k is on the test set."
    )
    panels = [Panel("", frame, CONDENSED_KEYS, columns)]
    footnotes = notes(paper, records, [record.costs.predict_threads for record in records], panels)
    return Table("condensed", paper, CONDENSED_KEYS, frame, caption, panels, footnotes)
