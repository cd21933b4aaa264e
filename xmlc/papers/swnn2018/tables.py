"""Table 6 of swnn2018: precision of the sparse weighted nearest-neighbour method, its hyperparameters and its cost."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xmlc.metrics.measures import MAXIMA
from xmlc.records.reading import ranking_frame
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Records, Table, csv_frame
from xmlc.tables.titles import model_title

NEAREST_KEYS = ("dataset", "model")
PRECISION = ("p@1", "p@3", "p@5")
HYPERPARAMETERS = ("S", "alpha", "beta")
SEARCHED = ("validation_p@1", "trials")
COSTS = ("predict_ms", "model_mb", "train_seconds", "predict_threads")
OURS = "swnn-searched"  # every other model that the paper prints it quotes itself


def nearest_table(paper: str, records: Records, published: Published) -> Table:
    """Build Table 6 of swnn2018: P@k beside its maximum, the chosen hyperparameters, what ranking costs.

    Below stands what the paper prints of datasets that were not run, and of other methods, which it quotes.
    """
    found = ranking_frame(records).assign(**_chosen(records))
    wanted = (*PRECISION, *MAXIMA, *HYPERPARAMETERS, *SEARCHED, *COSTS, "train_threads")
    frame = csv_frame(average_seeds(found, NEAREST_KEYS), NEAREST_KEYS, wanted)
    parts = (
        ("Precision on the test set", (*PRECISION, *MAXIMA)),
        ("Hyperparameters, chosen on the validation set", (*HYPERPARAMETERS, *SEARCHED)),
        ("Cost", COSTS),
    )
    panels = [
        Panel(title, frame, NEAREST_KEYS, [side_by_side(frame, published, name, contest="") for name in names])
        for title, names in parts
    ]
    caption = (
        "Precision of the sparse weighted nearest-neighbour method on the test set, and the maximum that any ranking "
        "can reach: the mean of min(|y|, k) / k. S, alpha and beta are chosen without the test set, by P@1 on the 20 % "
        "of the training set that validation holds, in the paper's two stages: six pairs (alpha, beta) with S the "
        "average number of labels per instance, then the best pair with S = 25, 50, 75 as well; of equal ones the "
        "first. Then the whole training set is indexed, which is all the training there is: its time is without "
        "reading and writing files, the paper's (1 min at most) with them. Model: the index and the label sets, on "
        "disk. Predict: the time of ranking per test instance."
    )
    footnotes = notes(paper, records, "predict_threads", panels)
    return Table("table6", paper, NEAREST_KEYS, frame, caption, [*panels, *_quoted(frame, published)], footnotes)


def _chosen(records: Records) -> dict[str, list[Any]]:
    """Return columns of the hyperparameters and of the search that found them, where there was one."""
    columns = {name: [record["hyperparameters"].get(name) for record in records] for name in HYPERPARAMETERS}
    searches = [record.get("tuning") or {} for record in records]
    columns["validation_p@1"] = [100 * search["p@1"] if search else None for search in searches]
    columns["trials"] = [search.get("budget") for search in searches]
    return columns


def _quoted(frame: pd.DataFrame, published: Published) -> list[Panel]:
    """Return a panel of what the paper prints and no row of ours stands beside."""
    rows = published.frame()
    if len(rows) == 0:
        return []
    measured = set(frame[list(NEAREST_KEYS)].itertuples(index=False, name=None))
    keys = rows[list(NEAREST_KEYS)].itertuples(index=False, name=None)
    rows = rows[[key not in measured for key in keys]].reset_index(drop=True)
    if len(rows) == 0:
        return []
    titles = [model_title(name) + ", quoted by the paper" * (name != OURS) for name in rows["model"]]
    nothing = Published({}, NEAREST_KEYS)
    names = (*PRECISION, *MAXIMA, *HYPERPARAMETERS, "predict_ms")
    columns = [side_by_side(rows, nothing, name, contest="") for name in names if name in rows]
    return [Panel("Printed in the paper", rows.assign(model=titles), NEAREST_KEYS, columns)]
