"""docs/which_estimator.md: its table and its figure show the measurements in results/benchmarks."""

import runpy

from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/which_estimator.py"))
SEARCHED = MAKER["read"]("searched.csv")


def test_table_shows_measurements():
    text = MAKER["PAGE"].read_text(encoding="utf-8")
    assert MAKER["page"](text, SEARCHED) == text
    assert all(line in text for line in MAKER["table"](SEARCHED))


def test_figure_shows_measurements():
    rows = MAKER["read"]("programs.csv")
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"](rows)) + "\n"
    assert MAKER["FIGURE"].stat().st_size < 60_000


def test_only_one_default_loses_more_than_3_points():
    gaps = MAKER["gaps"](SEARCHED)
    assert sum(len(of) for of in gaps.values()) == 39
    assert [(title, name) for title, of in gaps.items() for name, gap in of.items() if gap > 3] == [("LdSM", "enron")]
