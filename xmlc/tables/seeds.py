"""Several seeds in one row: means, deviations, and the choices that were made."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.tables.columns import DEVIATION, column


def average_seeds(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return one row for each key: means over seeds, their standard deviations, and how many seeds there were.

    Columns ``<name>_std`` (divisor: seeds - 1) stand behind each measure if any key has more than one seed. A mean
    needs all its seeds: one missing value leaves it missing. Different choices are listed in the order of the seeds.
    """
    several = frame.groupby(list(keys), sort=False).size().max() > 1
    rows = []
    for key, group in frame.groupby(list(keys), sort=False):
        group = group.sort_values("seed")
        row = dict(zip(keys, key, strict=True))
        for name in group.columns.drop([*keys, "seed"]):
            values = group[name]
            if (kind := column(name).kind) == "measure":
                row[name] = values.mean(skipna=False)
                if several:
                    row[name + DEVIATION] = values.std(ddof=1, skipna=False)
            else:
                row[name] = values.iloc[0] if kind == "constant" else _chosen(values)
        rows.append(row | {"seeds": len(group)})
    averaged = pd.DataFrame(rows)
    choices = [name for name in averaged if column(name).kind == "choice"]
    # Whole numbers as whole numbers, although some may be missing.
    return averaged.astype({name: "Int64" for name in choices if _whole(averaged[name])})


def _whole(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and bool((values.dropna() % 1 == 0).all())


def _chosen(values: pd.Series) -> float | str:
    if values.nunique(dropna=False) == 1:
        return values.iloc[0]
    return "/".join(column(str(values.name)).printed(value) for value in values)
