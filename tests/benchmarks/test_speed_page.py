"""docs/speed.md: each line of its table of ratios is in results/benchmarks/."""

import csv
import re

from repository import ROOT

PAGE = (ROOT / "docs/speed.md").read_text()


def test_the_ratios_are_those_that_were_measured():
    measured = set()
    for path in (ROOT / "results/benchmarks").glob("*.csv"):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                task = row["task"].removesuffix(", compared") if row["measure"] == "time" else ""
                measured.add((row["dataset"], task, row["contender"], row["measure"], row["value"]))
    lines = re.findall(r"^\| ([\w-]+) \| ([^|]+) \| ([^|]+ / [^|]+) \| ([\d.]+) \| ([-\d.]*) ?\|$", PAGE, re.MULTILINE)
    assert len(lines) == 30
    for dataset, task, contenders, time, points in lines:
        assert (dataset, task, contenders, "time", time) in measured
        assert not points or (dataset, "", contenders, "P@1", points) in measured
