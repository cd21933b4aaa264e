"""Tables as Markdown, LaTeX and CSV."""

import math
import re

import pandas as pd
import pytest
from built_tables import build_from
from report_cases import every_method, ranking

from xmlc.papers.tables.fingerprint import fingerprint
from xmlc.papers.tables.render import latex, to_csv, to_latex, to_markdown, write_table


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
