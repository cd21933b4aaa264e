"""Test how tables are built from records of several kinds."""

import pytest
from built_tables import build_from
from facts import raises_with
from record_cases import search, simulation, statistics
from report_cases import calibration, every_method, inference, ranking, write

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import (
    INFERRED,
    RANKINGS,
    SEARCHES,
    SIMULATIONS,
    STATISTICS,
    Declared,
)
from xmlc.suite.papers.building import read_needs


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("passes", "p@1", 75),
        ("tail", "p@1", 75),
        ("tail-f", "macro_f_present", 40 / 3),
        ("calibration", "isotonic_ece@1", 2),
    ],
)
def test_common_tables_show_their_numbers(tmp_path, name, column, value):
    records = [ranking(), calibration(), *every_method()]
    row = build_from(tmp_path, name, "plt2016", records).content.iloc[0]
    assert row["dataset":"model"].tolist() == ["yeast", "plt"]
    assert row[column] == pytest.approx(value)


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, [inference(), ranking(), simulation(), statistics(), search()])


def needs_of(*needs, files, partial=False):
    """Return the paths of the records that each need selects."""
    numbers = read_needs(Declared(name="x", needs=needs), files, partial)
    found = []
    for place in range(len(needs)):
        found.append([*numbers.loc[numbers["need"] == place, "record"].unique()])
    return found


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
    with raises_with(XmlcError, *files, "yeast", "ffffffffffff", "796561737400"):
        read_needs(Declared(name="x", needs=(RANKINGS, STATISTICS, SEARCHES)), files)
