"""Test how tables are built from records of several kinds."""

import pytest
from built_tables import build_from
from facts import raises_with
from record_cases import search, simulation, statistics
from report_cases import (
    calibration,
    every_measure,
    every_method,
    forest,
    inference,
    inferred_from_estimates,
    ranking,
    thresholds,
    write,
)

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import (
    INFERRED,
    RANKINGS,
    SEARCHES,
    SIMULATIONS,
    STATISTICS,
    Declared,
)
from xmlc.suite.papers import COMMON, rooms, tables_of
from xmlc.suite.papers.building import read_needs


@pytest.fixture
def build(tmp_path):
    searched = {"plt": {"search": {"ranges": {"arity": [2, 16]}}}}
    return lambda name, records, paper="plt2016": build_from(
        tmp_path, name, paper, records, models=searched
    )


def test_unknown_tables_and_unsuitable_records_are_refused(build):
    with raises_with(XmlcError, "table9", "plt2016"):
        build("9", [ranking()])
    for name, method in (("table4", "fta"), ("table2", "ofo-ab")):
        with raises_with(XmlcError, "thresholds"):
            build(name, [thresholds(name="bibtex", method=method)])


def test_every_table_begins_with_its_keys(build):
    records = [
        ranking(),
        calibration(),
        inference("yeast"),
        inferred_from_estimates(),
        forest(),
        *every_method(),
        *every_measure(),
    ]
    few_shot = ranking()
    few_shot["dataset"] |= {"labels_per_instance": 1}
    tables = {}
    for paper in (COMMON, *rooms()):
        for definition in tables_of(paper):
            tables.setdefault(id(definition), (paper, definition))
    for paper, definition in tables.values():
        # Statistics are not records of a model. Other tests cover the tables of statistics.
        if definition.needs[0].kind == "statistics" or (paper, definition.name) == (
            "swnn2018",
            "claims",
        ):
            continue
        given = [few_shot] if (paper, definition.name) == ("oplt2021", "table3") else records
        table = build(definition.name, given, "plt2016" if paper == COMMON else paper)
        assert tuple(table.content.columns[: len(definition.keys)]) == definition.keys


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, [inference(), ranking(), simulation(), statistics(), search()])


def needs_of(*needs, files, partial=False):
    """Return the paths of the records that each need selects."""
    numbers = read_needs(Declared("x", needs), files, partial)
    return [
        [*numbers.loc[numbers["need"] == place, "record"].unique()] for place in range(len(needs))
    ]


def test_each_need_gets_files_of_its_kind(files):
    needs = (INFERRED, RANKINGS, SIMULATIONS, STATISTICS, SEARCHES)
    assert needs_of(*needs, files=files) == [[file] for file in files]


def test_missing_records_are_refused_only_for_first_need(files):
    ranked = files[1:2]
    assert needs_of(RANKINGS, SIMULATIONS, SEARCHES, files=ranked) == [ranked, [], []]
    assert needs_of(SIMULATIONS, RANKINGS, files=ranked, partial=True) == [[], ranked]
    with raises_with(XmlcError, "simulation", 1, "`xmlc simulate`"):
        needs_of(SIMULATIONS, RANKINGS, files=ranked)


@pytest.mark.parametrize("other", [ranking(seed=1), statistics(), search()])
def test_two_editions_of_a_dataset_are_refused_in_one_table(tmp_path, other):
    """Editions can have equal numbers of instances, features and labels.

    Only the digest differs.
    """
    about = other if "digest" in other else other["dataset"]
    about |= {"digest": "f" * 64}
    files = write(tmp_path, [ranking(), other])
    with raises_with(
        XmlcError, files[1], "yeast", "ffffffffffff", "796561737400", files[0], "datasets.yaml"
    ):
        read_needs(Declared("x", (RANKINGS, STATISTICS, SEARCHES)), files)
