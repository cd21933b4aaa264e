"""Tables of ldsm2020: precision and costs beside the paper's printed and quoted ones, and the shape of the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from xmlc.papers.ldsm2020.claims import claims as claims
from xmlc.papers.tables.table import (
    AVERAGES,
    NOT_PRINTED,
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
    table,
)
from xmlc.papers.tables.titles import model_title
from xmlc.records import forest, statistics
from xmlc.records.forest import ForestRecord
from xmlc.records.ranking import RankingRecord
from xmlc.records.ranking import frame as ranking_frame
from xmlc.records.statistics import Statistics
from xmlc.suites.needs import ENSEMBLES, RANKINGS, STATISTICS

LDSM_KEYS, TREE_KEYS = ("dataset", "model"), ("dataset",)
SCORES = tuple(f"{metric}@{k}" for metric in ("p", "ndcg") for k in (1, 3, 5))
PREDICTION = ("predict_ms", "inner_products", "model_mb")
TRAINING = ("train_seconds", "train_peak_mb")
OURS = "ldsm"  # every other model that the paper prints it quotes itself
TREE_BASED = ("lpsr", "plt", "gbdt-s", "craftml", "fastxml", "pfastrexml", OURS, "ldsm-mean")
QUOTED = "Quoted: the paper prints numbers of other methods as their own papers or the repository have them."


SCOPES = {True: "Methods that are purely trees. ", False: "All methods. ", None: ""}


def _ranking_table(
    name: str,
    names: Sequence[str],
    about: str,
    threads: str,
    only_trees: bool | None,
    printed_in: tuple[str, ...] = (),
) -> TableDefinition:
    """Declare a table of rankings: a panel for each dataset that was run, then one of the others."""
    needed = replace(RANKINGS, models=TREE_BASED.__contains__) if only_trees else RANKINGS

    @table(name, LDSM_KEYS, needed, printed_in=printed_in, measured_models=(OURS,))
    def build(paper: str, records: Sequence[RankingRecord], published: Published) -> Table:
        if only_trees:
            published = published.of_models(TREE_BASED)
        found = ranking_frame(records).assign(n_trees=[record.hyperparameters.get("n_trees") for record in records])
        frame = csv_frame(
            average_seeds(found, LDSM_KEYS), LDSM_KEYS, (*names, "n_trees", "train_threads", "predict_threads")
        )
        panels = [_panel(dataset, rows, published, names) for dataset, rows in frame.groupby("dataset", sort=False)]
        panels += papers_others(published, frame, names, by=["dataset"], own=OURS)
        footnotes = notes(paper, records, [getattr(record.costs, threads) for record in records], panels)
        caption = f"{about} {SCOPES[only_trees]}{QUOTED}"
        return Table(name, paper, LDSM_KEYS, frame, caption, panels, footnotes)

    return build


# Tables 1 and 2 are about methods that are purely trees, Tables 7 and 5 about all.
PRECISION = SCORES, "Precision@k and nDCG@k on the test set, trained on the whole training set.", "train_threads"
PREDICTED = (
    PREDICTION,
    "Milliseconds per test instance of finding its five best labels, inner products per test instance, and the "
    "size of the model on disk.",
    "predict_threads",
)
TRAINED = TRAINING, "Seconds of training on the whole training set, without reading and writing files.", "train_threads"
table1 = _ranking_table("table1", *PRECISION, only_trees=True, printed_in=("table7",))
table2 = _ranking_table("table2", *PREDICTED, only_trees=True, printed_in=("table5", "table2"))
table5 = _ranking_table("table5", *PREDICTED, only_trees=False)
table6 = _ranking_table("table6", *TRAINED, only_trees=None)
table7 = _ranking_table("table7", *PRECISION, only_trees=False)


@table("table3", SUMMARY_KEYS, STATISTICS)
def table3(paper: str, records: Sequence[Statistics], published: Published) -> Table:
    """Build Table 3 of ldsm2020: sizes of the datasets, average numbers of labels and of instances of a label."""
    frame = statistics.frame(records)[["dataset", "d", "m", "n_train", "n_test", *AVERAGES]]
    caption = (
        "The datasets: features, labels, training and test instances, and the averages of labels per instance and of "
        "instances per label over the training set. The paper's instances per label of Mediamill, Bibtex, Delicious "
        "and Eurlex are over training and test set together."
    )
    return dataset_table("table3", paper, records, published, frame, caption)


def _panel(dataset: str, measured: pd.DataFrame, published: Published, names: Sequence[str]) -> Panel:
    """Put measurements on a dataset, beside the paper's, over methods that it only quotes."""
    models = set(measured["model"])
    others = [(own, model) for own, model in published.rows() if own == dataset and model not in models]
    printed = [key for key in others if any(published.value(key, name) not in NOT_PRINTED for name in names)]
    frames = [measured, pd.DataFrame(printed, columns=list(LDSM_KEYS))] if printed else [measured]
    rows = pd.concat(frames, ignore_index=True)
    columns = [_without_dashes(side_by_side(rows, published, name)) for name in ("n_trees", *names)]
    titles = [_title(model, model not in models) for model in rows["model"]]
    return Panel(dataset, rows.assign(model=titles), ("model",), columns)


def _without_dashes(part: PanelColumn) -> PanelColumn:
    """Treat the paper's dashes as cells that it does not print."""
    printed = [None if text in NOT_PRINTED else text for text in part.published or []]
    return replace(part, published=printed if any(printed) else None)


def _title(model: str, quoted: bool) -> str:
    if not quoted:
        return model_title(model)
    return f"{model_title(model)}, {'not run' if model == OURS else 'quoted'}"


@table("table4", TREE_KEYS, replace(ENSEMBLES, models=OURS.__eq__))
def table4(paper: str, records: Sequence[ForestRecord], published: Published) -> Table:
    """Build Table 4 of ldsm2020: depth of the deepest tree and arity, beside the depth of a balanced tree."""
    found = forest.frame(records).drop(columns="model")
    wanted = ("depth", "arity", "log_m", "depth_ratio", "nodes", "n_trees")
    frame = csv_frame(average_seeds(found, TREE_KEYS), TREE_KEYS, wanted)
    panels = [Panel("", frame, TREE_KEYS, [side_by_side(frame, published, name, contest="") for name in wanted])]
    panels += papers_others(published, frame, ("depth", "arity"))
    caption = (
        "Depth of the deepest tree of LdSM's ensemble, the root having depth 0, and arity M. log_M K: the depth of a "
        "balanced tree with a leaf for each of the K labels; the paper finds depths between 1 and 3 times that. "
        "Nodes: the mean over the trees, leaves included."
    )
    footnotes = notes(paper, records, (), panels) + _against_lemma_1(records)
    return Table("table4", paper, TREE_KEYS, frame, caption, panels, footnotes)


def lemma_1_holds(arity: float, lambda_1: float, lambda_2: float) -> bool:
    """Return whether Lemma 1 says of these settings which splits are best: M - 3 < lambda_2 / lambda_1."""
    return lambda_2 > (arity - 3) * lambda_1


def _against_lemma_1(records: Sequence[ForestRecord]) -> list[str]:
    """Return a footnote on settings for which Lemma 1 does not say that balanced and pure splits are best, if any."""
    found = {}
    for record in records:
        arity, lambda_1, lambda_2 = (record.setting(name) for name in ("arity", "lambda_1", "lambda_2"))
        if not lemma_1_holds(arity, lambda_1, lambda_2):
            found[record.dataset.name] = f"{arity:g}, {lambda_1:g}, {lambda_2:g}"
    if not found:
        return []
    return [
        "Lemma 1 needs lambda_2 > (M - 3) lambda_1; M, lambda_1, lambda_2 violate it on "
        + "; ".join(f"{name} ({values})" for name, values in found.items())
        + ": splits that send each label in two directions there have a J at most as large as balanced and pure ones."
    ]
