"""Write the figures and the tables of the page "Speed" from files of results/benchmarks."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION

HERE = Path(__file__).parent
DRAW = runpy.run_path(str(HERE / "which_estimator.py"))
PAGE, DEFAULTS, TUNED = (HERE / name for name in ("speed.md", "speed.svg", "speed_tuned.svg"))

Rows = dict[tuple[str, str, str, str], dict[str, str]]
Key = tuple[str, str]  # task and measure

RANKING = "prediction of the best 5"
REQUEST = "single request"
TRAINING = "training"
CAPTION = "nDCG@5 on the test set (%) against CPU time on one thread"
SETS = ("bibtex", "delicious", "tib-core-26k")
PANELS = []
for name in SETS:
    PANELS.append((f"{name}: training, s", name, (TRAINING, "CPU time")))
    PANELS.append((f"{name}: single request, ms", name, (REQUEST, "CPU time")))

# Columns of the tables.
PROGRAMS: dict[str, Key] = {
    "nDCG@5": (RANKING, "nDCG@5"),
    "PSP@5": (RANKING, "PSP@5"),
    "instance-F": ("sets of predict", "instance-F"),
    "train, s": (TRAINING, "CPU time"),
    "row, ms": (RANKING, "CPU time"),
    "request, ms": (REQUEST, "CPU time"),
    "MB": (TRAINING, "model"),
    "peak MB": (TRAINING, "peak memory"),
}
# Columns of the README's table: a title, a task and a measure.
ONE_VS_REST: dict[str, Key] = {
    "P@1, %": (RANKING, "P@1"),
    "instance-F, %": ("sets of predict", "instance-F"),
    "training, s": (TRAINING, "CPU time"),
}
# Models of the second table, by their names in config/papers/comparison.yaml.
MODELS = {
    "SWNN": "swnn",
    "OPLT": "oplt",
    "FastXML": "fastxml",
    "LdSM": "ldsm",
    "omikuji": "omikuji",
    "napkinXC PLT": "napkinxc-plt",
}
OTHERS: dict[str, Key] = {
    "P@1": (RANKING, "P@1"),
    "macro-F": ("thresholds of STO", "macro-F"),
    "train, s": (TRAINING, "CPU time"),
    "row, ms": (RANKING, "CPU time"),
}

# Rows of the second figure: a title, the program of xmlc and the other program, as in the files of
# results/benchmarks.
RATIOS = {
    TRAINING: {
        "PLT, AdaGrad / napkinXC": "PLT, adagrad / napkinXC, AdaGrad",
        "PLT, batch / napkinXC": "PLT, batch / napkinXC, liblinear",
        "PLT, batch / omikuji, one tree": "PLT, batch / omikuji, one tree",
        "LdSM, 10 trees / authors' C++": "LdSM, 10 trees / authors' C++ program",
        **{
            f"{name} / napkinXC": f"{name}, xmlc / {name}, napkinXC"
            for name in ("OPLT-R", "OPLT-B", "OPLT-W", "IPLT")
        },
    },
    RANKING: {
        "PLT, AdaGrad / napkinXC": "PLT, adagrad, certified / napkinXC, AdaGrad",
        "PLT, batch / napkinXC": "PLT, batch, certified / napkinXC, liblinear",
        "PLT, batch / omikuji, dense": "PLT, batch, certified / omikuji, one tree, densified",
        "LdSM, 10 trees / authors' C++": "LdSM, 10 trees / authors' C++ program",
        "SWNN, S = 20 / authors' Go": "SWNN, S 20, alpha 1, beta 1 / authors' Go program",
        "SWNN, S = 75 / authors' Go": "SWNN, S 75, alpha 2, beta 1 / authors' Go program",
    },
}
COLOURS = dict(zip(SETS, (GREEN, BLUE, VERMILION), strict=True))
# of the plot, pixels and ratios
LEFT = 235
RIGHT = 780
LINE = 26
LOW = 0.005
HIGH = 1.0
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)


def measured(*names: str) -> Rows:
    """Return the rows of some files by dataset, contender, task and measure."""
    rows: Rows = {}
    for name in names:
        rows |= DRAW["read"](name)
    return rows


def table(
    rows: Rows, names: Mapping[str, str], columns: Mapping[tuple[str, str], Key]
) -> Iterator[str]:
    """Write a table with a line for each program.

    A column has a title, a dataset, a task and a measure.
    """
    yield f"| program | {' | '.join(title for title, _ in columns)} |"
    yield f"| --- |{' ---: |' * len(columns)}"
    for name, contender in names.items():
        cells = []
        for (_, dataset), key in columns.items():
            row = rows[dataset, contender, *key]
            value = float(row["value"])
            if row["unit"] == "%":
                text = f"{value:.1f}"
            else:
                text = f"{float(f'{value:.2g}'):,g}"
            cells.append(f"{text} {row['note']}" if key[1].startswith("nDCG") else text)
        yield f"| {name} | {' | '.join(cells)} |"


def programs() -> str:
    """Return the table of all programs on tib-core-26k."""
    names = {name: name for name in (*DRAW["XMLC"], *DRAW["OTHERS"])}
    columns = {(title, "tib-core-26k"): key for title, key in PROGRAMS.items()}
    return "\n".join(table(measured("programs.csv"), names, columns))


def others() -> str:
    """Return the table of further estimators on two datasets."""
    names = {name: f"{contender}-default" for name, contender in MODELS.items()}
    rows = measured("comparison.csv")
    lines = []
    for dataset in SETS[1:]:
        header, rule, *cells = table(
            rows, names, {(title, dataset): key for title, key in OTHERS.items()}
        )
        lines += [f"| {dataset} {line}" for line in cells]
    return "\n".join((f"| dataset {header}", f"| --- {rule}", *lines))


def one_vs_rest() -> str:
    """Return the README's table of Stacking and scikit-learn's one-vs-rest, by number of labels."""
    rows = measured("one-vs-rest.csv")
    programs = {"xmlc": "Stacking", "one-vs-rest": "LinearSVC"}
    heads = [f"{title}, {name}" for title, name in product(ONE_VS_REST, programs)]
    lines = [
        f"| labels | texts | {' | '.join(heads)} |",
        f"| ---: | ---: |{' ---: |' * len(heads)}",
    ]
    for dataset in dict.fromkeys(dataset for dataset, *_ in rows):
        labels = int(dataset.split()[-2])
        texts = float(rows[dataset, "Stacking", TRAINING, "instances"]["value"])
        cells = [f"{labels:,}", f"{texts:,.0f}"]
        for key in ONE_VS_REST.values():
            for program in programs.values():
                row = rows.get((dataset, program, *key))
                cells.append("-" if row is None else cell(row))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(row: Mapping[str, str]) -> str:
    """Return a measurement as text.

    The time of a training that was stopped is only a lower bound.
    """
    value = float(row["value"])
    if row["unit"] == "%":
        return f"{value:.1f}"
    bound = ""
    if row["note"].startswith("stopped"):
        bound = "over "
    return bound + f"{float(f'{value:.2g}'):,g}"


def ratios() -> Iterator[tuple[str, str, str, float]]:
    """Yield (task, title, dataset, ratio of times) of each point in the second figure."""
    rows = measured("plt.csv", "ldsm.csv", "nearest.csv", "oplt.csv")
    for task, pairs in RATIOS.items():
        for title, contenders in pairs.items():
            for dataset in SETS:
                row = rows.get((dataset, contenders, f"{task}, compared", "time"))
                if row:
                    yield task, title, dataset, float(row["value"])


def tuned() -> Iterator[str]:
    """Draw the ratios of times as SVG, a line for each pair of programs."""
    height = 40 + LINE * (sum(map(len, RATIOS.values())) + len(RATIOS)) + 50

    def across(ratio: float) -> float:
        return LEFT + math.log(ratio / LOW) / math.log(HIGH / LOW) * (RIGHT - LEFT)

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + 20} {height}"'
    yield ' font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    for place, (name, colour) in enumerate(COLOURS.items()):
        at = LEFT + 110 * place
        yield (
            f'<g fill="{colour}"><circle cx="{at}" cy="14" r="5"/><text x="{at + 10}" '
            f'y="18">{name}</text></g>'
        )
    for tick in TICKS:
        yield f'<path d="M{across(tick):.1f} 30V{height - 48}" stroke="#ddd"/>'
        yield f'<text x="{across(tick):.1f}" y="{height - 32}" text-anchor="middle">{tick:g}</text>'
    points = list(ratios())
    y = 44
    for task, pairs in RATIOS.items():
        yield f'<text x="8" y="{y + 4}" font-weight="bold">{task}</text>'
        for title in pairs:
            y += LINE
            yield (
                f'<path d="M{LEFT} {y}H{RIGHT}" stroke="#ddd"/><text x="8" '
                f'y="{y + 4}">{title}</text>'
            )
            for _, _, name, ratio in (point for point in points if point[:2] == (task, title)):
                at = y + 4 * SETS.index(name) - 4  # equal ratios stay visible
                yield f'<circle cx="{across(ratio):.1f}" cy="{at}" r="4" fill="{COLOURS[name]}"/>'
        y += LINE
    yield f'<text x="{(LEFT + RIGHT) / 2:.0f}" y="{height - 10}" text-anchor="middle">'
    yield "time of xmlc divided by the time of the other program, one thread</text></svg>"


def page(text: str) -> str:
    """Return the page with both tables from the measurements."""
    tables = iter((programs(), others()))
    start = r"^\| (?:program \| nDCG|dataset \| program)"
    return re.sub(rf"{start}.*?(?=\n\n)", lambda _: next(tables), text, flags=re.M | re.S)


def figures() -> dict[Path, str]:
    """Return the content of each figure."""
    defaults = DRAW["figure"](measured("programs.csv"), PANELS, (RANKING, "nDCG@5"), CAPTION)
    return {
        file: "\n".join(lines) + "\n" for file, lines in ((DEFAULTS, defaults), (TUNED, tuned()))
    }


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for file, content in figures().items():
        file.write_text(content, encoding="utf-8")
