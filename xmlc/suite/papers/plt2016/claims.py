"""Test the statements of plt2016. Page numbers begin with 1 at the paper's first page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pandas as pd

from xmlc.suite.papers.claims import claims_of
from xmlc.suite.papers.effects import common, fact, ratio, scores

PLTS = EXACT, HASHED = "plt", "plt-hashed"
FOREST = "fastxml"
MODELS = (*PLTS, FOREST)
METHODS = ("fta", "sto", "ofo")
FEW_LABELS = 6  # The paper calls numbers of labels per instance below 6 "small" (Section 6.1).


def few_labels(numbers: pd.DataFrame) -> pd.Series:
    """Return whether the dataset of each number has few labels per instance."""
    return fact(numbers, "labels_per_instance") < FEW_LABELS


def of_the_paper(numbers: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return the numbers of one quantity, with only one kind of PLT for each dataset and seed.

    If the paper's PLT with hashed weights was run, the PLT with exact weights is left out. Their
    results are nearly equal.
    """
    numbers = numbers[numbers["quantity"] == quantity]
    runs = pd.MultiIndex.from_frame(numbers[["dataset", "seed"]])
    hashed = runs[numbers["model"] == HASHED]
    return numbers[(numbers["model"] != EXACT) | ~runs.isin(hashed)]


def _beside(plt: pd.DataFrame, forest: pd.DataFrame) -> pd.DataFrame:
    """Return numbers of FastXML next to the numbers of each PLT on the same dataset and seed."""
    return forest.reindex(plt.index.droplevel("model")).set_axis(plt.index)


def _plt_and_forest(numbers: pd.DataFrame, quantity: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a quantity of PLT and of FastXML, with a row for each dataset, PLT and seed."""
    plt = scores(of_the_paper(numbers, quantity), quantity, model=PLTS)
    return plt, _beside(plt, scores(numbers, quantity, model=FOREST))


def precision_on_par(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare P@1 of PLT and FastXML."""
    plt, forest = _plt_and_forest(numbers, "p@1")
    return plt - forest


def better_on_half(numbers: pd.DataFrame) -> pd.DataFrame:
    """Measure the share of datasets on which P@1 of PLT is higher than that of FastXML, minus
    0.5.
    """
    lead = precision_on_par(numbers).dropna(subset=[0])
    share = (lead > 0).groupby(level="seed").mean() - 0.5
    return pd.concat({"all": share}, names=["dataset"])


def trains_faster(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare the training times of PLT and FastXML."""
    plt, forest = _plt_and_forest(numbers, "train_seconds")
    return ratio(forest, plt)


def _tuned(
    numbers: pd.DataFrame,
    quantity: str,
    methods: Sequence[str] = METHODS,
    models: str | Sequence[str] = MODELS,
) -> list[pd.DataFrame]:
    """Return a quantity of each threshold method, for the runs that have all methods."""
    numbers = of_the_paper(numbers, quantity)
    return common(*(scores(numbers, quantity, method=name, model=models) for name in methods))


def _losses(numbers: pd.DataFrame, macro_f: str, methods: Sequence[str]) -> list[pd.DataFrame]:
    """Return the loss in macro-F of each method from the validation to the test set."""
    validation = _tuned(numbers, f"validation_{macro_f}", methods)
    test = _tuned(numbers, macro_f, methods)
    return [before - after for before, after in zip(validation, test, strict=True)]


def sto_best_on_validation(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare STO at the largest c of its grid with the better of FTA and OFO, in validation."""
    fta, sto, ofo = _tuned(numbers, "validation_macro_f")
    highest = scores(numbers, "largest_c_validation_macro_f", method="sto", model=MODELS)
    return highest.loc[sto.index] - np.maximum(fta, ofo)


def sto_loses_most_on_test(numbers: pd.DataFrame, macro_f: str = "macro_f") -> pd.DataFrame:
    """Compare STO with FTA and OFO by the loss in macro-F from the validation to the test set."""
    fta, sto, ofo = _losses(numbers, macro_f, METHODS)
    return sto - np.maximum(fta, ofo)


def fta_and_ofo_lose_nothing(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare macro-F on the validation set with macro-F on the test set, for FTA and OFO.

    OFO (a, b) is left out, because its macro-F falls by up to 26 points in the paper's Table 4.
    """
    fta, ofo = _losses(numbers, "macro_f", ("fta", "ofo"))
    return -np.maximum(fta.abs(), ofo.abs())


def sto_outperformed(numbers: pd.DataFrame, macro_f: str = "macro_f") -> pd.DataFrame:
    """Compare STO on the test set with FTA or OFO, whichever is better on the validation set.

    Choosing FTA or OFO on the test set would favour FTA and OFO over STO.
    """
    tuned = _tuned(numbers, f"validation_{macro_f}")
    test = _tuned(numbers, macro_f)
    tuned_fta, _, tuned_ofo, fta, sto, ofo = common(*tuned, *test)
    rival = fta.where(tuned_fta >= tuned_ofo, ofo)
    return rival - sto


def is_better(numbers: pd.DataFrame, method: str, others: Sequence[str]) -> pd.DataFrame:
    """Compare ``method`` with the best of ``others``, by macro-F on the test set."""
    *rivals, ours = _tuned(numbers, "macro_f", [*others, method])
    return ours - reduce(np.maximum, rivals)


def sto_costs_most(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare STO with FTA and OFO by the number of inner products that PLT computes.

    With lower thresholds, PLT visits more nodes of the tree.
    """
    fta, sto, ofo = _tuned(numbers, "inner_products", models=PLTS)
    return ratio(sto, np.maximum(fta, ofo)).where(np.minimum(fta, ofo) > 0)


def cheapest_alternative(numbers: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Measure the cost of the cheapest alternative to PLT with FTA, as a multiple of its cost.

    The alternatives to PLT with FTA are PLT with STO or OFO, and FastXML with all three methods.
    """
    fta, sto, ofo = _tuned(numbers, cost, models=PLTS)
    cheapest = np.minimum(sto, ofo)
    for forest in _tuned(numbers, cost, models=FOREST):
        cheapest = np.minimum(cheapest, _beside(fta, forest))
    return ratio(cheapest, fta)


claims = claims_of("plt2016", globals())
