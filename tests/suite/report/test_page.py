"""Test the report: cells with verdicts, counts, escaping, and no external content."""

import base64
import re
import runpy
import shutil
from itertools import product
from pathlib import Path

import pytest
from facts import absent
from page_cases import HOSTILE, PAPER, SPLIT, Reader, make_table, pages_of_run, small_run
from report_cases import thresholds, write
from repository import ROOT

from xmlc.suite.report.compare import published_lines
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.fingerprint import fingerprint

count_outcomes = runpy.run_path(str(ROOT / "docs/results.py"))["count_outcomes"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def pages(run):
    return pages_of_run(run)


def cells_of(html, *names):
    """Return the texts of the cells of all rows with these names."""
    found = []
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL):
        if re.findall(r'<th scope="row">([^<]*)</th>', row) == [*names]:
            for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL):
                found.append(" ".join(re.sub("<[^>]*>", " ", cell).split()))
    return found


def test_each_cell_is_shown_with_its_published_number_and_verdict(pages):
    cells = cells_of(pages.paper, "yeast", "PLT")
    # Table 2 has panels of macro-F, times and inner products. Each has a column for a method.
    assert {"40.02 ± 0.03 40.00 inside", "35.02 ± 0.03 36.00 below", "55 ± 0 55 equal"} <= {*cells}
    assert any(cell.endswith("0.50 (×0.5)") for cell in cells), "a cost has a ratio and no verdict"
    assert re.search(r'title="± 0.43; standard deviation 0.028 of 2 runs[^"]*"', pages.paper)


def test_index_lists_papers_failures_and_help(pages):
    signs = [
        f'href="{PAPER}.html">{PAPER}</a> <span',
        'id="failures"',
        "logs/yeast/fastxml/seed0/80/train.log",
        'id="how"',
    ]
    places = [pages.index.index(sign) for sign in signs]
    assert places == sorted(places)
    assert absent(pages.index, "no &lt;room&gt; left", published_lines(pages.numbers)[0]) == []


def test_claims_come_after_the_tables_and_count_without_costs(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    made = make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    html = pages_of_run(tmp_path).paper
    signs = ['id="table1"', 'id="table2"', 'id="claims"', "<img", "Machines and versions"]
    places = [html.index(sign) for sign in signs]
    assert places == sorted(places)
    shown = re.search(r'data-verdict="(\d+) not run"', html)
    assert 0 < int(shown[1]) < len(made.content)
    details = sum(panel.details for panel in made.panels)
    assert html.partition("Cases of each claim")[2].count("<table") == details > 0


def test_tables_that_are_not_in_the_paper_are_linked(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    records = [thresholds(method=f"for-{name}-f") for name in ("macro", "micro")]
    table = make_table(tmp_path, "measures", write(tmp_path / "results/yeast/measures", records))
    pages = pages_of_run(tmp_path)
    assert (
        absent(pages.paper, f'href="{PAPER}/measures.csv"', table.spec.caption.split("<")[0]) == []
    )
    assert 'id="measures"' not in pages.paper
    written = (tmp_path / f"results/tables/{PAPER}/measures.csv").read_text()
    assert pages.files[f"{PAPER}/measures.csv"] == written
    shutil.rmtree(tmp_path / "results/published")
    assert 'id="measures"' in pages_of_run(tmp_path).paper, (
        "a suite without published numbers shows all tables"
    )


OUTCOME = {
    "datasets run": "1 of 2",
    "published": 7,
    "run": 3,
    "reproduced": 2,
    "agree, fitted": 0,
    "differ": 1,
    "undecided": 0,
}


def test_every_measured_number_counts_once(pages):
    # Training of fastxml on yeast failed. Two numbers of wiki10-31k were not run.
    assert count_outcomes(pages.numbers) == OUTCOME
    facts = ["3 of 7", "1 of 2 datasets", "1 equal", "1 inside", "1 below"]
    assert absent(published_lines(pages.numbers)[0], *facts) == []


def test_published_table_without_results_counts_as_not_run(tmp_path):
    small_run(tmp_path)
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text(
        "dataset,model,p@1\nscene,plt,75.00\n"
    )
    for file in tmp_path.glob("results/tables/*/table1.*"):
        file.unlink()
    found = count_outcomes(pages_of_run(tmp_path).numbers)
    assert found == OUTCOME | {"datasets run": "1 of 3", "published": 8}


def test_without_split_error_only_equal_printed_numbers_are_judged(run):
    found = count_outcomes(pages_of_run(run, Judge()).numbers)
    assert (found["reproduced"], found["undecided"], found["run"]) == (1, 2, 3)


def test_statistic_of_a_dataset_has_its_verdict_in_each_row(tmp_path):
    small_run(tmp_path)
    text = "dataset,model,m,p@1\nyeast,swnn,14,70.00\n"
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text(text)
    html = pages_of_run(tmp_path).paper
    assert re.search(
        r'14 *<span class="e">14</span><span class="e" title="[^"]*"><span[^>]*>equal<', html
    )


def test_numbers_fitted_to_published_results_are_marked_and_counted(run, pages):
    judge = Judge(
        splits=SPLIT, fitted={(PAPER, "plt"): "C: kept because the printed row comes out"}
    )
    fitted = pages_of_run(run, judge)
    assert (
        absent(
            published_lines(fitted.numbers)[1], "2 of these agree", "fitted to published results"
        )
        == []
    )
    assert absent(fitted.paper, "C: kept because") == []
    assert (fitted.paper.count("</span> ‡"), pages.paper.count("</span> ‡")) == (3, 0)


@pytest.mark.parametrize("name", ["index", "paper"])
def test_every_value_is_escaped(pages, name):
    html = getattr(pages, name)
    assert HOSTILE not in html
    assert "&lt;" in html
    reader = Reader(html)
    assert name == "index" or HOSTILE in "".join(reader.text)
    assert "script" not in {tag for tag, _ in reader.tags}
    assert not [a for _, a in reader.tags if any(name.startswith("on") for name in a)]


@pytest.mark.parametrize("name", ["index", "paper"])
def test_page_is_self_contained_and_blocks_external_content(pages, name):
    html = getattr(pages, name)
    reader = Reader(html)
    addresses = [
        a[name]
        for (_, a), name in product(reader.tags, ("src", "href", "xlink:href", "action"))
        if a.get(name)
    ]
    links = {address for address in addresses if not address.startswith(("#", "data:"))}
    assert {"index.html", f"{PAPER}.html"} <= links <= {*pages.files}
    assert not re.search(r"@import|url\((?!#|%23)", html)
    identifiers = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(identifiers)
    policy = next(
        a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_pages_show_fingerprints_of_tables_and_of_folders_of_suites(run, pages):
    folder = run / "results/tables" / PAPER
    words = [fingerprint(folder / f"table{number}.csv").word for number in (1, 2)]
    whole = fingerprint(folder).word
    assert re.findall(r"Fingerprint[^:]*: <code>([^<]+)</code>", pages.paper) == [*words, whole]
    assert f"{PAPER}: <code>{whole}</code>" in pages.index


def test_machines_and_versions_of_the_records_are_named(pages):
    text = "".join(Reader(pages.paper).text)
    assert absent(text, "A <fast> CPU: xmlc 0.1.0; python 3.11.7; numpy 2.4.6") == []


def test_same_run_gives_identical_pages(run, pages):
    assert pages_of_run(run).files == pages.files


def test_figures_are_embedded_as_images(run, pages):
    images = {a["alt"]: a["src"] for tag, a in Reader(pages.paper).tags if tag == "img"}
    assert list(images) == [f"figure1 of {PAPER}"]
    start, _, content = images[f"figure1 of {PAPER}"].partition(",")
    assert start == "data:image/svg+xml;base64"
    assert base64.b64decode(content) == (run / f"results/figures/{PAPER}/figure1.svg").read_bytes()


def test_every_verdict_has_a_style():
    style = Path(ROOT, "xmlc/suite/report/templates/report.css").read_text()
    words = ["equal", "inside", "above", "below", "undecided", "not run", "holds", "does not hold"]
    assert absent(style, *(f'data-verdict*="{word}"' for word in words)) == []


def test_every_class_with_a_style_is_used():
    folder = ROOT / "xmlc/suite/report/templates"
    styled = set(re.findall(r"\.([a-z]+)(?=[ :>\[.,{)])", (folder / "report.css").read_text()))
    used = {"best"}
    for file in folder.glob("*.j2"):
        for names in re.findall(r'class="([^"{]+)"', file.read_text()):
            used |= set(names.split())
    assert styled <= used
