"""Builders: from hand-made records to rows, panels, bold, published values beside ours."""

import math
import re

import pandas as pd
import pytest
from built_tables import build_from
from report_cases import (
    condensed,
    every_measure,
    every_method,
    forest,
    inference,
    inferred_from_estimates,
    ranking,
    thresholds,
    write,
)

from xmlc.cli import main
from xmlc.errors import XmlcError
from xmlc.papers import COMMON, every_table
from xmlc.papers.building import OTHER_FILES
from xmlc.tables.fingerprint import fingerprint
from xmlc.tables.render import latex, to_csv, to_latex, to_markdown, write_table


@pytest.fixture
def build(tmp_path):
    models = {"plt": {"tuning": {"arity": [2, 16]}}}

    def make(name, records, published=None, paper="plt2016"):
        return build_from(tmp_path, name, paper, records, published and {name: published}, models)

    return make


def cells(panel):
    """Printed cells of a panel by row key and heading; a bold one in asterisks."""
    found = {}
    for line in panel.cells():
        key = tuple(text for text, _ in line[: len(panel.keys)])
        for heading, (text, bold) in zip(panel.headings(), line, strict=True):
            found[key, heading] = f"*{text}*" if bold else text
    return found


def test_table_1(build):
    published = "dataset,model,m,p@1,train_minutes\nyeast,plt,14,63.4,64\n"
    table = build("table1", [ranking(), ranking(model="fastxml", p1=0.6, seconds=30.0)], published)
    assert table.frame[["dataset", "model"]].to_numpy().tolist() == [["yeast", "plt"], ["yeast", "fastxml"]]
    assert table.frame.loc[0, ["m", "p@1", "p@3", "ndcg@5", "train_minutes", "model_mb", "seeds"]].tolist() == [
        14, 75, 25, 15, 1.5, 2.5, 1
    ]  # fmt: skip
    datasets, scores = table.panels
    assert len(datasets.rows) == 1
    assert cells(datasets)[("yeast",), "#labels (paper)"] == "14"
    printed = cells(scores)
    assert printed[("yeast", "PLT"), "P@1 (%)"] == "*75.00*"
    assert printed[("yeast", "FastXML"), "P@1 (%)"] == "60.00"
    assert printed[("yeast", "FastXML"), "Time (min)"] == "*0.500*"
    assert printed[("yeast", "PLT"), "P@1 (paper)"] == "63.4"
    assert printed[("yeast", "FastXML"), "P@1 (paper)"] == "–"
    assert "P@3 (paper)" not in scores.headings()


def test_table_2_says_where_sto_overfits(build):
    """Highest on validation and below another on test: the paper's pattern; either alone is not."""
    records = []
    for name, sto, validation in (("yeast", 0.35, 0.9), ("scene", 0.5, 0.9), ("enron", 0.35, 0.3)):
        records += [thresholds(name, method=method) for method in ("fta", "ofo")]
        record = thresholds(name, method="sto", f=sto)
        record["best"]["validation"]["macro_f"] = validation
        records.append(record)
    notes = build("table2", records + every_method(model="oracle")).notes
    overfits, not_seen = (next(note for note in notes if start in note) for start in ("STO overfits", "not seen"))
    assert "yeast with PLT (90.0 on validation, 35.0 on test, the best other 40.0)." in overfits
    assert [name in not_seen for name in ("yeast", "scene", "enron", "oracle")] == [False, True, True, False]


def test_table_2(build):
    published = "dataset,model,method,macro_f,test_ms,inner_products\nyeast,plt,sto,21.16,0.78,354\n"
    table = build("table2", every_method(), published)
    assert table.frame["method"].tolist() == ["fta", "sto", "ofo", "fta-labelwise"]
    row = table.frame.set_index("method").loc["ofo"]
    assert row[["macro_f", "test_ms", "inner_products"]].tolist() == pytest.approx([42, 0.25, 55])
    assert row["macro_f_zero"] == pytest.approx(21)
    assert row["validation_macro_f"] == pytest.approx(52)
    assert (row["c"], row["a"], row["b"]) == (10, 1, 10)
    wanted = {"macro_f_present", "macro_f_seen", "micro_f", "instance_f", "hamming_loss", "test_threads"}
    assert wanted <= set(table.frame)
    scores, times, products = (cells(panel) for panel in table.panels)
    assert scores[("yeast", "PLT"), "OFO"] == "*42.00*"
    assert scores[("yeast", "PLT"), "FTA label-wise"] == "41.00"
    assert scores[("yeast", "PLT"), "STO (paper)"] == "21.16"
    assert [heading for heading in table.panels[0].headings() if "paper" in heading] == ["STO (paper)"]
    assert times[("yeast", "PLT"), "STO (paper)"] == "0.78"
    assert products[("yeast", "PLT"), "FTA"] == "55"


def test_a_method_that_was_not_run_leaves_a_dash(build):
    records = [thresholds(method="fta"), thresholds(method="sto"), thresholds(model="fastxml", method="fta", f=0.3)]
    table = build("table2", records)
    assert len(table.frame) == 3
    printed = cells(table.panels[0])
    assert printed[("yeast", "FastXML"), "STO"] == "–"
    assert printed[("yeast", "FastXML"), "FTA"] == "30.00"


def test_table_4(build):
    published = (
        "model,dataset,a,b,validation_macro_f,test_macro_f,fta,sto\nplt,yeast,300,20000,22.20,22.00,20.41,21.16\n"
    )
    records = every_method("scene") + every_method() + every_method("scene", "fastxml", f=0.5)
    table = build("table4", records, published)
    assert table.frame[["model", "dataset"]].to_numpy().tolist() == [
        ["plt", "scene"], ["plt", "yeast"], ["fastxml", "scene"]
    ]  # fmt: skip
    row = table.frame.iloc[1]
    scores = row[["a", "b", "validation_macro_f", "test_macro_f", "fta", "sto"]].tolist()
    assert scores == pytest.approx([1, 10, 53, 43, 40, 35])
    (panel,) = table.panels
    printed = cells(panel)
    assert printed[("PLT", "yeast"), "OFO (%)"] == "*43.00*"
    assert printed[("PLT", "yeast"), "OFO, valid. (%)"] == "53.00"
    assert printed[("PLT", "yeast"), "OFO (paper)"] == "22.00"
    assert printed[("PLT", "yeast"), "b (paper)"] == "20000"
    # The best of a dataset is sought over models, as in the paper.
    assert printed[("PLT", "scene"), "OFO (%)"] == "43.00"
    assert printed[("FastXML", "scene"), "OFO (%)"] == "*53.00*"


def test_table_4_without_fta_and_sto(build):
    table = build("table4", [thresholds(method="ofo-ab")])
    assert table.frame[["fta", "sto"]].isna().all(axis=None)
    assert cells(table.panels[0])[("PLT", "yeast"), "STO (%)"] == "–"


def test_the_oracle_wins_no_prize_and_ties_share_it(build):
    records = [ranking(p1=0.5), ranking(model="fastxml", p1=0.5), ranking(model="late", p1=0.4)]
    printed = cells(build("table1", [*records, ranking(model="oracle", p1=0.9)]).panels[1])
    marked = {key[0][1] for key, text in printed.items() if key[1] == "P@1 (%)" and text.startswith("*")}
    assert marked == {"PLT", "FastXML"}


def test_equal_values_win_nothing(build):
    printed = cells(build("table1", [ranking(), ranking(model="fastxml")]).panels[1])
    assert not [text for text in printed.values() if text.startswith("*")]


def test_seeds_show_their_spread(build):
    table = build("table2", [thresholds(seed=seed, f=f) for seed, f in ((0, 0.40), (1, 0.42))])
    assert table.frame["macro_f_std"].tolist() == pytest.approx([2**0.5])
    assert cells(table.panels[0])[("yeast", "PLT"), "FTA"] == "41.00 ± 1.41"
    assert any("Seeds: 0, 1" in note for note in table.notes)


def test_what_is_not_published_leaves_no_trace(build):
    text = to_markdown(build("table2", every_method(), paper="demo"))
    assert "paper" not in text
    assert text.startswith("**Table 2, demo.**")


def test_unknown_table_and_unfit_records(build):
    with pytest.raises(XmlcError, match=r"table .table9. is unknown; expected one of .*table1, table2"):
        build("9", [ranking()])
    with pytest.raises(XmlcError, match="no record of method 'ofo-ab'"):
        build("table4", [thresholds(name="bibtex", method="fta")])
    with pytest.raises(XmlcError, match="ofo-ab"):
        build("table2", [thresholds(name="scene", method="ofo-ab")])


def test_markdown_says_the_conventions(build):
    text = to_markdown(build("table2", every_method() + every_method(model="oracle", f=0.8)))
    flat = re.sub(r"\s+", " ", text)
    for words in (
        "0/0 = 1", "all m labels", "strictly greater", "80 % of the training set", "with 2 threads",
        "yeast (796561737400)", "Seed: 0.", "oracle left out", "label by label",
    ):  # fmt: skip
        assert words in flat, words
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 110


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


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_command_says_only_where_the_files_are(tmp_path, capsys):
    records = write(tmp_path / "records", every_method())
    prefix = tmp_path / "table2"
    status, out, err = run(capsys, "table", "2", *records, "--paper", "demo", "--out", prefix)
    assert (status, err) == (0, "")
    assert out.split() == [f"{prefix}.csv", f"{prefix}.md", f"{prefix}.tex"]
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(map(str, records)) + "\n")
    arguments = ("--records-from", listed, "--paper", "demo", "--out", tmp_path / "again", "--print")
    status, out, _ = run(capsys, "table", "table2", *arguments)
    assert status == 0
    assert "**42.00**" in out
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "table2.csv").read_bytes()
    marked = ("--paper", "demo", "--records", *records, "--out", tmp_path / "third")
    assert run(capsys, "table", "2", *marked)[0] == 0
    assert (tmp_path / "third.md").read_bytes() == (tmp_path / "again.md").read_bytes()


def test_command_leaves_nothing_behind_an_error(tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text("{")
    status, _, err = run(capsys, "table", "1", path, "--paper", "demo", "--out", tmp_path / "out" / "t")
    assert status == 1
    assert "x.json" in err
    assert not (tmp_path / "out").exists()
    status, _, err = run(capsys, "table", "1", "--paper", "demo", "--out", tmp_path / "out" / "t")
    assert status == 1
    assert "no records given" in err


def test_every_table_has_its_keys_in_front(build):
    # What steps and statistics wrote are no records of a dataset and model: their tables have tests of their own.
    for paper, definition in every_table():
        if definition.needs[0].kind in OTHER_FILES:
            continue
        table = build_table_of(definition.name, build, "plt2016" if paper == COMMON else paper)
        assert tuple(table.frame.columns[: len(definition.keys)]) == definition.keys
        assert table.keys == definition.keys


def build_table_of(name, build, paper):
    dataset = f"{name}-base"  # the table of growth asks for a base
    inferred = [inference(name=dataset), inferred_from_estimates(name=dataset)]
    others = [*inferred, condensed(name=dataset), forest(name=dataset)]
    ranked = ranking(name=dataset)
    if (paper, name) == ("oplt2021", "table3"):  # which is about instances with one label each
        ranked["dataset"] = ranked["dataset"] | {"labels_per_instance": 1}
    return build(name, [ranked, *every_method(dataset), *every_measure(dataset), *others], paper=paper)
