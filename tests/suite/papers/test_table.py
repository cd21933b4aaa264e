"""Test how published values are read, and how tables are written as Markdown, LaTeX and CSV."""

import html
import math
import re

import pandas as pd
import pytest
import yaml
from built_tables import build_from
from facts import raises_with
from report_cases import every_method, ranking, write
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.papers import read_declared
from xmlc.suite.papers.building import build_table, published_numbers, write_table
from xmlc.suite.papers.printing import escaped, latex, to_csv, to_latex, to_markdown
from xmlc.suite.papers.tables import PanelSpec, TableSpec
from xmlc.suite.results import titles
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import NUMBER


@pytest.fixture
def build(tmp_path):
    return lambda name, records, printed=None: build_from(
        tmp_path, name, "plt2016", records, printed and {name: printed}
    )


def test_published_values_keep_their_digits():
    printed = published_numbers(Manifest("table1", "plt2016", (), ROOT / "results/published"))
    values = printed.set_index(["dataset", "model", "quantity"])["value"]
    assert values["rcv1-2k", "plt-hashed", "p@3"] == "72.4"
    assert values["amazoncat-13k", "fastxml", "p@3"] == "77.50"


def test_panel_appends_rows_of_the_paper_on_datasets_that_were_run():
    run = dict.fromkeys(NUMBER, "") | {"dataset": "a", "model": "plt", "seed": 0}
    run |= {"quantity": "p@1", "value": 50.0}
    published = pd.DataFrame({"dataset": ["a", "a", "b"], "model": ["plt", "fastxml", "plt"]})
    published = published.assign(quantity="p@1", value="51.0")
    spec = TableSpec(
        needs=(),
        keys=("dataset", "model"),
        panels=(PanelSpec(quantities=("p@1",), each="dataset"),),
        rest=("p@1",),
        quotes=True,
    )
    table = spec.build("mine", pd.DataFrame([run], dtype=object), published)
    keys = [[cell.key for (cell,) in panel.cells] for panel in table.panels]
    assert keys == [[("a", "plt"), ("a", "fastxml")], [("b", "plt")]]


@pytest.mark.parametrize("key", ["keys", "more", "columns"])
def test_misspelt_quantity_of_a_table_is_refused(tmp_path, key):
    file = tmp_path / "tables.yaml"
    file.write_text(yaml.safe_dump({"tail": {"needs": [], "keys": ["model"], key: ["modle"]}}))
    with raises_with(XmlcError, "tables.yaml: tail", "'modle'", "expected", "model"):
        read_declared(file, TableSpec, {})


def test_markdown_has_title_panels_and_notes(build):
    text = to_markdown(build("table2", every_method()))
    assert text.startswith("**Table 2, plt2016.**")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [" ".join(row.split()) for row in rows]
    assert cells[0] == "| Dataset | Model | FTA | STO | OFO | FTA label-wise |"
    assert re.fullmatch(r"\|:-+\|:-+\|(-+:\|){4}", rows[1])
    assert cells[2] == "| yeast | PLT | 40.00 | 35.00 | **42.00** | 41.00 |"
    assert len(rows) == 9


def test_latex_has_an_escaped_float_for_each_panel(build):
    records = every_method("a_b") + every_method("c&d") + every_method("[1] e")
    table = build("table2", records)
    table.notes = ["first\nsecond"]
    text = to_latex(table)
    for environment in ("table*", "tabular"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 3
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 3
    for cell in (r"\textbf{42.00}", r"a\_b & PLT", r"c\&d & PLT", "\n{[}1] e & PLT"):
        assert cell in text
    assert text.splitlines()[-1] == "% first second"
    assert latex(r"50 % of x_1 \ {~}") == r"50 \% of x\_1 \textbackslash{} \{\textasciitilde{}\}"
    assert latex("Mine\nand yours − 1 ± 1") == r"Mine and yours $-$ 1 $\pm$ 1"


def test_model_titles_come_from_the_suite(tmp_path):
    records = tuple(write(tmp_path, [ranking(model="of-mine")]))
    made = Manifest("table1", "demo", records, titles={"of-mine": "Model X"})
    assert "| yeast     | Model X |" in to_markdown(build_table(made))


def test_csv_has_all_digits_and_only_measured_values(build, tmp_path):
    score = 0.1 + 0.2 / 3
    table = build("table1", [ranking(p1=score)], "dataset,model,p@1\nyeast,plt,63.4\n")
    csv, md, tex = write_table(table, tmp_path / "out" / "v1.0")
    assert [csv.name, md.name, tex.name] == ["v1.0.csv", "v1.0.md", "v1.0.tex"]
    assert {*(tmp_path / "out").iterdir()} == {csv, md, tex}
    back = pd.read_csv(csv, dtype=str).iloc[0]
    assert float(back["p@1"]) == 100 * score
    assert math.isnan(back["predict_peak_mb"])
    assert "63.4" not in to_csv(table)
    assert "63.4" in md.read_text()
    # The fingerprint of the CSV is below the Markdown and before the LaTeX.
    said = f"Fingerprint of all numbers but costs: {fingerprint(csv).word}"
    assert md.read_text().splitlines()[-1] == f"- {said}"
    assert tex.read_text().splitlines()[1] == f"% {said}"


ESCAPED = {
    "<img src=x onerror=alert(1)>": "&lt;img src=x onerror=alert(1)>",
    "[here](http://x.y)": "&#91;here](http&#58;//x.y)",
    "![a][b]": "!&#91;a][b]",
    "@everyone": "@&#8203;everyone",
    "p@1, macro_f, [1, 2], 3 > 2, AT&T": "p@1, macro_f, [1, 2], 3 > 2, AT&T",
    "a|b `c` *d* _e_ ~f~": "a&#124;b &#96;c&#96; &#42;d&#42; &#95;e&#95; &#126;f&#126;",
    "$g$ \\h": "&#36;g&#36; &#92;h",
    "&lt;b": "&amp;lt;b",
    "two\n lines": "two lines",
}


@pytest.mark.parametrize("text", ESCAPED)
def test_markdown_shows_text_unchanged(text):
    written = ESCAPED[text]
    assert escaped(text) == written
    assert html.unescape(written.replace("&#8203;", "")) == " ".join(text.split())


def test_titles_of_models_are_escaped_in_markdown(build, monkeypatch):
    monkeypatch.setitem(titles._MODELS, "plt", "<b>|@all</b>")
    assert "| &lt;b>&#124;@&#8203;all&lt;/b> |" in to_markdown(build("table2", every_method()))
    assert escaped("run `xmlc show <x>` <b>", code=True) == "run `xmlc show <x>` &lt;b>"
