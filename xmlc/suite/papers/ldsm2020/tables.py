"""The functions of the tables of ldsm2020 (``tables.yaml``)."""

from __future__ import annotations

from xmlc.suite.papers.tables import Table
from xmlc.suite.results.numbers import ABOUT


def lemma_1_holds(arity: float, lambda_1: float, lambda_2: float) -> bool:
    """Return whether Lemma 1 applies: the arity M must satisfy M - 3 < lambda_2 / lambda_1."""
    return lambda_2 > (arity - 3) * lambda_1


def against_lemma_1(table: Table) -> list[str]:
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
