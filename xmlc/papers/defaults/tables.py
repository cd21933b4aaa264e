"""The table of the suite defaults: P@1 of estimators as they come, by dataset."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.papers.tables.table import (
    Panel,
    PanelColumn,
    Published,
    Table,
    average_seeds,
    csv_frame,
    notes,
    side_by_side,
    table,
)
from xmlc.papers.tables.titles import model_title
from xmlc.records import ranking
from xmlc.records.ranking import RankingRecord
from xmlc.suites.needs import RANKINGS

KEYS = ("dataset", "model")
SCORE = "p@1"
# What nobody should be far behind, with hyperparameters of their own that fit many datasets.
BASELINES = ("plt-adagrad-default", "napkinxc-plt-default")


@table("defaults", KEYS, RANKINGS)
def defaults(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build the table of defaults: P@1 by dataset and model, then means and how far each is behind the baselines."""
    averaged = average_seeds(ranking.frame(records), KEYS)
    wanted = ("n_train", "d", "m", "labels_per_instance", SCORE, "p@3", "p@5", "train_seconds", "train_threads")
    frame = csv_frame(averaged, KEYS, wanted)
    by_dataset = Panel("P@1 on the test set (%)", frame.drop_duplicates("dataset"), ("dataset",), _by_model(frame))
    summary = summarised(frame)
    over_all = [side_by_side(summary, Published({}, ("model",)), name, contest="") for name in summary.columns[1:]]
    panels = [by_dataset, Panel("Over all datasets", summary, ("model",), over_all)]
    baselines = " and ".join(model_title(name) for name in BASELINES)
    caption = (
        "What models reach without values for the dataset: the estimators' own defaults, or those that tuning: auto "
        "finds on the training set. How far a model is behind is the difference of its P@1 to the better of "
        f"{baselines}, where it is largest. Means are over all datasets, of models that were run on all."
    )
    threads = [record.costs.train_threads for record in records]
    return Table("defaults", paper, KEYS, frame, caption, panels, notes(paper, records, threads, panels))


def _by_model(frame: pd.DataFrame) -> list[PanelColumn]:
    """Return a column for each model, a row for each dataset."""
    columns = []
    for model in frame["model"].unique():
        cells = frame[["dataset"]].drop_duplicates().merge(frame[frame["model"] == model], how="left", on="dataset")
        cells["model"] = model
        columns.append(side_by_side(cells, Published({}, KEYS), SCORE, heading=model_title(model)))
    return columns


def summarised(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for each model its mean P@1, the most points that it is behind the better baseline, and where.

    A model that was not run on all datasets has no mean; a dataset without a baseline is left out of the comparison.
    """
    scores = frame.pivot(index="dataset", columns="model", values=SCORE).reindex(frame["dataset"].unique())
    present = [name for name in BASELINES if name in scores]
    rows = []
    for model in frame["model"].unique():
        others = [name for name in present if name != model]
        behind = (scores[others].max(axis=1) - scores[model]).dropna() if others else pd.Series(dtype=float)
        worst = behind.idxmax() if len(behind) else None
        rows.append(
            {
                "model": model,
                "mean_p@1": scores[model].mean(skipna=False),
                "behind": behind[worst] if worst is not None else None,
                "behind_on": worst,
            }
        )
    return pd.DataFrame(rows)
