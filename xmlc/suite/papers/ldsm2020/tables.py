"""Tables of ldsm2020: precision, costs and the shape of trees, next to the paper's numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xmlc.suite.config.planned import RANKINGS, Where
from xmlc.suite.papers.common.tables import MODEL_KEYS, PRECISION, THREADS
from xmlc.suite.papers.ldsm2020.claims import claims as claims
from xmlc.suite.papers.tables import Table, TableSpec, columns, not_run, table_of_datasets
from xmlc.suite.results.numbers import ABOUT

# The only model that the paper measured and did not quote
OURS = "ldsm"
TREE_BASED = ("lpsr", "plt", "gbdt-s", "craftml", "fastxml", "pfastrexml", OURS, "ldsm-mean")
TREES = Where("ranking", "full", models=TREE_BASED)

QUOTED = "The paper quotes the numbers of other methods from their papers or from the repository."
RANKED = "Precision@k and nDCG@k on the test set, for models trained on the whole training set."
PREDICTED = (
    "Milliseconds and inner products per test instance to find its five best labels, and the size "
    "of the model on disk."
)


def ranked(name: str, *quantities: str, **about: Any) -> TableSpec:
    """Declare a table of rankings, with ``about`` for `TableSpec`."""
    return TableSpec(
        name=name,
        keys=MODEL_KEYS,
        columns=(*quantities, "n_trees", *THREADS),
        panels=(
            columns(
                "",
                "n_trees",
                *quantities,
                each="dataset",
                names=("model",),
            ),
            not_run(*quantities),
        ),
        notes=(QUOTED,),
        quotes=True,
        measured_models=(OURS,),
        **about,
    )


table1 = ranked(
    "table1",
    *(*PRECISION, "ndcg@1", "ndcg@3", "ndcg@5"),
    caption=f"{RANKED} Only methods that consist of trees.",
    needs=(TREES,),
    printed_in=("table7",),
)
table2 = ranked(
    "table2",
    *("predict_ms", "inner_products", "model_mb"),
    caption=f"{PREDICTED} Only methods that consist of trees.",
    needs=(TREES,),
    printed_in=("table5", "table2"),
)
table3 = table_of_datasets(
    "table3",
    *("d", "m", "n_train", "n_test", "labels_per_instance", "instances_per_label"),
    caption="Sizes, and averages over the training set. Some averages of the paper include the "
    "test set.",
)
table5 = replace(
    table2, name="table5", needs=(RANKINGS,), printed_in=(), caption=f"{PREDICTED} All methods."
)
table6 = ranked(
    "table6",
    *("train_seconds", "train_peak_mb"),
    caption="Seconds of training on the whole training set, without reading and writing files.",
    needs=(RANKINGS,),
)
table7 = replace(
    table1, name="table7", needs=(RANKINGS,), printed_in=(), caption=f"{RANKED} All methods."
)


def lemma_1_holds(arity: float, lambda_1: float, lambda_2: float) -> bool:
    """Return whether Lemma 1 applies: the arity M must satisfy M - 3 < lambda_2 / lambda_1."""
    return lambda_2 > (arity - 3) * lambda_1


def _against_lemma_1(table: Table) -> list[str]:
    """Return a footnote on settings without Lemma 1, by which balanced and pure splits are best."""
    settings = ["arity", "lambda_1", "lambda_2"]
    numbers = table.numbers[table.numbers["quantity"].isin(settings)]
    numbers = numbers[numbers["variant"] == ABOUT].drop_duplicates(["dataset", "quantity"])
    values = numbers.pivot(index="dataset", columns="quantity", values="value")
    against = []
    for name in numbers["dataset"].unique():
        arity, lambda_1, lambda_2 = values.loc[name, settings]
        if not lemma_1_holds(arity, lambda_1, lambda_2):
            against.append(f"{name} ({arity:g}, {lambda_1:g}, {lambda_2:g})")
    if not against:
        return []
    return [
        "The settings (M, lambda_1, lambda_2) do not meet the condition of Lemma 1, lambda_2 > (M "
        f"- 3) lambda_1, on {', '.join(against)}. If Lemma 1 does not apply, the best split may "
        "not be balanced and pure."
    ]


SHAPE = (
    "depth",
    "arity",
    "log_m",
    "depth_ratio",
    "nodes",
    "n_trees",
)  # The paper reports depth and arity.
table4 = TableSpec(
    name="table4",
    needs=(Where("forest", "full", models=(OURS,)),),
    keys=("dataset",),
    panels=(columns("", *SHAPE), not_run("depth", "arity")),
    notes=(
        "log_M K: the depth of a balanced tree with K leaves. The depths in the paper are 1 to 3 "
        "times log_M K.",
        "Nodes: the mean over the trees, leaves included.",
        _against_lemma_1,
    ),
    caption="Depth of the deepest tree of LdSM's ensemble, and arity M. The root has depth 0.",
)
