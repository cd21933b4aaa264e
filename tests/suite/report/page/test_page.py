"""Test the report: verdicts of cells, headlines, environments, escaping, and no external content."""

import base64
import hashlib
import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest
from facts import absent, raises_with
from page_cases import (
    HOSTILE,
    PAPER,
    SPLIT,
    Reader,
    cell,
    comparisons,
    environment,
    make_table,
    pages_of_run,
    report_of_run,
    shown,
    small_run,
    step,
)
from record_files import as_record
from report_cases import dataset, inference, inferred_from_estimates, ranking, thresholds, write
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.claims_table import counted
from xmlc.suite.report.compare import count_outcomes, published_lines
from xmlc.suite.report.page.content import report_of
from xmlc.suite.report.page.drawing import quality_against_time
from xmlc.suite.report.page.environments import Environments
from xmlc.suite.report.page.render import bar_of, pages_of
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.verdicts import Verdict


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def report(run):
    return report_of_run(run)


@pytest.fixture(scope="module")
def pages(run):
    return pages_of_run(run)


def test_each_cell_is_shown_with_its_published_number(report):
    fta, sto = (cell(report, "Table 2", 0, ["yeast", "PLT"], method) for method in ("FTA", "STO"))
    assert (fta.text, fta.published, fta.verdict) == ("40.02 ± 0.03", "40.00", Verdict.INSIDE)
    assert (fta.difference, fta.interval) == ("+0.02", "± 0.43")
    assert absent(fta.reason, 0.028, "2 runs") == []
    assert (sto.published, sto.difference, sto.verdict) == ("36.00", "−0.98", Verdict.BELOW)
    assert cell(report, "Table 2", 0, ["yeast", "PLT"], "OFO").published == ""
    time = cell(report, "Table 2", 1, ["yeast", "PLT"], "FTA")  # costs are not judged, here .25 ms and .5 ms
    assert (time.published, time.difference, time.verdict) == ("0.50", "×0.5", "")
    assert cell(report, "Table 2", 2, ["yeast", "PLT"], "FTA").verdict == Verdict.EQUAL  # 55 inner products


def test_index_shows_papers_then_datasets_and_paper_shows_tables_then_claims(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    made = make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    report, pages = report_of_run(tmp_path), pages_of_run(tmp_path)
    (paper,) = report.papers
    assert {table.title for table in paper.shown} == {"Table 1", "Table 2", "Claims"}
    assert paper.claims.equals(counted(made))
    for html, signs in (
        (pages.index, ["<h1>Results on yeast<", 'id="papers"', 'id="failures"', 'id="on-yeast"', "<img", 'id="how"']),
        (pages.paper, ['id="table1"', 'id="table2"', "<img", 'id="claims"', "<footer"]),
    ):
        assert [html.index(sign) for sign in signs] == sorted(html.index(sign) for sign in signs)
    # Only verbatim claims count, without costs.
    assert len(made.content) > len(paper.claims) > paper.verdicts["not run"] > 0
    details = sum(panel.details for panel in made.panels)
    assert pages.paper.partition("Cases of each claim")[2].count("<table") == details > 0


def test_bar_of_a_paper_counts_each_measured_number_once(report, pages):
    (paper,) = report.papers
    assert bar_of(paper.judged) == {"equal": 1, "inside": 1, "below": 1, "not run": 4}
    for html in (pages.index, pages.paper):
        assert absent(html, ">1 equal<", ">1 inside<", ">1 below<", ">4 not run<") == []


def test_verdict_of_a_cell_is_a_colour_and_a_word(pages):
    cells = re.findall(r'<span class="e">([\d.]+) <span class="tag (\w+)">([\w ]+)</span>', pages.paper)
    assert {("40.00", "inside", "inside"), ("36.00", "outside", "below"), ("55", "equal", "equal")} <= {*cells}


def test_columns_after_the_tenth_are_shown_on_request(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    records = [thresholds(method=f"for-{name}-f") for name in ("macro", "micro")]
    make_table(tmp_path, "measures", write(tmp_path / "results/yeast/measures", records))
    (paper,) = report_of_run(tmp_path).papers
    assert [table.title for table in paper.more] == ["Measures"]
    pages = pages_of_run(tmp_path)
    assert absent(pages.paper, f'href="{PAPER}/measures.csv"') == []
    assert pages.files[f"{PAPER}/measures.csv"] == (tmp_path / f"results/tables/{PAPER}/measures.csv").read_text()
    (table,) = (table for table in paper.tables if table.title == "Measures")
    one = table.panels[0]
    panel = replace(one.panel, columns=one.panel.columns * 4)
    wide = replace(one, panel=panel, cells=[row * 4 for row in one.cells], best=one.best * 4)
    names = len(panel.names)
    columns = len(panel.columns)
    # A suite without published numbers shows all tables.
    suite = replace(paper, tables=[replace(table, panels=[wide])], judged=paper.judged.iloc[:0])
    html = pages_of(replace(report_of_run(tmp_path), papers=[suite]))[f"{PAPER}.html"]
    heads = re.findall(r'<th scope="col" class="([^"]*)"', html)
    assert (columns, len(heads), heads.count("v more")) == (12, 12, 12 + names - 10)
    assert absent(html, 'type="checkbox"', f"Show all {12 + names} columns") == []


def test_row_of_a_model_has_its_ranking_and_best_label_sets():
    sets = [
        thresholds(method=method, f=f)
        for method, f in {"sto": 0.5, "fta": 0.4, "for-micro-f": 0.9, "for-a-measure-of-before": 0.9}.items()
    ]
    records = [*sets, inferred_from_estimates(method="gfm", f=0.6), ranking(), ranking(model="fastxml", p1=0.8)]
    (found,) = comparisons(*records)
    p, f = "P@1 (%)", "Macro-F, labels present (%)"
    assert list(shown(found, p)) == ["FastXML", "PLT"]  # sorted by P@1
    assert (shown(found, p)["FastXML"].best, shown(found, p)["PLT"].best) == (True, False)
    best = shown(found, f)["PLT"]
    assert (best.text, best.by, best.order) == ("20.00", "GFM", pytest.approx(20))  # .6 / 3, while STO has .5 / 3
    assert shown(found, "Macro-F, 0/0 = 1 (%)")["PLT"].text == "60.00"
    two = [ranking(model=model, p1=0.5) for model in ("swnn", "swnn-searched")]
    assert list(shown(*comparisons(*two), p)) == ["SWNN (swnn)", "SWNN (swnn-searched)"]
    assert (shown(found, "Instance-F (%)")["PLT"].text, shown(found, f)["FastXML"].text) == ("60.00", "–")
    costs = [shown(found, name)["PLT"].text for name in ("Train (s)", "Predict (ms)", "Model (MB)")]
    assert costs == ["90", "0.0123", "2.50"]
    drawn = unquote(found.drawing)
    assert ">FastXML</text>" in drawn
    assert ">PLT</text>" in drawn
    assert comparisons(ranking())[0].drawing is None


def test_drawing_names_models_of_any_title():
    titles = ("$$", "_mine", "bell\a")
    drawn = quality_against_time(pd.DataFrame({"model": titles, "x": 1.0, "y": [50.0, 51.0, 52.0]}))
    texts = [one.text.strip() for one in ElementTree.fromstring(unquote(drawn).partition(",")[2]).iter() if one.text]
    assert {"$$", "_mine", "bell"} <= {*texts}


def test_oracle_is_never_best():
    p1 = {"plt": (0.70, 0.72), "swnn": (0.60, 0.62), "oracle": (0.90, 0.90)}
    records = [ranking(model=model, seed=seed, p1=one) for model, ones in p1.items() for seed, one in enumerate(ones)]
    (found,) = comparisons(*records)
    assert {name: cell.best for name, cell in shown(found, "P@1 (%)").items()} == {
        "oracle": False,
        "PLT": True,
        "SWNN": False,
    }


def test_datasets_are_sorted_by_labels_and_need_a_result():
    sizes = {"large": 900, "small": 6, "mine": 7}
    records = [ranking(name, dataset=dataset(name) | {"m": m}) for name, m in sizes.items()]
    found = comparisons(*records, inference("never", finished=False))
    assert [(one.name, one.labels) for one in found] == [("small", 6), ("mine", 7), ("large", 900)]
    (synthetic,) = comparisons(ranking(dataset=dataset("yeast (synthetic)")))
    assert synthetic.identifier == "on-yeast-(synthetic)"


OUTCOME = {
    "datasets run": "1 of 2", "published": 7, "run": 3,
    "reproduced": 2, "agree, fitted": 0, "differ": 1, "undecided": 0,
}  # fmt: skip


def test_headline_counts_every_measured_cell_once(report):
    # Training of fastxml on yeast failed. Two numbers of wiki10-31k were not run.
    assert count_outcomes(report.papers[0].judged) == OUTCOME
    facts = ["3 of 7", "1 of 2 datasets", "1 equal", "1 inside", "1 below"]
    assert absent(published_lines(report.judged)[0], *facts) == []


def test_index_counts_outcomes_and_names_datasets_that_were_not_run(pages):
    text = " ".join("".join(Reader(pages.index).text).split())
    facts = ["7 published, 3 run: 2 reproduced, 1 differ, 0 undecided", "not run: wiki10-31k"]
    assert absent(text, *facts) == []


def test_published_table_without_results_counts_as_not_run(tmp_path):
    small_run(tmp_path)
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text("dataset,model,p@1\nscene,plt,75.00\n")
    for file in tmp_path.glob("results/tables/*/table1.*"):
        file.unlink()
    found = count_outcomes(report_of_run(tmp_path).papers[0].judged)
    assert found == OUTCOME | {"datasets run": "1 of 3", "published": 8}


def test_without_split_error_only_equal_printed_numbers_are_judged(run):
    found = count_outcomes(report_of_run(run, Judge()).papers[0].judged)
    assert (found["reproduced"], found["undecided"], found["run"]) == (1, 2, 3)


def test_missing_cells_are_listed_with_reason_of_failure(report):
    table = next(t for t in report.papers[0].tables if t.title == "Table 2")
    rows = list(table.others.panel.rows)
    assert {*rows} == {("yeast", "FastXML", "FTA"), ("wiki10-31k", "PLT", "FTA")}
    failed = table.others.cells[rows.index(("yeast", "FastXML", "FTA"))][0]
    assert (failed.text, failed.published, failed.verdict) == ("–", "17.04", Verdict.NOT_RUN)
    assert failed.reason == "no <room> left"


def test_published_statistics_of_datasets_that_were_not_run_are_listed(tmp_path):
    small_run(tmp_path)
    text = "dataset,model,m,p@1\nscene,plt,6,75.00\nscene,fastxml,6,74.00\nwiki10-31k,plt,30938,\n"
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text(text)
    table = next(one for one in report_of_run(tmp_path).papers[0].tables if one.title == "Table 1")
    published = [[cell.published for cell in row] for row in table.others.cells]
    assert dict(zip(table.others.panel.rows, published, strict=True)) == {
        ("scene", "PLT"): ["6", "75.00"],
        ("scene", "FastXML"): ["", "74.00"],
        ("wiki10-31k", "PLT"): ["30938", ""],
    }


def test_number_has_one_environment_for_records_that_differ_only_in_the_seed():
    paths = [Path(f"results/yeast/plt/seed{seed}/80/evaluation/sto.json") for seed in (0, 1)]
    records = [as_record(thresholds(method="sto", seed=seed) | {"environment": environment(), "step": step("evaluate")})
               for seed in (0, 1)]  # fmt: skip
    environments = Environments(dict(zip(paths, records, strict=True)))
    assert environments.numbers(paths) == environments.numbers(paths) == [0]
    assert environments.numbers(paths[:1]) == [1]
    shown = environments.shown
    assert shown[0]["title"] == "PLT, STO"
    lines, one = (dict(environment["lines"]) for environment in shown)
    assert (lines["seed"], one["seed"]) == ("0, 1", "0")
    assert (lines["machine"], lines["threads"], lines["time of the step"]) == ("A <fast> CPU", "2", "5.25 s")
    assert "numpy 2.4.6" in lines["versions"]
    assert lines["record"] == "results/yeast/plt/seed{0,1}/80/evaluation/sto.json"
    assert shown[0]["command"] == f"snakemake --cores 2 --force {lines['record']}"


def test_numbers_fitted_to_published_results_are_marked_and_counted(run, pages):
    judge = Judge(same_split=SPLIT, fitted_settings={(PAPER, "plt"): "C: kept because the printed row comes out"})
    report = report_of_run(run, judge)
    assert absent(published_lines(report.papers[0].judged)[1], "2 of these agree", "fitted to published results") == []
    assert cell(report, "Table 2", 0, ["yeast", "PLT"], "STO").fitted.startswith("C: ")
    assert (pages_of_run(run, judge).paper.count("‡</sup>"), pages.paper.count("‡</sup>")) == (3, 0)


def test_report_without_results_is_refused_with_advice(tmp_path):
    with raises_with(XmlcError, "make demo"):
        report_of([], [], Judge(), tmp_path)


@pytest.mark.parametrize("name", ["index", "paper"])
def test_every_value_is_escaped(pages, name):
    html = getattr(pages, name)
    assert HOSTILE not in html
    assert "&lt;" in html
    reader = Reader(html)
    assert name == "index" or HOSTILE in "".join(reader.text) or HOSTILE in {a.get("data-o") for _, a in reader.tags}
    assert [a.get("type") for tag, a in reader.tags if tag == "script"] == ["application/json", None]
    assert not [a for _, a in reader.tags if any(name.startswith("on") for name in a)]


@pytest.mark.parametrize("name", ["index", "paper"])
def test_page_is_self_contained_and_blocks_external_content(pages, name):
    html = getattr(pages, name)
    reader = Reader(html)
    addresses = [a[name] for _, a in reader.tags for name in ("src", "href", "xlink:href", "action") if a.get(name)]
    links = {address for address in addresses if not address.startswith(("#", "data:"))}
    assert {"index.html", f"{PAPER}.html"} <= links <= {*pages.files}
    assert not re.search(r"@import|url\((?!#|%23)", html)
    identifiers = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(identifiers)
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_pages_show_fingerprints_of_tables_and_of_folders_of_suites(run, report, pages):
    (paper,) = report.papers
    assert paper.fingerprint == fingerprint(run / "results/tables" / PAPER)
    assert {table.title: table.fingerprint for table in paper.tables} == {
        f"Table {number}": fingerprint(run / f"results/tables/{PAPER}/table{number}.csv") for number in (1, 2)
    }
    shown = re.findall(r"Fingerprint[^:]*: <code>([^<]+)</code>", pages.paper)
    assert shown == [part.fingerprint.word for part in (*paper.tables, paper)]
    assert f"{PAPER} is <code>{paper.fingerprint.word}</code>" in pages.index


def test_same_run_gives_identical_pages(run, pages):
    assert pages_of_run(run).files == pages.files


def test_figures_are_embedded_as_images(run, pages):
    assert [a["alt"] for tag, a in Reader(pages.index).tags if tag == "img"] == ["Quality against time on yeast"]
    images = {a["alt"]: a["src"] for tag, a in Reader(pages.paper).tags if tag == "img"}
    assert list(images) == [f"Figure 1, {PAPER}"]
    start, _, svg = images[f"Figure 1, {PAPER}"].partition(",")
    assert start == "data:image/svg+xml"
    file = run / f"results/figures/{PAPER}/figure1.svg"
    drawn, theirs = (ElementTree.fromstring(text) for text in (unquote(svg), file.read_text()))
    assert [one.tag for one in drawn.iter()] == [one.tag for one in theirs.iter()]


def test_script_reads_only_data_that_the_template_writes():
    folder = ROOT / "xmlc/suite/report/page/templates"
    read = set(re.findall(r"\b(?:dataset|number\.dataset|data)\.(\w+)", (folder / "report.js").read_text()))
    assert read - {"dataset"} == set(re.findall(r"\bdata-(\w+)", (folder / "macros.html.j2").read_text()))
