"""The benchmark of out-of-fold thresholds: each contender runs the method it names."""

import csv
from itertools import product

from repository import ROOT

from benchmarks.out_of_fold import HELD_OUT, METHODS, PAIRS


def test_page_table_equals_measurements():
    with open(ROOT / "results/benchmarks/out-of-fold.csv", newline="") as file:
        rows = {(row["dataset"], row["contender"], row["task"], row["measure"]): row for row in csv.DictReader(file)}
    page = (ROOT / "docs/package.md").read_text()
    datasets = list(dict.fromkeys(dataset for dataset, *_ in rows))
    assert len(datasets) == 6
    for dataset, method in product(datasets, METHODS):
        cells = [dataset, method.upper()]
        for measure in ("macro_f", "macro_f_present, chosen by it"):
            cells.append(f"{float(rows[dataset, HELD_OUT, method, measure]['value']):.1f}")
            for one, other in PAIRS[:2]:
                gain = rows[dataset, f"{one} / {other}", method, measure]
                low, high = map(float, gain["note"].rpartition(": ")[2].split(" to "))
                text = f"{float(gain['value']):+.1f}"
                cells.append(f"**{text}**" if low > 0 or high < 0 else text)
        assert f"| {' | '.join(cells)} |\n" in page
