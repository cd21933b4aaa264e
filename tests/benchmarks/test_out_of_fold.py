"""Test that the gains of out-of-fold thresholds on docs/package.md are in results/benchmarks/."""

from itertools import product

from repository import ROOT, measurements

from benchmarks.out_of_fold import HELD_OUT, METHODS, OUT_OF_FOLD


def test_page_table_equals_measurements():
    every = measurements("out-of-fold.csv")
    rows = {(row["dataset"], row["contender"], row["task"], row["measure"]): row for row in every}
    page = (ROOT / "docs/package.md").read_text()
    datasets = list(dict.fromkeys(dataset for dataset, *_ in rows))
    assert len(datasets) == 6
    for dataset in datasets:
        cells = [dataset]
        for measure, method in product(("macro_f", "macro_f_present, chosen by it"), METHODS):
            gain = rows[dataset, f"{OUT_OF_FOLD} / {HELD_OUT}", method, measure]
            low, high = map(float, gain["note"].rpartition(": ")[2].split(" to "))
            text = f"{float(gain['value']):+.1f}"
            cells.append(f"**{text}**" if low > 0 or high < 0 else text)
        assert f"| {' | '.join(cells)} |\n" in page
