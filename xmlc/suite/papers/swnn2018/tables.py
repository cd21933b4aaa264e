"""The constants and functions of the tables of swnn2018 (``tables.yaml``)."""

from __future__ import annotations

import pandas as pd

from xmlc.suite.papers.common.tables import MODEL_KEYS, PRECISION
from xmlc.suite.papers.tables import Table
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records.statistics import SUMMARY as SUMMARY

OURS = "swnn-searched"
# Points between comparable scores, "by approximately 1 %" (Section 4.3)
CLOSE = 1.0


def with_comparable(table: Table) -> pd.DataFrame:
    """Return means over seeds, with bold precision of SWNN at most `CLOSE` below the best
    quoted.
    """
    means = mean_over_seeds(table.own, MODEL_KEYS)
    quoted = table.published[
        table.published["quantity"].isin(PRECISION) & (table.published["model"] != OURS)
    ]
    best = quoted.astype({"value": float}).groupby(["dataset", "quantity"])["value"].max()
    means = means.join(best.rename("best"), on=["dataset", "quantity"])
    values = means["value"].where(means["best"].notna()).astype(float)
    is_close = (means["model"] == OURS) & ((values - means["best"]).round(2) >= -CLOSE)
    return means.assign(mark=is_close.map({True: "bold", False: ""}))
