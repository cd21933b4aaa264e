"""The page: verdicts cell by cell, headlines, passports; nothing unescaped, nothing from outside."""

import base64
import hashlib
import math
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import page_cases
import pytest
from page_cases import HOSTILE, PAPER, SPLIT, make_table, page_of_run, small_run
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.core.errors import XmlcError
from xmlc.numbers.fingerprint import fingerprint
from xmlc.numbers.made_of import MadeOf
from xmlc.papers.claims import claims_line, counted
from xmlc.papers.printing import write_table
from xmlc.report.facts import Source
from xmlc.report.judge import Judge
from xmlc.report.page.content import Folders, page_of
from xmlc.report.page.render import to_html
from xmlc.report.page.tables import Passports
from xmlc.report.verdict import Verdict


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(run):
    return page_of_run(run)


@pytest.fixture(scope="module")
def html(page):
    return to_html(page)


class Reader(HTMLParser):
    """Collects tags with their attributes, and the text outside script and style."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.within = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.within.append(tag)

    def handle_endtag(self, tag):
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.within):
            self.text.append(data)


def cell(page, table, panel, row, heading):
    """The cell of a printed table by the names of its row and its heading."""
    found = next(t for t in page.papers[0].tables if t.title == table).panels[panel]
    cells = next(cells for names, cells in found.rows if names == row)
    return cells[found.headings.index(heading)]


def test_each_cell_stands_beside_what_the_paper_prints(page):
    fta, sto = (cell(page, "Table 2", 0, ["yeast", "PLT"], method) for method in ("FTA", "STO"))
    assert (fta.text, fta.expected, fta.source, fta.verdict) == ("40.02 ± 0.03", "40.00", "paper", Verdict.INSIDE)
    assert (fta.difference, fta.interval) == ("+0.02", "± 0.43")
    assert fta.because == "deviation 0.028 of 2 runs, 2 beside 1"
    assert (sto.text, sto.expected, sto.difference) == ("35.02 ± 0.03", "36.00", "−0.98")
    assert sto.verdict is Verdict.BELOW
    assert cell(page, "Table 2", 0, ["yeast", "PLT"], "OFO").expected == ""
    time = cell(page, "Table 2", 1, ["yeast", "PLT"], "FTA")  # .25 ms beside .5 ms: a cost is not judged
    assert (time.expected, time.difference, time.verdict) == ("0.50", "×0.5", None)
    assert cell(page, "Table 2", 2, ["yeast", "PLT"], "FTA").verdict is Verdict.UNDECIDED  # 55 inner products


def test_what_the_paper_does_not_print_stands_beside_what_was_accepted(page):
    same, other = (cell(page, "Table 1", 1, ["yeast", model], "P@1 (%)") for model in ("PLT", "FastXML"))
    assert (same.expected, same.source, same.verdict) == ("75.00", "reference", Verdict.EQUAL)
    assert (other.text, other.expected, other.verdict) == ("60.00", "61.00", Verdict.DIFFERENT)
    assert (same.difference, same.interval) == ("", "")
    assert (other.difference, other.interval) == ("−1", "")


def test_beside_an_accepted_number_the_last_bit_counts_and_is_shown(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    accepted = tmp_path / f"results/reference/{PAPER}/table1.csv"
    accepted.write_text(accepted.read_text().replace("75.0", repr(math.nextafter(75, 0))))
    page = page_of_run(tmp_path)
    changed = cell(page, "Table 1", 1, ["yeast", "PLT"], "P@1 (%)")
    assert (changed.text, changed.expected, changed.verdict) == ("75.00", "75.00", Verdict.DIFFERENT)
    assert changed.difference == "+1.4e-14"
    text = "".join(Reader(to_html(page)).text)
    assert "different" in text
    assert "2 not as accepted before" in text


def test_an_accepted_number_of_other_seeds_is_not_beside_ours(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    accepted = tmp_path / f"results/reference/{PAPER}/table1.csv"
    header, *rows = accepted.read_text().splitlines()
    accepted.write_text("\n".join([header + ",seeds", rows[0] + ",5", rows[1] + ",1"]) + "\n")
    page = page_of_run(tmp_path)
    same, other = (cell(page, "Table 1", 1, ["yeast", model], "P@1 (%)") for model in ("PLT", "FastXML"))
    assert (same.expected, same.verdict) == ("", None)
    assert (other.expected, other.verdict) == ("61.00", Verdict.DIFFERENT)


def test_printed_results_come_first_then_claims_and_what_they_rest_on_is_folded(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    made = make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    page = page_of_run(tmp_path)
    (paper,) = page.papers
    assert paper.tables[0].title == "Claims"
    assert page.claims == paper.claims == counted(made)
    assert page.headline == page.tally.headline
    html = to_html(page)
    signs = "<h1>", ">Printed results<", ">Claims<", f'<h2 id="{PAPER}"', claims_line(page.claims), "<h3>Claims"
    assert [html.index(sign) for sign in signs] == sorted(html.index(sign) for sign in signs)
    assert len(made.frame) > page.claims.total() > page.claims["no data"] > 0  # verbatim ones, without costs
    folded = sum(panel.detail for panel in made.panels)
    assert sum(tag == "details" for tag, _ in Reader(html).tags) >= folded > 0


def test_the_page_of_data_that_no_paper_prints_begins_with_their_results(tmp_path, monkeypatch):
    monkeypatch.setattr(page_cases, "PUBLISHED", page_cases.PUBLISHED.replace("yeast,", "bibtex,"))
    small_run(tmp_path)
    make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    page = page_of_run(tmp_path)
    assert page.own
    assert page.headline == "Results on yeast"
    ((names, cells),) = page.best.rows
    # The best by macro-F is OFO (a, b), the mean of two seeds, of which the labels with 0/0 are a half.
    assert (names, [one.text for one in cells]) == (["yeast"], ["PLT", "75.00", "PLT, OFO (a, b)", "43.02", "21.51"])
    html = to_html(page)
    signs = "<h1>Results on yeast", ">Best on each dataset<", "<figure", "<h3>Table 1", "<h3>Claims"
    assert [html.index(sign) for sign in signs] == sorted(html.index(sign) for sign in signs)
    assert "printed results run again:" not in html


def test_claims_are_beside_accepted_ones_of_the_same_data_only(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    made = make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    accepted = tmp_path / "results/reference" / PAPER / "claims"
    write_table(made, accepted)
    about = MadeOf("claims", PAPER, (), digests=made.digests)
    for digests, judged in (({}, False), ({"bibtex": "12ab"}, False), (made.digests, True)):
        replace(about, digests=digests).write(accepted)
        (claims,) = (table for table in page_of_run(tmp_path).papers[0].tables if table.title == "Claims")
        assert any(cell.verdict for panel in claims.panels for _, cells in panel.rows for cell in cells) == judged
        assert any("of other or unknown data" in note for note in claims.notes) != judged


def test_the_headline_counts_every_measured_cell_that_was_run_once(page):
    # fastxml's training on yeast failed; two numbers of wiki10-31k were not run.
    assert page.tally.outcome == page.papers[0].tally.outcome == {
        "datasets run": "1 of 2", "printed": 7, "not run": 4, "run": 3, "calibrated": 0,
        "inside": 1, "outside +": 0, "outside -": 1, "undecided": 1,
    }  # fmt: skip
    assert page.tally.headline == (
        "3 of 7 printed results run again, on 1 of 2 datasets: 1 inside, 0 outside +, 1 outside -, 1 undecided"
    )
    assert page.tally.others == ["3 of 4 cells as accepted before (results/reference)"]


def test_a_printed_table_that_was_not_made_counts_as_not_run(tmp_path, page):
    small_run(tmp_path)
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text("dataset,model,p@1\nscene,plt,75.00\n")
    for file in tmp_path.glob("results/tables/*/table1.*"):
        file.unlink()
    outcome = page_of_run(tmp_path).tally.outcome
    assert outcome == page.tally.outcome | {"datasets run": "1 of 3", "printed": 8, "not run": 5}


def test_where_the_split_is_not_known_nothing_is_judged_without_its_error(run):
    assert page_of_run(run, Judge()).tally.outcome["undecided"] == 3


def test_what_was_not_run_is_listed_with_the_reason_of_a_failure(page):
    table = next(t for t in page.papers[0].tables if t.title == "Table 2")
    rows = dict((tuple(names), cells) for names, cells in table.not_run.rows)
    assert set(rows) == {("yeast", "FastXML", "FTA"), ("wiki10-31k", "PLT", "FTA")}
    failed = rows["yeast", "FastXML", "FTA"][0]
    assert (failed.text, failed.expected, failed.verdict, failed.reason) == (
        "–",
        "17.04",
        Verdict.FAILED,
        "no <room> left",
    )


def test_a_number_has_the_passports_of_its_own_records_one_for_each_seed(page):
    told = [page.passports[place] for place in cell(page, "Table 2", 0, ["yeast", "PLT"], "STO").passports]
    assert [passport["title"] for passport in told] == ["PLT, STO", "PLT, STO"]
    lines = [dict(passport["lines"]) for passport in told]
    assert [line["seed"] for line in lines] == ["0", "1"]
    assert lines[0]["machine"] == "A <fast> CPU"
    assert lines[0]["threads"] == "2"
    assert "numpy 2.4.6" in lines[0]["versions"]
    assert lines[0]["this step"] == "5.25 s, whole process"
    assert told[0]["command"].endswith(lines[0]["record"])


def test_numbers_with_settings_from_printed_results_are_marked_and_counted(run, html):
    about = {(PAPER, "plt"): "C: kept because the printed row comes out"}
    page = page_of_run(run, Judge(same_split=SPLIT, calibrated=about))
    assert page.tally.others[0] == "3 of them with settings calibrated on the printed test results"
    assert cell(page, "Table 2", 0, ["yeast", "PLT"], "STO").calibrated.startswith("C: ")
    marked = to_html(page)
    assert (marked.count("‡</sup>"), html.count("‡</sup>")) == (3, 0)


def test_no_table_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(XmlcError, match="make demo"):
        page_of([], [], Judge(), Folders())


def test_every_value_is_escaped(html):
    assert HOSTILE not in html
    assert "a&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html
    reader = Reader(html)
    assert HOSTILE in "".join(reader.text) or HOSTILE in {a.get("data-o") for _, a in reader.tags}
    assert [a.get("type") for tag, a in reader.tags if tag == "script"] == ["application/json", None]
    assert not [a for _, a in reader.tags if any(name.startswith("on") for name in a)]


def test_the_page_brings_everything_and_lets_nothing_in(html):
    reader = Reader(html)
    addresses = [a[name] for _, a in reader.tags for name in ("src", "href", "xlink:href", "action") if a.get(name)]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|url\((?!#)", html)
    identifiers = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(identifiers)
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_tables_papers_and_the_whole_have_the_fingerprints_of_their_files(run, page, html):
    (paper,) = page.papers
    assert page.fingerprint == fingerprint(run / "results/tables")
    assert paper.fingerprint == fingerprint(run / "results/tables" / PAPER)
    assert {table.title: table.fingerprint for table in paper.tables} == {
        f"Table {number}": fingerprint(run / f"results/tables/{PAPER}/table{number}.csv") for number in (1, 2)
    }
    shown = re.findall(r"Fingerprint[^:]*: <code>([^<]+)</code>", html)
    assert shown == [part.word for part in (page, paper, *paper.tables) for part in [part.fingerprint]]


def test_the_same_run_gives_the_same_page(page, html):
    assert to_html(page) == html


def test_figures_are_images_in_the_page(run, html):
    shown = {a["alt"]: a["src"].partition(",") for tag, a in Reader(html).tags if tag == "img"}
    assert [*shown] == [f"Figure 1, {PAPER}", f"Quality against time, {PAPER}"]
    assert {start for start, _, _ in shown.values()} == {"data:image/svg+xml;base64"}
    drawn = base64.b64decode(shown[f"Figure 1, {PAPER}"][2])
    assert drawn == (run / f"results/figures/{PAPER}/figure1.svg").read_bytes()


@pytest.mark.parametrize(
    ("about", "name", "titles"),
    [
        ({"model": "oplt-b", "passes": "3"}, "p@1", ["OPLT-B, 3 passes"]),
        ({"model": "plt"}, "p@1", ["PLT"]),
        ({"model": "plt", "method": "sto"}, "macro_f", ["PLT, STO"]),
        ({"model": "plt"}, "fta", ["PLT, FTA"]),  # a method's macro-F in a table of rankings
        ({"model": "plt", "tuned_for": "macro_f2"}, "macro_f", ["PLT, for-macro-f2"]),
        ({}, "m", ["OPLT-B, 1 pass"]),  # of a dataset: any record tells it
    ],
)
def test_a_cell_finds_its_record(about, name, titles):
    models = ("oplt-b-1-pass", "oplt-b-3-passes", "plt")
    records = [ranking(model=model) for model in models] + [thresholds(method=method) for method in ("fta", "sto")]
    records += [thresholds(method="for-macro-f2"), ranking("scene")]
    sources = [Source("p", Path(f"{place}.json"), as_record(record)) for place, record in enumerate(records)]
    passports = Passports(sources)
    found = passports.record_numbers("p", "ranking", {"dataset": "yeast"} | about, name)
    assert [passports.shown[place]["title"] for place in found] == titles
