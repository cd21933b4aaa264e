"""Test that tables and figures of docs/speed.md and the README show the measurements in
results/benchmarks/.
"""

import runpy

import pytest
from repository import ROOT, measurements

PAGE, README = ((ROOT / name).read_text() for name in ("docs/speed.md", "README.md"))
MAKER = runpy.run_path(str(ROOT / "docs/speed.py"))
README_PROGRAMS = {"xmlc": "Stacking", "omikuji": "omikuji", "napkinXC": "napkinXC"}
README_COLUMNS = [
    ("prediction of the best 5", "P@1"),
    ("training", "CPU time"),
    ("prediction of the best 5", "CPU time"),
    ("training", "model"),
]


def test_tables_and_figures_show_measurements():
    assert MAKER["programs"]() in PAGE
    assert MAKER["others"]() in PAGE
    for file, content in MAKER["figures"]().items():
        assert file.read_text(encoding="utf-8") == content
        assert f"]({file.name})" in PAGE
    ratios = [ratio for *_, ratio in MAKER["ratios"]()]
    assert f"between {100 * min(ratios):.0f} and {100 * max(ratios):.0f} %" in PAGE
    assert MAKER["one_vs_rest"]() in README


@pytest.mark.parametrize("program", README_PROGRAMS)
def test_readme_shows_measurements_of_programs(program):
    values = {}
    for row in measurements("programs.csv"):
        if (row["dataset"], row["contender"]) == ("tib-core-26k", README_PROGRAMS[program]):
            values[row["task"], row["measure"]] = float(row["value"])
    precision, *costs = [values[column] for column in README_COLUMNS]
    cells = [program, f"{precision:.1f}", *[f"{float(f'{cost:.2g}'):,g}" for cost in costs]]
    assert f"| {' | '.join(cells)} |" in README.replace("*", "")


def test_stopped_training_has_lower_bound_of_time():
    row = {"value": "2402.31", "unit": "s", "note": "stopped, scikit-learn 1.9.1"}
    assert MAKER["cell"](row) == "over 2,400"
    assert MAKER["cell"](row | {"note": "scikit-learn 1.9.1"}) == "2,400"
