"""Measure the effects that claims compare, on the long table of all numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd

from xmlc.metrics.resampling import REPLICATES
from xmlc.suite.results.numbers import ABOUT

RUN = ["dataset", "model", "seed"]
CASE = ["dataset", "subject", "seed"]  # Levels of a frame of effects


def fact(numbers: pd.DataFrame, name: str) -> pd.Series:
    """Return a hyperparameter or a fact about the dataset of each number's record, or NaN."""
    facts = numbers[(numbers["quantity"] == name) & (numbers["variant"] == ABOUT)]
    facts = facts.drop_duplicates("record").set_index("record")["value"]
    return numbers["record"].map(pd.to_numeric(facts, errors="coerce"))


def scores(
    numbers: pd.DataFrame,
    quantity: str | Sequence[str],
    variant: str = "",
    **where: str | Collection[str],
) -> pd.DataFrame:
    """Return one quantity, or the mean of several, of all runs that have it.

    The rows have the index levels dataset, model (unless ``model`` is one name), method (if
    ``method`` is several) and seed. Column 0 is the value, and the others are its values on
    resampled test sets, so that arithmetic on such frames computes effects together with their
    resampled values. ``where`` selects models or methods.
    """
    if not isinstance(quantity, str):
        total = scores(numbers, quantity[0], variant, **where)
        for name in quantity[1:]:
            total = total + scores(numbers, name, variant, **where)
        return total.dropna(subset=[0]) / len(quantity)
    rows = numbers[(numbers["quantity"] == quantity) & (numbers["variant"] == variant)]
    rows = rows.dropna(subset="value")
    levels = [*RUN]
    for name, wanted in where.items():
        if isinstance(wanted, str):
            rows = rows[rows[name] == wanted]
            levels = [level for level in levels if level != name]
        else:
            rows = rows[rows[name].isin(wanted)]
            levels = [*dict.fromkeys([*levels, name])]
    rows = rows.drop_duplicates([*levels, "record"])
    index = pd.MultiIndex.from_frame(rows[levels])
    if index.has_duplicates:
        run = index[index.duplicated()][0]
        raise ValueError(f"{quantity}: found two numbers of {run}, expected one")
    values = []
    for value, drawn in zip(rows["value"], rows["resampled"], strict=True):
        if drawn is None:
            drawn = [value] * REPLICATES
        values.append([value, *drawn])
    return pd.DataFrame(values, index, range(1 + REPLICATES), dtype=float)


def lead(
    numbers: pd.DataFrame,
    quantity: str | Sequence[str],
    model: str,
    rival: str,
    variant: str = "",
) -> pd.DataFrame:
    """Return the `scores` of a model minus its rival's."""
    return scores(numbers, quantity, variant, model=model) - scores(
        numbers, quantity, variant, model=rival
    )


def parts(numbers: pd.DataFrame, prefix: str, *quantities: str) -> pd.DataFrame:
    """Return a row for each part of a record, and a column for each quantity.

    Their ``variant`` begins with ``prefix``, such as ``max_nodes=`` for a sweep's steps. It is an
    index level after dataset, model and seed.
    """
    rows = numbers[numbers["quantity"].isin(quantities)]
    rows = rows[rows["variant"].str.startswith(prefix)]
    table = rows.pivot(index=[*RUN, "variant"], columns="quantity", values="value")
    return table.reindex(columns=list(quantities)).astype(float)


def common(*frames: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows that all frames have, in the order of the first."""
    index = frames[0].index
    for frame in frames[1:]:
        index = index[index.isin(frame.index)]
    return [frame.loc[index] for frame in frames]


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return ratios of positive numbers, without runs whose cost was not measured."""
    return (one / other).where((one > 0) & (other > 0))


def about(effects: pd.DataFrame | pd.Series, subject: str = "") -> pd.DataFrame:
    """Turn effects of runs into effects of cases, with the runs' model as default subject."""
    if isinstance(effects, pd.Series):
        effects = effects.to_frame(0)
    if "model" in effects.index.names:
        effects = effects.rename_axis(index={"model": "subject"})
    else:
        effects = pd.concat({subject: effects}, names=["subject"])
    return effects.reorder_levels(CASE)


def union(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects of several frames."""
    if not effects:
        return pd.DataFrame(columns=[0], index=pd.MultiIndex.from_arrays([[], [], []], names=CASE))
    return pd.concat(effects)


def least(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest effect of each case and seed, which supports a statement only if all
    do.
    """
    return union(*effects).dropna(subset=[0]).groupby(level=CASE, sort=False).min()
