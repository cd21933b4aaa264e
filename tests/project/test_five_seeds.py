"""The records in results/reference/five-seeds give its tables, CI's numbers and the counts on the
results page.
"""

import runpy
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from repository import ROOT

from xmlc.suite.papers.building import build_table
from xmlc.suite.papers.claims import CLAIMS
from xmlc.suite.papers.printing import to_csv
from xmlc.suite.report.compare import compare_cells
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.manifest import finished_tables
from xmlc.suite.results.numbers import read_cells
from xmlc.suite.results.records.base import parsed
from xmlc.suite.results.verdicts import Verdict

FIVE = ROOT / "results/reference/five-seeds"
SETTINGS = yaml.safe_load((ROOT / "config/reference.yaml").read_text())
RESULTS = runpy.run_path(str(ROOT / "docs/results.py"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Unpack the archive and return the manifests of its tables.

    Their paths start at the archive's folder.
    """
    folder = tmp_path_factory.mktemp("five-seeds")
    RESULTS["unpack"](folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield finished_tables(folder / "results/tables")  # tests write to this folder


def compared(made, accepted):
    """Rebuild a table from its manifest and compare it with a reference table."""
    table = build_table(made)
    file = Path("built.csv")
    file.write_text(to_csv(table), encoding="utf-8")
    keys = table.spec.keys
    sides = [read_cells(one, keys) for one in (accepted, file)]
    return compare_cells(keys, *sides)


def of_quick_run(made, folders):
    """Keep the records of seed 0 on the datasets that CI runs, and the files of simulations."""
    kept = []
    for path in made.records:
        seed = 0
        if path.suffix == ".json":
            seed = parsed(path, "record").get("seed", 0)
        if seed == 0 and path.parts[1] in folders:
            kept.append(path)
    return replace(made, records=tuple(kept))


@pytest.mark.slow
def test_archived_records_give_reference_tables(finished):
    for made in finished:
        cells = compared(made, FIVE / made.paper / f"{made.table}.csv")
        assert (cells["verdict"] == Verdict.EQUAL).all(), (made.paper, made.table)
    assert {(made.paper, made.table) for made in finished} == {
        (file.parent.name, file.stem) for file in FIVE.glob("*/*.csv")
    }


@pytest.mark.slow
def test_archived_runs_equal_runs_of_ci(finished):
    """If a change alters CI's numbers, the numbers of the five seeds are out of date, too."""
    looked_at = 0
    for made in finished:
        accepted = ROOT / f"results/reference/{made.paper}/{made.table}.csv"
        if made.table == CLAIMS or not accepted.exists():
            continue
        folders = {"simulations", *read_table(accepted).get("dataset", ())}
        quick = of_quick_run(made, folders)
        if quick.records:
            cells = compared(quick, accepted)
            both = cells[(cells["old"] != "") & (cells["new"] != "")]
            assert (both["verdict"] == Verdict.EQUAL).all(), (made.paper, made.table)
            looked_at += len(both)
    assert looked_at > 1500


def test_results_page_and_readme_show_verdicts_of_the_archive(finished):
    """If this test fails, run `python docs/results.py`."""
    numbers = RESULTS["outcomes"]()
    claims = RESULTS["claims_of"](finished)
    for file, written in (("PAGE", RESULTS["page"]), ("README", RESULTS["readme"])):
        text = RESULTS[file].read_text(encoding="utf-8")
        assert written(text, numbers, claims) == text
    assert sum(outcome["published"] for outcome in numbers.values()) == 381
    assert numbers["gfm2011"]["reproduced"] == 0
