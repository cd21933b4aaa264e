"""Test the page: verdicts of cells, headlines, environments, escaping, and no external content."""

import base64
import hashlib
import re
import shutil
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from facts import absent, raises_with
from page_cases import (
    HOSTILE,
    PAPER,
    SPLIT,
    Reader,
    cell,
    contests,
    environment,
    make_table,
    on_page,
    page_of_run,
    shown,
    small_run,
)
from report_cases import dataset, inference, inferred_from_estimates, ranking, thresholds, write
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.papers.claims_table import claims_line, counted
from xmlc.suite.report.compare import count_outcomes, published_lines
from xmlc.suite.report.page.content import page_of
from xmlc.suite.report.page.render import packed, to_html
from xmlc.suite.report.verdicts import Judge, Verdict
from xmlc.suite.results.fingerprint import fingerprint


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(run):
    return page_of_run(run)


@pytest.fixture(scope="module")
def html(page):
    return to_html(page)


def test_each_cell_is_shown_with_its_published_number(page):
    fta, sto = (cell(page, "Table 2", 0, ["yeast", "PLT"], method) for method in ("FTA", "STO"))
    assert (fta.text, fta.published, fta.verdict) == ("40.02 ± 0.03", "40.00", Verdict.INSIDE)
    assert (fta.difference, fta.interval) == ("+0.02", "± 0.43")
    assert absent(fta.reason, 0.028, "2 runs") == []
    assert (sto.published, sto.difference, sto.verdict) == ("36.00", "−0.98", Verdict.BELOW)
    assert cell(page, "Table 2", 0, ["yeast", "PLT"], "OFO").published == ""
    time = cell(page, "Table 2", 1, ["yeast", "PLT"], "FTA")  # costs are not judged, here .25 ms and .5 ms
    assert (time.published, time.difference, time.verdict) == ("0.50", "×0.5", None)
    assert cell(page, "Table 2", 2, ["yeast", "PLT"], "FTA").verdict is Verdict.AS_PRINTED  # 55 inner products


def test_page_shows_models_then_tables_then_claims_with_folded_details(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    made = make_table(tmp_path, "claims", [*tmp_path.glob("results/yeast/rankings/*.json")])
    page = page_of_run(tmp_path)
    (paper,) = page.papers
    assert paper.statements.title == "Claims"
    assert page.claims == paper.claims == counted(made)
    html = to_html(page)
    signs = ["<h1>Results on yeast<", claims_line(page.claims), 'id="on-yeast"', "<img", "<h3>Table 1", 'id="verdicts"']
    assert [html.index(sign) for sign in signs] == sorted(html.index(sign) for sign in signs)
    assert len(made.frame) > page.claims.total() > page.claims["no data"] > 0  # only verbatim claims, without costs
    folded = sum(panel.detail for panel in made.panels)
    assert sum(tag == "details" for tag, _ in Reader(html).tags) >= folded > 0


def test_row_of_a_model_has_its_ranking_and_best_label_sets():
    sets = [
        thresholds(method=method, f=f)
        for method, f in {"sto": 0.5, "fta": 0.4, "for-micro-f": 0.9, "for-a-measure-of-before": 0.9}.items()
    ]
    records = [*sets, inferred_from_estimates(method="gfm", f=0.6), ranking(), ranking(model="fastxml", p1=0.8)]
    (found,) = contests(*records)
    p, f = "P@1 (%)", "Macro-F, labels present (%)"
    assert list(shown(found, p)) == ["FastXML", "PLT"]  # sorted by P@1
    assert (shown(found, p)["FastXML"].best, shown(found, p)["PLT"].best) == (True, False)
    best = shown(found, f)["PLT"]
    assert (best.text, best.by, best.order) == ("20.00", "gfm", pytest.approx(20))  # .6 / 3, while STO has .5 / 3
    assert shown(found, "Macro-F, 0/0 = 1 (%)")["PLT"].text == "60.00"
    assert (shown(found, "Instance-F (%)")["PLT"].text, shown(found, f)["FastXML"].text) == ("60.00", "–")
    costs = [shown(found, name)["PLT"].text for name in ("Train (s)", "Predict (ms)", "Model (MB)")]
    assert costs == ["90", "0.0123", "2.50"]
    assert found.headline == "best P@1 80.00 (FastXML), Macro-F, labels present 20.00 (PLT, GFM)"
    drawn = unquote(found.drawing)
    assert ">FastXML</text>" in drawn
    assert ">PLT</text>" not in drawn  # PLT takes as long as FastXML and ranks worse.
    assert contests(ranking())[0].drawing is None


def test_models_within_seed_variation_are_tied_and_oracle_is_never_best():
    p1 = {"plt": (0.70, 0.72), "fastxml": (0.71, 0.70), "swnn": (0.60, 0.62), "oracle": (0.90, 0.90)}
    records = [ranking(model=model, seed=seed, p1=one) for model, ones in p1.items() for seed, one in enumerate(ones)]
    cells = shown(*contests(*records), "P@1 (%)")
    assert {name: (cell.best, cell.tied) for name, cell in cells.items()} == {
        "oracle": (False, False), "PLT": (True, False), "FastXML": (False, True), "SWNN": (False, False),
    }  # fmt: skip
    one_seed = shown(*contests(ranking(), ranking(model="fastxml", p1=0.7499)), "P@1 (%)")
    assert not any(cell.tied for cell in one_seed.values())


def test_datasets_are_sorted_custom_first_by_labels_and_earlier_runs_last():
    def record_of(name, m, time):
        return ranking(
            name, dataset=dataset(name) | {"m": m}, environment=environment(time=f"2026-11-{time}T10:00:00Z")
        )

    given = [
        record_of("large", 900, 21),
        record_of("small", 6, 20),
        record_of("mine", 7, 22),
        inference("never", finished=False),
    ]
    found = contests(*given, earlier=[record_of("old", 5, 19)], of_suites=("large", "small", "old"))
    assert [(one.name, one.made, one.earlier) for one in found] == [
        ("mine", "2026-11-22", False), ("small", "2026-11-20", False), ("large", "2026-11-21", False),
        ("old", "2026-11-19", True),
    ]  # fmt: skip


def test_datasets_of_earlier_runs_are_kept_with_their_date(run, tmp_path):
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    before = environment(time="2026-11-20T10:00:00Z")
    settings = {"hyperparameters": {"arity": 2}, "environment": environment(time="2026-11-19T10:00:00Z")}
    for seed, changes in enumerate(({"environment": before}, settings)):  # the second is from an earlier run
        file = tmp_path / f"results/scene/plt/seed{seed}/full/ranking.json"
        file.parent.mkdir(parents=True)
        (path,) = write(file.parent, [ranking("scene", seed=seed) | changes])
        path.rename(file)
    (tmp_path / "results/scene/plt/seed1/full/inference").mkdir()
    (tmp_path / "results/scene/plt/seed1/full/inference/gfm.json").write_text("no record")
    page = page_of_run(tmp_path)
    assert page.headline == "Results on yeast, scene"
    assert [(one.name, one.earlier, one.made) for one in page.contests][1:] == [("scene", True, "2026-11-20")]
    assert shown(page.contests[1], "P@1 (%)")["PLT"].text == "75.00"
    text = " ".join("".join(Reader(to_html(page)).text).split())
    assert absent(text, "scene 14 labels", "2026-11-20") == []


OUTCOME = {
    "datasets run": "1 of 2", "printed": 7, "not run": 4, "run": 3, "fitted": 0,
    "equal as printed": 1, "inside": 1, "outside +": 0, "outside -": 1, "different": 0, "undecided": 0,
}  # fmt: skip


def test_headline_counts_every_measured_cell_once(page):
    # Training of fastxml on yeast failed. Two numbers of wiki10-31k were not run.
    assert count_outcomes(page.printed) == count_outcomes(page.papers[0].printed) == OUTCOME
    facts = ["3 of 7", "1 of 2 datasets", "1 equal as printed", "1 inside", "1 outside -", "0 undecided"]
    assert absent(page.outcome, *facts) == []


def test_published_table_without_results_counts_as_not_run(tmp_path):
    small_run(tmp_path)
    (tmp_path / f"results/published/{PAPER}/table1.csv").write_text("dataset,model,p@1\nscene,plt,75.00\n")
    for file in tmp_path.glob("results/tables/*/table1.*"):
        file.unlink()
    found = count_outcomes(page_of_run(tmp_path).printed)
    assert found == OUTCOME | {"datasets run": "1 of 3", "printed": 8, "not run": 5}


def test_without_split_error_only_equal_printed_numbers_are_judged(run):
    found = count_outcomes(page_of_run(run, Judge()).printed)
    assert (found["equal as printed"], found["undecided"], found["run"]) == (1, 2, 3)


def test_missing_cells_are_listed_with_reason_of_failure(page):
    table = next(t for t in page.papers[0].tables if t.title == "Table 2")
    rows = list(map(tuple, table.not_run.rows))
    assert {*rows} == {("yeast", "FastXML", "FTA"), ("wiki10-31k", "PLT", "FTA")}
    failed = on_page(table.not_run.columns[0].numbers[rows.index(("yeast", "FastXML", "FTA"))])
    assert (failed.text, failed.published, failed.verdict) == ("–", "17.04", Verdict.FAILED)
    assert failed.reason == "no <room> left"


def test_number_has_environments_of_its_records_for_each_seed(page):
    records = cell(page, "Table 2", 0, ["yeast", "PLT"], "STO").records
    shown = [page.environments.shown[place] for place in page.environments.numbers(records)]
    assert [environment["title"] for environment in shown] == ["PLT, STO", "PLT, STO"]
    lines = [dict(environment["lines"]) for environment in shown]
    assert [line["seed"] for line in lines] == ["0", "1"]
    assert (lines[0]["machine"], lines[0]["threads"], lines[0]["whole step"]) == ("A <fast> CPU", "2", "5.25 s")
    assert "numpy 2.4.6" in lines[0]["versions"]
    assert shown[0]["command"].endswith(lines[0]["record"])
    texts, environments = packed(shown).values()
    assert ["PLT, STO", "seed: 1"] == [texts[environments[1][place]] for place in (0, 2)]
    assert texts[environments[0][-1]] == "snakemake --cores 2 --force "


def test_numbers_fitted_to_published_results_are_marked_and_counted(run, html):
    about = {(PAPER, "plt"): "C: kept because the printed row comes out"}
    page = page_of_run(run, Judge(same_split=SPLIT, fitted_settings=about))
    assert absent(published_lines(page.printed)[1], 3, "fitted to published results") == []
    assert cell(page, "Table 2", 0, ["yeast", "PLT"], "STO").fitted_settings.startswith("C: ")
    assert (to_html(page).count("‡</sup>"), html.count("‡</sup>")) == (3, 0)


def test_page_without_tables_is_refused_with_advice():
    with raises_with(XmlcError, "make demo"):
        page_of([], [], Judge())


def test_every_value_is_escaped(html):
    assert HOSTILE not in html
    assert "a&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html
    reader = Reader(html)
    assert HOSTILE in "".join(reader.text) or HOSTILE in {a.get("data-o") for _, a in reader.tags}
    assert [a.get("type") for tag, a in reader.tags if tag == "script"] == ["application/json", None]
    assert not [a for _, a in reader.tags if any(name.startswith("on") for name in a)]


def test_page_is_self_contained_and_blocks_external_content(html):
    reader = Reader(html)
    addresses = [a[name] for _, a in reader.tags for name in ("src", "href", "xlink:href", "action") if a.get(name)]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not re.search(r"@import|url\((?!#|%23)", html)
    identifiers = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(identifiers)
    policy = next(a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    script = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_page_shows_fingerprints_of_tables_papers_and_run(run, page, html):
    (paper,) = page.papers
    assert page.fingerprint == fingerprint(run / "results/tables")
    assert paper.fingerprint == fingerprint(run / "results/tables" / PAPER)
    assert {table.title: table.fingerprint for table in paper.tables} == {
        f"Table {number}": fingerprint(run / f"results/tables/{PAPER}/table{number}.csv") for number in (1, 2)
    }
    shown = re.findall(r"Fingerprint[^:]*: <code>([^<]+)</code>", html)
    assert shown == [part.word for part in (page, paper, *paper.tables) for part in [part.fingerprint]]


def test_same_run_gives_identical_page(run, html):
    assert to_html(page_of_run(run)) == html


def test_figures_are_embedded_as_images(run, html):
    images = {a["alt"]: a["src"] for tag, a in Reader(html).tags if tag == "img"}
    assert list(images) == ["Quality against time on yeast", f"Figure 1, {PAPER}"]
    start, _, svg = images[f"Figure 1, {PAPER}"].partition(",")
    assert start == "data:image/svg+xml"
    file = run / f"results/figures/{PAPER}/figure1.svg"
    drawn, theirs = (ElementTree.fromstring(text) for text in (unquote(svg), file.read_text()))
    theirs.remove(theirs.find("{*}metadata"))
    assert [one.tag for one in drawn.iter()] == [one.tag for one in theirs.iter()]


def test_script_reads_only_data_that_the_template_writes():
    folder = ROOT / "xmlc/suite/report/page/templates"
    read = set(re.findall(r"\b(?:dataset|number\.dataset|data)\.(\w+)", (folder / "report.js").read_text()))
    written = set(re.findall(r"\bdata-(\w+)=", (folder / "report.html.j2").read_text()))
    assert read - {"dataset"} == written
