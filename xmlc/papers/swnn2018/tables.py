"""Tables of swnn2018: statistics of datasets (1-5), precision and costs (6), and smaller indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from xmlc.metrics.measures import MAXIMA
from xmlc.papers.swnn2018.claims import claims as claims
from xmlc.papers.tables.table import (
    SUMMARY_KEYS,
    Panel,
    PanelColumn,
    Published,
    Table,
    TableDefinition,
    average_seeds,
    csv_frame,
    dataset_table,
    notes,
    papers_others,
    side_by_side,
    summaries,
    table,
)
from xmlc.records import statistics
from xmlc.records.ranking import RankingRecord, search_of
from xmlc.records.ranking import frame as ranking_frame
from xmlc.records.statistics import Statistics
from xmlc.suites.needs import RANKINGS, STATISTICS

NEAREST_KEYS = ("dataset", "model")
PRECISION = ("p@1", "p@3", "p@5")
HYPERPARAMETERS = ("S", "alpha", "beta")
SEARCHED = ("validation_p@1", "trials")
COSTS = ("predict_ms", "model_mb", "train_seconds", "predict_threads")
OURS = "swnn-searched"  # every other model that the paper prints it quotes itself
CLOSE = 1.0  # points below the best quoted method that are comparable: "by approximately 1 %" (Section 4.3)


# Table: what of the training part it summarises, how its caption says so, and what never occurs there.
SUMMARISED = {
    "table2": (
        "instances_per_label_seen",
        "occurrences of a label, over the labels that occur in the training set",
        "labels",
    ),
    "table3": ("labels_per_instance", "labels of an instance, over all instances of the training set", None),
    "table4": (
        "activations_per_instance",
        "feature activations of an instance, over all instances of the training set, those without any included",
        None,
    ),
    "table5": (
        "occurrences_per_feature_seen",
        "occurrences of a feature, over the features that occur in the training set",
        "features",
    ),
}
PRINTED_DECIMALS = 2
QUARTILES = (
    "Quartiles interpolate linearly between order statistics; which of the usual definitions the paper follows it does "
    "not say, and it prints whole numbers."
)


@table("table1", SUMMARY_KEYS, STATISTICS)
def table1(paper: str, records: Sequence[Statistics], published: Published) -> Table:
    """Build Table 1 of swnn2018: number of features and instances of each dataset."""
    frame = statistics.frame(records)[["dataset", "d", "n_train", "n_test"]]
    caption = "The datasets: number of features, of training and of test instances."
    return dataset_table("table1", paper, records, published, frame, caption)


def summary_table(name: str) -> TableDefinition:
    """Declare one of Tables 2-5 of swnn2018: a five-number summary and the average of each dataset."""
    counted, text, what = SUMMARISED[name]

    @table(name, SUMMARY_KEYS, STATISTICS)
    def build(paper: str, records: Sequence[Statistics], published: Published) -> Table:
        frame = summaries(records, [counted]).drop(columns="variant")
        caption = f"Five-number summary and average of the number of {text}. {QUARTILES}"
        never = _left_out(records, what) if what else []
        return dataset_table(name, paper, records, published, frame, caption, PRINTED_DECIMALS, never)

    return build


table2, table3, table4, table5 = (summary_table(name) for name in SUMMARISED)


def _left_out(records: Sequence[Statistics], what: str) -> list[str]:
    """Say how many labels or features never occur in the training set and are in no number of the table."""
    never = {record.name: getattr(record.train, f"{what}_never_seen") for record in records}
    listed = ", ".join(f"{name} ({number})" for name, number in never.items() if number)
    return [f"Left out, because they never occur in the training set, are {what} of {listed}."] if listed else []


@table("table6", NEAREST_KEYS, RANKINGS, measured_models=(OURS,))
def table6(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
    """Build Table 6 of swnn2018: P@k beside its maximum, chosen hyperparameters, costs of ranking.

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
        Panel(title, frame, NEAREST_KEYS, [_column(frame, published, name) for name in names]) for title, names in parts
    ]
    caption = (
        "Precision of the sparse weighted nearest-neighbour method on the test set, and the maximum that any ranking "
        "can reach: the mean of min(|y|, k) / k. S, alpha and beta are chosen without the test set, by the mean of "
        "P@1, P@3 and P@5 on the 20 % of the training set that validation holds, over five splits, in the paper's two "
        "stages: six pairs (alpha, beta) with S the average number of labels per instance, then the best pairs with "
        "S = 25, 50, 75 as well; of equal ones the first. Then the whole training set is indexed, which is all the "
        "training there is: its time is without reading and writing files, the paper's (1 min at most) with them. "
        "Model: the index and the label sets, on disk. Predict: the time of ranking per test instance."
    )
    panels += papers_others(published, frame, (*PRECISION, *MAXIMA, *HYPERPARAMETERS, "predict_ms"), own=OURS)
    footnotes = notes(paper, records, [record.costs.predict_threads for record in records], panels)
    if any(any(column.bold) for panel in panels for column in panel.columns):
        footnotes.append(
            "Bold, as in the paper: precision of its method that is better than that of the methods that it quotes, or "
            "at most a point below the best of them."
        )
    return Table("table6", paper, NEAREST_KEYS, frame, caption, panels, footnotes)


def _column(rows: pd.DataFrame, published: Published, name: str) -> PanelColumn:
    """Return a printed column; precision is bold where the method is comparable with the best that is quoted."""
    found = side_by_side(rows, published, name, contest="")
    if name not in PRECISION:
        return found
    best: dict[str, float] = {}
    for dataset, model in published.rows():
        if model != OURS and (printed := published.value((dataset, model), name)):
            best[dataset] = max(best.get(dataset, 0.0), float(printed))
    return replace(
        found,
        bold=[
            model == OURS and dataset in best and round(float(value) - best[dataset], 2) >= -CLOSE
            for dataset, model, value in zip(rows["dataset"], rows["model"], rows[name], strict=True)
        ],
    )


def _chosen(records: Sequence[RankingRecord]) -> dict[str, list[object]]:
    """Return columns of the hyperparameters and of the search that found them, where there was one."""
    columns = {name: [record.hyperparameters.get(name) for record in records] for name in HYPERPARAMETERS}
    return columns | {name: [search_of(record).get(name) for record in records] for name in SEARCHED}
