"""docs/speed.md and the README: each line of their tables is in results/benchmarks/."""

import csv
import re

from repository import ROOT

from benchmarks.programs import QUALITIES, SPENT, table

PAGE, README = ((ROOT / name).read_text() for name in ("docs/speed.md", "README.md"))
README_PROGRAMS = {"xmlc": "Stacking", "omikuji": "omikuji", "napkinXC": "napkinXC"}
COLUMNS = {
    "P@1": ("prediction of the best 5", "P@1"),
    "nDCG@5": ("prediction of the best 5", "nDCG@5"),
    "F": ("sets of predict", "instance-F"),
    "train, s": ("training", "CPU time"),
    "row, ms": ("prediction of the best 5", "CPU time"),
    "MB": ("training", "model"),
}
README_COLUMNS = {
    "P@1, %": COLUMNS["P@1"],
    "training, s": COLUMNS["train, s"],
    "ms per text": COLUMNS["row, ms"],
    "model, MB": COLUMNS["MB"],
}
# The page has other models on all sets, as config/papers/comparison.yaml names them.
MODELS = {
    "SWNN": "swnn",
    "OPLT": "oplt",
    "FastXML": "fastxml",
    "LdSM": "ldsm",
    "omikuji": "omikuji",
    "napkinXC PLT": "napkinxc-plt",
}
ALL_SETS = {"scene": "6", "yeast": "14", "enron": "53", "bibtex": "159", "delicious": "983", "tib-core-26k": "26,296"}
ALL_COLUMNS = {
    **{f"P@{k}": ("prediction of the best 5", f"P@{k}") for k in (1, 3, 5)},
    "macro-F": ("thresholds of STO", "macro-F"),
    **{name: COLUMNS[name] for name in ("train, s", "row, ms", "MB")},
    "load, s": ("loading and ranking one instance", "CPU time"),
}


def test_ratios_equal_measurements():
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


def measured(file, name, columns, models):
    """Return the cells of a set, column by column, the best of each in bold."""
    with open(ROOT / "results/benchmarks" / file, newline="") as opened:
        rows = list(csv.DictReader(opened))
    values = {(row["dataset"], row["contender"], row["task"], row["measure"]): float(row["value"]) for row in rows}
    cells = []
    for own in columns.values():
        column = [values[name, model, *own] for model in models]
        quality = own[1].startswith(("P@", "nDCG", "macro-F", "instance-F"))
        texts = [f"{value:.1f}" if quality else f"{float(f'{value:.2g}'):,g}" for value in column]
        best = (max if quality else min)(column)
        cells.append([f"**{text}**" if value == best else text for text, value in zip(texts, column)])
    return cells


def test_readme_compares_three_programs():
    cells = measured("programs.csv", "tib-core-26k", README_COLUMNS, README_PROGRAMS.values())
    lines = [f"| | {' | '.join(README_COLUMNS)} |", f"| ---{' | ---:' * len(README_COLUMNS)} |"]
    lines += [f"| {' | '.join(row)} |" for row in zip(README_PROGRAMS, *cells)]
    expected = "\n".join(lines)
    assert expected in README, f"put into the README:\n\n{expected}"


def test_page_shows_measurements_on_all_datasets():
    lines = [f"| set, labels | | {' | '.join(ALL_COLUMNS)} |", f"| --- | ---{' | ---:' * len(ALL_COLUMNS)} |"]
    for name, labels in ALL_SETS.items():
        contenders = [f"{model}-default" for model in MODELS.values()]
        models = zip(MODELS, *measured("comparison.csv", name, ALL_COLUMNS, contenders))
        lines += [f"| {name}, {labels} | {' | '.join(row)} |" for row in models]
    expected = "\n".join(lines)
    assert expected in PAGE, f"put into docs/speed.md:\n\n{expected}"


def test_page_shows_programs_with_default_settings():
    with open(ROOT / "results/benchmarks/programs.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] in ("bibtex", "delicious", "tib-core-26k")]
    for columns in (QUALITIES, SPENT):
        expected = table(rows, columns)
        assert expected in PAGE, f"put into docs/speed.md:\n\n{expected}"


def test_models_page_states_what_label_shares_contribute_to_stacking():
    with open(ROOT / "results/benchmarks/stacking.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["dataset"], row["measure"]) == ("tib-core-26k", "nDCG@5")]
    values = {row["contender"]: float(row["value"]) for row in rows}
    loss = values["default"] - values["without the labels' shares"]
    page = " ".join((ROOT / "docs/models.md").read_text().split())
    assert f"nDCG@5 on tib-core-26k falls by {loss:.1f} points" in page
