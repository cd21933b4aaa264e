"""The long table of a run as CSV: each number of the records behind finished tables, and how the record came about."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.suite.papers.building import sources_of
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import is_missing, numbers_of
from xmlc.suite.results.made_of import MadeOf
from xmlc.suite.results.passports import RecordPassport, passport_columns

OF_NUMBER = ("dataset", "model", "method", "variant", "seed", "quantity", "value")
LONG_COLUMNS = (*OF_NUMBER, "record", "unit", "papers", *RecordPassport._fields)


def long_table(tables: Sequence[MadeOf]) -> pd.DataFrame:
    """Return the long table of finished tables.

    Returns
    -------
    DataFrame
        `LONG_COLUMNS`; a value is in its unit.

    Raises
    ------
    XmlcError
        A record does not fit.
    """
    rows = []
    for source, papers in sources_of(tables):
        origin = passport_columns(source.record)._asdict() | {"papers": " ".join(papers)}
        for number in numbers_of([source]):
            if number.quantity != "note" and not is_missing(number.value):
                about = {"unit": column(number.quantity).unit, "record": source.path.as_posix()}
                rows.append({name: getattr(number, name) for name in OF_NUMBER} | origin | about)
    return pd.DataFrame(rows, columns=list(LONG_COLUMNS)).astype({"seed": "Int64"})
