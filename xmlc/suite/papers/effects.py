"""Measure the effects that claims compare, on the long table of all numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd

from xmlc.metrics.resampling import REPLICATES
from xmlc.suite.results.numbers import ABOUT

RUN = ["dataset", "model", "seed"]
CASE = ["dataset", "subject", "seed"]  # The levels of a frame of effects.


def fact(numbers: pd.DataFrame, name: str) -> pd.Series:
    """Return a hyperparameter, or a number about the dataset, of the record of each number.

    The value is NaN if the record has none, or if it is not a number.
    """
    facts = numbers[(numbers["quantity"] == name) & (numbers["variant"] == ABOUT)]
    facts = facts.drop_duplicates("record").set_index("record")["value"]
    return numbers["record"].map(pd.to_numeric(facts, errors="coerce"))


def scores(
    numbers: pd.DataFrame,
    quantity: str | Sequence[str],
    variant: str = "",
    **where: str | Collection[str],
) -> pd.DataFrame:
    """Return one quantity, or the mean of several, of all runs. Missing values are left out.

    Parameters
    ----------
    numbers : DataFrame
        Numbers of records (`xmlc.suite.results.numbers`).
    quantity : str or sequence of str
    variant : str
    **where : str or collection of str
        Names of models or methods to select, by the column ``model`` or ``method``.

    Returns
    -------
    DataFrame
        A row for each dataset, model and seed, the levels of the index. The level of the model is
        left out if ``model`` is one name, and there is a level of the method if ``method`` is
        several names. Column 0 has the value, and the other columns its values on resampled test
        sets. Arithmetic on such frames matches rows, so it computes the effects and their resampled
        values.
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
    """Return the `scores` of a model minus those of its rival."""
    return scores(numbers, quantity, variant, model=model) - scores(
        numbers, quantity, variant, model=rival
    )


def parts(numbers: pd.DataFrame, prefix: str, *quantities: str) -> pd.DataFrame:
    """Return a row for each part of a record, and a column for each quantity.

    The names of the parts (column ``variant``) begin with ``prefix``, such as ``max_nodes=`` for
    the steps of a sweep. The levels of the index are dataset, model, seed and variant.
    """
    rows = numbers[numbers["quantity"].isin(quantities)]
    rows = rows[rows["variant"].str.startswith(prefix)]
    table = rows.pivot(index=[*RUN, "variant"], columns="quantity", values="value")
    return table.reindex(columns=list(quantities)).astype(float)


def common(*frames: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows that all frames have, in the order of the first frame."""
    index = frames[0].index
    for frame in frames[1:]:
        index = index[index.isin(frame.index)]
    return [frame.loc[index] for frame in frames]


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios of positive numbers. Runs without a measured cost have none."""
    return (one / other).where((one > 0) & (other > 0))


def about(effects: pd.DataFrame | pd.Series, subject: str = "") -> pd.DataFrame:
    """Return effects of runs as effects of cases.

    Their subject is the model if runs name models.
    """
    if isinstance(effects, pd.Series):
        effects = effects.to_frame(0)
    if "model" in effects.index.names:
        effects = effects.rename_axis(index={"model": "subject"})
    else:
        effects = pd.concat({subject: effects}, names=["subject"])
    return effects.reorder_levels(CASE)


def union(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects of several frames as one frame."""
    if not effects:
        return pd.DataFrame(columns=[0], index=pd.MultiIndex.from_arrays([[], [], []], names=CASE))
    return pd.concat(effects)


def least(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest effect of each dataset, subject and seed.

    All parts of a statement hold if the smallest effect supports the statement.
    """
    return union(*effects).dropna(subset=[0]).groupby(level=CASE, sort=False).min()
