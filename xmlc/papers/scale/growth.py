"""The table of growth: costs of training and ranking as one number of a dataset is multiplied."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.records.ranking import RankingRecord
from xmlc.records.ranking import frame as ranking_frame
from xmlc.suites.needs import GROWTH
from xmlc.tables.table import Panel, Published, Table, average_seeds, csv_frame, notes, side_by_side, table
from xmlc.tables.titles import model_title

GROWTH_KEYS = ("model", "dataset")
COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb")
BASE = re.compile(r"(?P<family>.+)-base")
MULTIPLE = re.compile(r"(?P<family>.+)-(?P<what>[a-z]+)-x(?P<factor>\d+)")
RATIO = "_ratio"
NOTHING = "base"


@table("growth", GROWTH_KEYS, GROWTH)
def growth(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build the table of growth from ranking records of ``<family>-base`` and ``<family>-<what>-x<factor>``."""
    frame = average_seeds(ranking_frame(records), GROWTH_KEYS)
    frame = frame.assign(multiplied=[multiplied(name) for name in frame["dataset"]])
    bases = {model: _base(model, rows) for model, rows in frame.groupby("model", sort=False)}
    for name in COSTS:
        denominators = [bases[model][name] for model in frame["model"]]
        frame[name + RATIO] = frame[name] / denominators
    measured = [name + end for name in COSTS for end in ("", RATIO)]
    shape = ("n_train", "d", "m", "labels_per_instance")
    wanted = ("multiplied", *shape, *measured, "p@1", "inner_products", "train_threads", "predict_threads")
    frame = csv_frame(frame, GROWTH_KEYS, wanted)
    panels = []
    for model, rows in frame.groupby("model", sort=False):
        printed = [side_by_side(rows, published, name, contest="") for name in measured]
        panels.append(Panel(model_title(model), rows, ("multiplied",), printed))
    base = frame[frame["multiplied"] == NOTHING].iloc[0]
    caption = (
        "How costs grow when one number of a dataset is multiplied and all others stay. The base has "
        f"{base['n_train']:,.0f} training instances (n), {base['d']:,.0f} features (d), {base['m']:,.0f} labels (m) "
        f"and {base['labels_per_instance']:.1f} labels per instance. Training is on the whole training set, prediction "
        "predicts the five best labels of a test instance; a ratio is to the base of the same model. MB are 10^6 "
        "bytes; peak memory is that of the process, which holds the program itself too."
    )
    threads = [record.costs.train_threads for record in records]
    return Table("growth", paper, GROWTH_KEYS, frame, caption, panels, notes(paper, records, threads, panels))


def multiplied(dataset: str) -> str:
    """Say what of the base a dataset multiplies by how much, such as ``n x 2``, or that it is the base.

    Raises
    ------
    XmlcError
        The name contains neither.
    """
    if BASE.fullmatch(dataset):
        return NOTHING
    match = MULTIPLE.fullmatch(dataset)
    if match is None:
        raise XmlcError(f"dataset {dataset!r}: expected a name such as growth-base or growth-n-x2")
    return f"{match['what']} x {match['factor']}"


def _base(model: str, rows: pd.DataFrame) -> pd.Series:
    base = rows[rows["multiplied"] == NOTHING]
    if len(base) != 1:
        found = ", ".join(base["dataset"]) or "none"
        raise XmlcError(f"{model}: found {found} to compare with; expected one dataset whose name ends in -base")
    return base.iloc[0]
