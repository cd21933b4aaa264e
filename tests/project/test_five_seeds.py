"""The records in results/reference/five-seeds give its tables, CI's numbers and the counts on the results page."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from archive_cases import unpack_tar
from repository import ROOT

from xmlc.suite.papers.building import build_table
from xmlc.suite.papers.claims_table import CLAIMS, counted
from xmlc.suite.papers.printing import to_csv
from xmlc.suite.report.compare import compare, compare_rows, count_outcomes
from xmlc.suite.report.runs import read_spreads
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.frame import read_numbers
from xmlc.suite.results.manifest import finished_tables
from xmlc.suite.results.records.base import parsed
from xmlc.suite.results.verdicts import ClaimVerdict, Verdict

FIVE = ROOT / "results/reference/five-seeds"
SETTINGS = yaml.safe_load((ROOT / "config/reference.yaml").read_text())
RESULTS, README = ((ROOT / name).read_text() for name in ("docs/results.md", "README.md"))
# The columns of the page's counts of claims, in the order of the verdicts.
HEADINGS = ("hold", "do not hold", "undecided", "not run")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Unpack the archive and return the manifests of its tables. Their paths start at the archive's folder."""
    folder = tmp_path_factory.mktemp("five-seeds")
    unpack_tar(FIVE / "records.tar.xz", folder)
    for name in ("config", "results/published"):
        (folder / name).symlink_to(ROOT / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield finished_tables(folder / "results/tables", [*SETTINGS["papers"], "neural"])  # tests write to this folder


def compared(made, accepted):
    """Rebuild a table from its manifest and compare it with a reference table."""
    table, file = build_table(made), Path("built.csv")
    file.write_text(to_csv(table), encoding="utf-8")
    return compare_rows(made.table, table.keys, read_numbers(accepted, table.keys), read_numbers(file, table.keys))


def of_quick_run(made, datasets):
    """Keep the records of seed 0 on the datasets that CI runs, and the files of simulations."""
    kept = []
    for path in made.records:
        content = parsed(path, "record") if path.suffix == ".json" else {}
        seed, parts = content.get("seed", 0), path.parts
        if seed == 0 and (parts[1] in datasets or parts[1] == "simulations"):
            kept.append(path)
    return replace(made, records=tuple(kept))


@pytest.mark.slow
def test_archived_records_give_reference_tables(finished):
    for made in finished:
        assert compared(made, FIVE / made.paper / f"{made.table}.csv").same, (made.paper, made.table)
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
        ours = read_table(accepted)
        datasets = {*ours["dataset"]} if "dataset" in ours else set()
        if (quick := of_quick_run(made, datasets)).records:
            numbers = [one for one in compared(quick, accepted).numbers if one.verdict and one.published and one.value]
            assert all(one.verdict is Verdict.EQUAL for one in numbers), (made.paper, made.table)
            looked_at += len(numbers)
    assert looked_at > 1500


def test_results_page_lists_and_counts_claims(finished):
    words = [*ClaimVerdict]
    total = Counter()
    lines = [f"| claims of | stated | {' | '.join(HEADINGS)} |", f"| --- | ---: |{' ---: |' * len(words)}"]
    frames = []
    for made in finished:
        if made.table == CLAIMS:
            table = build_table(made)
            counts = counted(table)
            assert {*counts} <= {*words}
            total += counts
            lines.append(f"| `{made.paper}` | {counts.total()} | {' | '.join(str(counts[word]) for word in words)} |")
            frames.append(table.frame)
            listed = [row for row in table.rows.values() if row["stated"].value == "verbatim" and row["verdict"].value]
            statements = "\n".join(f"| {row['statement'].value} | {row['verdict'].words} |" for row in listed)
            assert f"| --- | --- |\n{statements}\n\n" in RESULTS, f"put into docs/results.md:\n\n{statements}"
    every = pd.concat(frames)
    kinds = Counter(every["stated"].where(every["verdict"].notna(), "cost"))
    others = f"{kinds['derived']} statements derived from the papers, {kinds['xmlc']} of xmlc, and {kinds['cost']}"
    expected = "\n".join([*lines, "", f"The counts leave out {others} on time and memory."])
    assert expected in RESULTS, f"put into docs/results.md:\n\n{expected}"
    short = f"{total['holds']} of the papers' {total.total()} statements hold and {total['does not hold']} do not"
    assert short in " ".join(README.split()), f"put into the README: {short}"


def test_results_page_reports_outcome_of_published_numbers():
    judge = Judge.of_project(ROOT / "config", read_spreads(ROOT / "config/runs.csv"))
    lines, total = [], Counter()
    for paper in SETTINGS["papers"]:
        comparisons = compare(ROOT / "results/published" / paper, FIVE / paper, judge)
        outcome = count_outcomes([number for one in comparisons for number in one.numbers])
        total.update({word: count for word, count in outcome.items() if isinstance(count, int)})
        lines.append(f"| `{paper}` | {' | '.join(map(str, outcome.values()))} |")
    expected = "\n".join([f"| results of | {' | '.join(outcome)} |", f"| --- |{' ---: |' * len(outcome)}", *lines])
    assert expected in RESULTS, f"put into docs/results.md:\n\n{expected}"
    reproduced = total["equal"] + total["inside"]
    others = total["above"] + total["below"]
    for line in lines:
        cells = line.strip("| ").split(" | ")
        share = f"{int(cells[6]) + int(cells[7])} of {cells[2]}"
        assert re.search(rf"(?m)^\| {cells[0]} \|.*\| {share} \|$", README), cells[0]
    short = f"The runs cover {total['run']} of {total['printed']} published numbers: {reproduced} are reproduced, "
    short += f"{others} are not, and {total['undecided']} is undecided"
    assert short in " ".join(README.split()), f"put into the README: {short}"
