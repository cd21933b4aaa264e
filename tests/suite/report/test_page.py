"""Test the report: cells with verdicts, counts, escaping, and no external content."""

import base64
import re
import shutil

import pytest
from facts import absent
from page_cases import HOSTILE, PAPER, SPLIT, Reader, make_table, pages_of_run, small_run
from report_cases import thresholds, write

from xmlc.suite.papers import figure_of
from xmlc.suite.report.compare import count_outcomes, published_lines
from xmlc.suite.report.verdicts import Judge
from xmlc.suite.results.fingerprint import fingerprint


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def pages(run):
    return pages_of_run(run)


@pytest.fixture
def copied(run, tmp_path):
    """Return a copy of the run that a test may change."""
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    return tmp_path


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


def test_index_links_papers_and_lists_failures(pages):
    facts = [f'href="{PAPER}.html"', "logs/yeast/fastxml/seed0/80/train.log", "&lt;room&gt; left"]
    assert absent(pages.index, facts, published_lines(pages.numbers)[0]) == []


def test_claims_come_after_the_tables_and_count_without_costs(copied):
    made = make_table(copied, "claims", [*copied.glob("results/yeast/rankings/*.json")])
    html = pages_of_run(copied).paper
    assert html.index('id="table2"') < html.index('id="claims"')
    counted = re.search(r'data-verdict="(\d+) not run"', html)
    assert 0 < int(counted[1]) < len(made.content)
    details = sum(panel.details for panel in made.panels)
    assert html.partition("Cases of each claim")[2].count("<table") == details > 0


def test_tables_that_are_not_in_the_paper_are_linked(copied):
    records = [thresholds(method=f"for-{name}-f") for name in ("macro", "micro")]
    make_table(copied, "measures", write(copied / "results/yeast/measures", records))
    pages = pages_of_run(copied)
    name = f"{PAPER}/measures.csv"
    assert absent(pages.paper, f'href="{name}"') == []
    assert 'id="measures"' not in pages.paper
    assert pages.files[name] == (copied / "results/tables" / name).read_text()
    shutil.rmtree(copied / "results/published")
    html = pages_of_run(copied).paper
    assert 'id="measures"' in html, "a suite without published numbers shows all tables"


OUTCOME = {
    "datasets run": "1 of 2",
    "published": 7,
    "run": 3,
    "reproduced": 2,
    "agree, fitted": 0,
    "differ": 1,
    "undecided": 0,
    "not run": 4,
}


def test_every_measured_number_counts_once(pages):
    # Training of fastxml on yeast failed. Two numbers of wiki10-31k were not run.
    assert count_outcomes(pages.numbers) == OUTCOME
    facts = ["3 of 7", "1 of 2 datasets", "1 equal", "1 inside", "1 below"]
    assert absent(published_lines(pages.numbers)[0], *facts) == []


def test_published_table_without_results_counts_as_not_run(copied):
    printed = copied / f"results/published/{PAPER}/table1.csv"
    printed.write_text("dataset,model,p@1\nscene,plt,75.00\n")
    for file in copied.glob("results/tables/*/table1.*"):
        file.unlink()
    found = count_outcomes(pages_of_run(copied).numbers)
    assert found == OUTCOME | {"datasets run": "1 of 3", "published": 8, "not run": 5}


def test_statistic_of_a_dataset_has_its_verdict_in_each_row(tmp_path):
    small_run(tmp_path)
    printed = tmp_path / f"results/published/{PAPER}/table1.csv"
    printed.write_text("dataset,model,m,p@1\nyeast,swnn,14,70.00\n")
    assert re.search(
        r'14 *<span class="e">14</span><span class="e" title="[^"]*"><span[^>]*>equal<',
        pages_of_run(tmp_path).paper,
    )


def test_numbers_fitted_to_published_results_are_marked_and_counted(run, pages):
    fitted = pages_of_run(run, Judge(splits=SPLIT, fitted={(PAPER, "plt"): "C: kept because"}))
    assert absent(published_lines(fitted.numbers)[1], "2 of these agree", "fitted") == []
    assert absent(fitted.paper, "C: kept because") == []
    assert (fitted.paper.count("</span> ‡"), pages.paper.count("</span> ‡")) == (3, 0)


@pytest.mark.parametrize("name", ["index", "paper"])
def test_every_value_is_escaped(pages, name):
    html = getattr(pages, name)
    assert HOSTILE not in html
    assert "&lt;" in html
    tags = Reader(html).tags
    assert "script" not in {tag for tag, _ in tags}
    for _, attributes in tags:
        assert not [name for name in attributes if name.startswith("on")]


@pytest.mark.parametrize("name", ["index", "paper"])
def test_page_is_self_contained_and_blocks_external_content(pages, name):
    html = getattr(pages, name)
    tags = [attributes for _, attributes in Reader(html).tags]
    addresses = set()
    for source in ("src", "href", "xlink:href", "action"):
        addresses |= {tag[source] for tag in tags if tag.get(source)}
    links = {address for address in addresses if not address.startswith(("#", "data:"))}
    assert {"index.html", f"{PAPER}.html"} <= links <= {*pages.files}
    assert not re.search(r"@import|url\((?!#|%23)", html)
    identifiers = [tag["id"] for tag in tags if "id" in tag]
    assert len(identifiers) == len(set(identifiers))
    assert {address[1:] for address in addresses if address.startswith("#")} <= {*identifiers}
    name = "Content-Security-Policy"
    (policy,) = [tag["content"] for tag in tags if tag.get("http-equiv") == name]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_pages_show_fingerprints_and_versions(run, pages):
    folder = run / "results/tables" / PAPER
    words = [fingerprint(folder / f"table{number}.csv").word for number in (1, 2)]
    whole = fingerprint(folder).word
    assert re.findall(r"Fingerprint[^:]*: <code>([^<]+)</code>", pages.paper) == [*words, whole]
    assert f"{PAPER}: <code>{whole}</code>" in pages.index
    versions = "A <fast> CPU: xmlc 0.1.0; python 3.11.7; numpy 2.4.6"
    assert versions in "".join(Reader(pages.paper).text)


def test_index_counts_the_outcomes_of_each_paper(pages):
    (row,) = re.findall(rf'<th scope="row"><a href="{PAPER}.html">.*?</tr>', pages.index, re.DOTALL)
    assert re.findall(r"<td>(\d+)</td>", row) == ["7", "2", "0", "1", "0", "4"]
    assert absent(pages.index, "2 of 7 published numbers are reproduced") == []


@pytest.mark.parametrize("name", ["index", "paper"])
def test_pages_explain_their_marks_before_the_first_table(pages, name):
    html = getattr(pages, name)
    before = html.partition("<table")[0]
    assert absent(before, "How to read:", *(f">{verdict}<" for verdict in ("equal", "below"))) == []


def test_caption_of_a_table_has_counts_of_verdicts_and_the_best_model(pages):
    captions = re.findall(r'<p class="caption">(.*?)<a href="[^"]*csv"', pages.paper, re.DOTALL)
    of_table1, of_table2 = [" ".join(caption.split()) for caption in captions]
    assert absent(of_table1, "Best P@1: PLT (75.00).") == []
    assert absent(of_table2, "3 of 7", "1 equal", "1 inside", "1 below") == []
    assert absent(of_table2, "Best Macro-F: PLT, OFO (42.02).") == []


@pytest.mark.parametrize("name", ["index", "paper"])
def test_wide_content_scrolls_in_a_named_region_that_takes_the_keyboard(pages, name):
    html = getattr(pages, name)
    regions = re.findall(r'<div class="scroll[^>]*>', html)
    assert len(regions) >= html.count("<table")
    assert all(re.search(r'role="region" aria-label="[^"]+" tabindex="0"', one) for one in regions)


def test_figures_are_embedded_as_images_below_their_captions(run, pages):
    (image,) = [attributes for tag, attributes in Reader(pages.paper).tags if tag == "img"]
    assert image["alt"] == figure_of("1", PAPER).caption
    start, _, content = image["src"].partition(",")
    assert start == "data:image/svg+xml;base64"
    assert base64.b64decode(content) == (run / f"results/figures/{PAPER}/figure1.svg").read_bytes()
