"""How a cell of a table finds its record."""

from pathlib import Path

import pytest
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.overview.facts import Source
from xmlc.page.passports import Passports


@pytest.mark.parametrize(
    ("about", "name", "titles"),
    [
        ({"model": "oplt-b", "passes": "3"}, "p@1", ["OPLT-B, 3 passes"]),
        ({"model": "plt"}, "p@1", ["PLT"]),
        ({"model": "plt", "method": "sto"}, "macro_f", ["PLT, STO"]),
        ({"model": "plt"}, "fta", ["PLT, FTA"]),  # a method's macro-F in a table of rankings
        ({"model": "plt", "tuned_for": "macro_f2"}, "macro_f", ["PLT, for-macro-f2"]),
        ({}, "m", ["OPLT-B, 1 pass"]),  # of a dataset: any record tells it
    ],
)
def test_a_cell_finds_its_record(about, name, titles):
    models = ("oplt-b-1-pass", "oplt-b-3-passes", "plt")
    records = [ranking(model=model) for model in models] + [thresholds(method=method) for method in ("fta", "sto")]
    records += [thresholds(method="for-macro-f2"), ranking("scene")]
    sources = [Source("p", Path(f"{place}.json"), as_record(record)) for place, record in enumerate(records)]
    passports = Passports(sources)
    found = passports.behind("p", "ranking", {"dataset": "yeast"} | about, name)
    assert [passports.shown[place]["title"] for place in found] == titles
