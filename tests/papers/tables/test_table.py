"""Tables: published values as they are read, means over seeds, intervals, and the Markdown, LaTeX and CSV written."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from built_tables import build_from
from record_files import as_record
from report_cases import every_method, ranking, thresholds
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.papers import table_of
from xmlc.papers.tables.fingerprint import fingerprint
from xmlc.papers.tables.intervals import Estimate, estimate_of
from xmlc.papers.tables.table import Published, average_seeds, latex, to_csv, to_latex, to_markdown, write_table
from xmlc.records import ranking as rankings
from xmlc.records import thresholds as evaluations

FOLDER = ROOT / "results/published"


def test_values_are_kept_as_printed():
    published = Published.read(FOLDER / "plt2016" / "table1.csv", table_of("table1", "plt2016").keys)
    assert published.value(("rcv1-2k", "plt-hashed"), "p@3") == "72.4"
    assert published.value(("amazoncat-13k", "fastxml"), "p@3") == "77.50"
    assert published.value(("yeast", "plt"), "p@3") is None
    assert published.keyed_by("dataset").value(("wiki10-31k",), "m") == "30938"


def test_a_broken_transcription_is_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,p@1\na,plt,1\na,plt,2\n")
    with pytest.raises(XmlcError, match=r"table1\.csv: two rows for a, plt"):
        Published.read(file, ("dataset", "model"))
    with pytest.raises(XmlcError, match="no column 'method'"):
        Published.read(file, ("dataset", "method"))


def ranking_frame(contents):
    return rankings.frame([as_record(content) for content in contents])


def threshold_frame(contents):
    return evaluations.frame([as_record(content) for content in contents])


def test_one_seed_has_no_deviation():
    averaged = average_seeds(ranking_frame([ranking()]), ("dataset", "model"))
    assert averaged["seeds"].tolist() == [1]
    assert not [name for name in averaged if name.endswith("_std")]


def test_seeds_are_averaged_whatever_their_order():
    scores = [0.2, 0.4, 0.9]
    records = [ranking(seed=seed, p1=score) for seed, score in enumerate(scores)]
    averaged = average_seeds(ranking_frame(records), ("dataset", "model")).iloc[0]
    assert averaged["p@1"] == pytest.approx(np.mean(scores) * 100)
    assert averaged["p@1_std"] == pytest.approx(np.std(scores, ddof=1) * 100)
    assert averaged["seeds"] == 3
    assert averaged["m"] == 14
    backwards = average_seeds(ranking_frame(records[::-1]), ("dataset", "model")).iloc[0]
    assert backwards["p@1"] == averaged["p@1"]
    assert backwards["p@1_std"] == averaged["p@1_std"]


def test_a_value_missing_for_one_seed_has_no_mean():
    records = [ranking(seed=0), ranking(seed=1, inner_products=None)]
    averaged = average_seeds(ranking_frame(records), ("dataset", "model")).iloc[0]
    assert math.isnan(averaged["inner_products"])
    assert averaged["p@3"] == 25


def test_different_choices_are_listed_and_never_averaged():
    records = [thresholds(method="ofo", seed=1, chosen=100), thresholds(method="ofo", seed=0, chosen=10)]
    averaged = average_seeds(threshold_frame(records), ("dataset", "model", "method")).iloc[0]
    assert averaged["b"] == "10/100"
    assert averaged["a"] == 1
    records = [record for seed in (0, 1) for record in every_method(seed=seed)]
    averaged = average_seeds(threshold_frame(records), ("dataset", "model", "method"))
    assert averaged["b"].dtype == "Int64"
    assert averaged["b"].fillna(-1).tolist() == [-1, -1, 10, 10, -1]


def test_an_interval_as_computed_by_hand():
    found = estimate_of([1.0, 2.0, 3.0])
    assert found.mean == 2
    half = 4.302653 / math.sqrt(3)  # t of 2 degrees of freedom; the deviation is 1
    assert (found.lower, found.upper) == (pytest.approx(2 - half, abs=1e-6), pytest.approx(2 + half, abs=1e-6))


def test_too_few_values_have_no_interval_and_are_on_no_side():
    alone, two = estimate_of([5.0]), estimate_of([5.0, 6.0], fewest=3)
    assert (alone.mean, alone.has_interval, two.mean, two.has_interval) == (5, False, 5.5, False)
    assert alone.side_of(0) == 0
    assert math.isnan(two.mapped(math.exp).upper)


def test_equal_values_have_an_interval_of_no_width():
    assert estimate_of([0.1] * 3) == Estimate(0.1, 0.1, 0.1)  # although 0.1 + 0.1 + 0.1 is not 0.3
    assert [estimate_of([0.1, 0.1]).side_of(margin) for margin in (0, 0.1, 0.2)] == [1, 0, -1]


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_19_of_20_intervals_hold_the_true_mean(n):
    draws = np.random.default_rng(n).normal(3, 2, (2000, n))
    held = np.mean([(found := estimate_of(values)).lower <= 3 <= found.upper for values in draws.tolist()])
    assert held == pytest.approx(0.95, abs=0.015)  # three standard errors


@pytest.fixture
def build(tmp_path):
    return lambda name, records, printed=None: build_from(
        tmp_path, name, "plt2016", records, printed and {name: printed}
    )


def test_markdown_structure(build):
    lines = to_markdown(build("table2", every_method())).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert [line for line in lines if line.startswith("**") and line.endswith("**")] == [
        "**Macro-F on the test set (%)**",
        "**Time per test instance (ms)**",
        "**Inner products per test instance**",
    ]
    assert [cell.strip() for cell in tables[0].strip("|").split("|")] == [
        "Dataset", "Model", "FTA", "STO", "OFO", "FTA label-wise"
    ]  # fmt: skip
    assert re.fullmatch(r"\|:-+\|:-+\|(-+:\|){4}", tables[1])
    assert [cell.strip() for cell in tables[2].strip("|").split("|")] == [
        "yeast", "PLT", "40.00", "35.00", "**42.00**", "41.00"
    ]  # fmt: skip
    assert len(tables) == 9


def test_latex_is_balanced_and_escaped(build):
    text = to_latex(build("table2", every_method("a_b") + every_method("c&d")))
    for environment in ("table", "tabular"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") > 0
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 3
    assert r"\textbf{42.00}" in text
    assert r"a\_b & PLT" in text
    assert r"c\&d & PLT" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and " & " in line]
    assert {re.sub(r"\\&", "", row).count("&") for row in rows} == {5}
    assert latex(r"50 % of x_1 \ {~}") == r"50 \% of x\_1 \textbackslash{} \{\textasciitilde{}\}"
    assert latex("OFO − FTA ± 1") == r"OFO $-$ FTA $\pm$ 1"


def test_csv_holds_every_digit_and_only_measured_values(build, tmp_path):
    score = 0.1 + 0.2 / 3
    table = build("table1", [ranking(p1=score)], "dataset,model,p@1\nyeast,plt,63.4\n")
    files = write_table(table, tmp_path / "out" / "v1.0")
    assert [file.name for file in files] == ["v1.0.csv", "v1.0.md", "v1.0.tex"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["v1.0.csv", "v1.0.md", "v1.0.tex"]
    back = pd.read_csv(files[0], dtype=str).iloc[0]
    assert float(back["p@1"]) == 100 * score
    assert "63.4" not in to_csv(table)
    assert "63.4" in files[1].read_text()
    assert math.isnan(back["predict_peak_mb"])
    # The print names the fingerprint of the CSV: below the Markdown, in front of the LaTeX.
    said = f"Fingerprint of all numbers but costs: {fingerprint(files[0]).word}"
    assert files[1].read_text().splitlines()[-1] == f"- {said}"
    assert files[2].read_text().splitlines()[1] == f"% {said}"
