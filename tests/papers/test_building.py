"""Tables of every paper, built from records."""

import pytest
from built_tables import build_from
from report_cases import (
    condensed,
    every_measure,
    every_method,
    forest,
    inference,
    inferred_from_estimates,
    ranking,
    thresholds,
)

from xmlc.errors import XmlcError
from xmlc.papers import COMMON, every_table
from xmlc.papers.building import OTHER_FILES


@pytest.fixture
def build(tmp_path):
    searched = {"plt": {"tuning": {"arity": [2, 16]}}}
    return lambda name, records, paper="plt2016": build_from(tmp_path, name, paper, records, models=searched)


def test_unknown_table_and_unfit_records(build):
    with pytest.raises(XmlcError, match=r"table .table9. is unknown; expected one of .*table1, table2"):
        build("9", [ranking()])
    with pytest.raises(XmlcError, match="no record of method 'ofo-ab'"):
        build("table4", [thresholds(name="bibtex", method="fta")])
    with pytest.raises(XmlcError, match="ofo-ab"):
        build("table2", [thresholds(name="scene", method="ofo-ab")])


def test_every_table_has_its_keys_in_front(build):
    # What steps and statistics wrote are no records of a dataset and model: their tables have tests of their own.
    for paper, definition in every_table():
        if definition.needs[0].kind in OTHER_FILES:
            continue
        table = build_table_of(definition.name, build, "plt2016" if paper == COMMON else paper)
        assert tuple(table.frame.columns[: len(definition.keys)]) == definition.keys
        assert table.keys == definition.keys


def build_table_of(name, build, paper):
    dataset = f"{name}-base"  # the table of growth asks for a base
    inferred = [inference(name=dataset), inferred_from_estimates(name=dataset)]
    others = [*inferred, condensed(name=dataset), forest(name=dataset)]
    ranked = ranking(name=dataset)
    if (paper, name) == ("oplt2021", "table3"):  # which is about instances with one label each
        ranked["dataset"] = ranked["dataset"] | {"labels_per_instance": 1}
    return build(name, [ranked, *every_method(dataset), *every_measure(dataset), *others], paper=paper)
