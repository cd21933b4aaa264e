"""Test that each contender of the benchmark of expected macro-F runs the method it names."""

import csv
import lzma
import re
from collections import defaultdict

from benchmark_rows import run_benchmark
from repository import ROOT


def test_estimates_of_another_program_are_split_into_halves(tmp_path):
    for name, line in (("estimates", "0:0.9 1:0.01\n"), ("labels", "0\n")):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt") as file:
            file.write(line * 20)
    rows = run_benchmark(tmp_path, "expected-f", "--data", tmp_path, "--seeds", 2)
    assert rows["given, 80 %", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"] == [100, 100]
    assert rows["given, 80 %", "labels, training instances from 1", "labels", 1]["value"] == 0


NAMES = {"plt": "PLT, SGD", "plt-batch": "PLT", "fastxml": "FastXML", "swnn": "SWNN", "given": "given"}
LARGE = "tib-core-26k"


def texts_of(row, value):
    """How a page may write a value; bold is a gain over a tuned method whose interval excludes 0."""
    if not row["note"].count(" to ") or row["unit"] != "points":
        return f"{value:.1f}", f"{value:,.0f}"
    low, high = map(float, row["note"].rpartition(": ")[2].split(" to "))
    is_bold = (low > 0 or high < 0) and not row["contender"].startswith("given")
    return (f"**{value:+.1f}**" if is_bold else f"{value:+.1f}",)


def test_page_numbers_equal_measurements():
    measured = defaultdict(set)
    with open(ROOT / "results/benchmarks/expected-f.csv", newline="") as file:
        for row in csv.DictReader(file):
            model = NAMES.get(row["contender"].split(", ")[0])
            measured[row["dataset"], model].update(texts_of(row, float(row["value"] or "nan")))
    tables = re.findall(r"^\| (.*) \|$", (ROOT / "docs/expected_f.md").read_text(), re.MULTILINE)
    subjects = 0
    for cells in (line.split(" | ") for line in tables):
        subject = (LARGE, cells[0]) if cells[0] in NAMES.values() else tuple(cells[:2])
        if subject in measured:
            numbers = {word for cell in cells for word in cell.split() if re.match(r"\W*\d", word)}
            assert numbers <= measured[subject], (subject, numbers - measured[subject])
            subjects += 1
    assert subjects == 7
