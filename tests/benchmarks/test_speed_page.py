"""Test that tables and figures of docs/speed.md and the README show the measurements in
results/benchmarks/.
"""

import runpy

from repository import ROOT, measurements

PAGE, README = ((ROOT / name).read_text() for name in ("docs/speed.md", "README.md"))
MAKER = runpy.run_path(str(ROOT / "docs/speed.py"))
README_PROGRAMS = {"xmlc": "Stacking", "omikuji": "omikuji", "napkinXC": "napkinXC"}
README_COLUMNS = {
    "P@1, %": ("prediction of the best 5", "P@1"),
    "training, s": ("training", "CPU time"),
    "ms per text": ("prediction of the best 5", "CPU time"),
    "model, MB": ("training", "model"),
}


def test_tables_and_figures_show_measurements():
    assert MAKER["programs"]() in PAGE
    assert MAKER["others"]() in PAGE
    for file, content in MAKER["figures"]().items():
        assert file.read_text(encoding="utf-8") == content
        assert len(content) < 60_000
        assert f"]({file.name})" in PAGE


def test_page_states_range_of_ratios_and_differences_of_p1():
    ratios = list(MAKER["ratios"]())
    pairs = MAKER["RATIOS"]
    assert (
        f"between {100 * min(r[-1] for r in ratios):.0f} and "
        f"{100 * max(r[-1] for r in ratios):.0f} %"
    ) in PAGE
    rows = MAKER["measured"]("plt.csv", "ldsm.csv", "nearest.csv", "oplt.csv").items()
    contenders = set()
    for of_task in pairs.values():
        contenders.update(of_task.values())
    points = [
        (c, float(row["value"]))
        for (_, c, _, measure), row in rows
        if measure == "P@1" and c in contenders
    ]
    batch = [value for contender, value in points if contender.startswith("PLT, batch")]
    assert f"*PLT, batch* is {min(batch):.1f} to {max(batch):.1f} points better" in PAGE
    others = [abs(value) for contender, value in points if not contender.startswith("PLT, batch")]
    assert len(others) > 15
    assert f"P@1 differs by at most {max(others):.1f} points" in " ".join(PAGE.split())


def measured(file, name, columns, models):
    """Return the cells of a dataset by column. The best cell of each column is bold."""
    rows = measurements(file)
    values = {
        (row["dataset"], row["contender"], row["task"], row["measure"]): float(row["value"])
        for row in rows
    }
    cells = []
    for own in columns.values():
        column = [values[name, model, *own] for model in models]
        quality = own[1].startswith(("P@", "nDCG", "macro-F", "instance-F"))
        texts = [f"{value:.1f}" if quality else f"{float(f'{value:.2g}'):,g}" for value in column]
        best = (max if quality else min)(column)
        cells.append(
            [f"**{text}**" if value == best else text for text, value in zip(texts, column)]
        )
    return cells


def test_readme_compares_three_programs():
    cells = measured("programs.csv", "tib-core-26k", README_COLUMNS, README_PROGRAMS.values())
    lines = [f"| | {' | '.join(README_COLUMNS)} |", f"| ---{' | ---:' * len(README_COLUMNS)} |"]
    lines += [f"| {' | '.join(row)} |" for row in zip(README_PROGRAMS, *cells)]
    expected = "\n".join(lines)
    assert expected in README, f"put into the README:\n\n{expected}"


def test_readme_compares_one_vs_rest_by_number_of_labels():
    expected = MAKER["one_vs_rest"]()
    assert expected in README, f"put into the README:\n\n{expected}"


def test_stopped_training_has_lower_bound_of_time():
    row = {"value": "2402.31", "unit": "s", "note": "stopped, scikit-learn 1.9.1"}
    assert MAKER["cell"](row) == "over 2,400"
    assert MAKER["cell"](row | {"note": "scikit-learn 1.9.1"}) == "2,400"
    assert MAKER["cell"]({"value": "66.96", "unit": "%", "note": "± 0.8"}) == "67.0"


def test_models_page_states_what_label_shares_contribute_to_stacking():
    rows = [row for row in measurements("stacking.csv") if row["dataset"] == "tib-core-26k"]
    values = {row["contender"]: float(row["value"]) for row in rows if row["measure"] == "nDCG@5"}
    loss = values["default"] - values["without the labels' shares"]
    page = " ".join((ROOT / "docs/models/stacking.md").read_text().split())
    assert f"nDCG@5 on tib-core-26k falls by {loss:.1f} points" in page
