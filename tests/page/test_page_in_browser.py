"""The page in a real browser: it is drawn, sorted and read there, and asks nobody for anything."""

import pytest
from browser import open_browser
from page_cases import page_of_run, small_run

from xmlc.page.render import to_html

FIRST = "document.querySelector('#plt2016-table2 table')"
ROWS = f"[...{FIRST}.tBodies[0].rows].map(row => row.cells[1].textContent.trim())"
HEAD = f"{FIRST}.tHead.rows[0].cells[2]"
NUMBER = f"{FIRST}.tBodies[0].rows[0].querySelector('button.n')"
BOX = "document.getElementById('passport')"
SHOWN = f"{BOX}.hidden ? null : {BOX}.innerText"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(to_html(page_of_run(small_run(file.parent))), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def loaded(browser, address):
    browser.events.clear()
    browser.resize(1400, 900)
    browser.point(1, 1)
    browser.open(address)
    return browser


def middle(browser, element):
    """Where an element is, after it was scrolled to."""
    browser.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    return browser.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())")


def test_tables_and_figures_are_there_and_nothing_is_asked_of_anybody(loaded, address):
    assert loaded.run("document.querySelectorAll('article.table').length") == 2
    assert loaded.run("document.querySelectorAll('figure svg').length") == 2
    assert loaded.run("Math.min(...[...document.querySelectorAll('figure svg')].map(s => s.clientHeight))") > 150
    assert "2 of 5 measured cells reproduced" in loaded.run("document.querySelector('h1').innerText")
    local = [url for url in loaded.requests() if url.startswith(("data:", address))]
    assert loaded.requests() == local != []
    assert loaded.complaints() == []


def test_the_page_may_ask_nobody(loaded):
    asked = "fetch('https://example.org/').then(() => 'answered', () => 'refused')"
    assert loaded.run(asked) == "refused"
    refused = [event["text"] for event in loaded.complaints() if "text" in event]
    assert any("Content Security Policy" in text for text in refused)


def test_a_heading_sorts_by_click_and_by_key(loaded):
    before = loaded.run(ROWS)
    assert len(before) == 2
    orders = []
    for way in ("click", "Enter", "Enter"):
        if way == "click":
            loaded.point(*middle(loaded, f"{HEAD}.querySelector('button')"), click=True)
        else:
            loaded.run(f"{HEAD}.querySelector('button').focus()")
            loaded.press("Enter")
        orders.append((loaded.run(f"{HEAD}.getAttribute('aria-sort')"), loaded.run(ROWS)))
    assert orders == [("ascending", before[::-1]), ("descending", before), (None, before)]


def test_a_passport_opens_by_click_and_closes_by_escape(loaded):
    assert loaded.run(SHOWN) is None
    loaded.point(*middle(loaded, NUMBER), click=True)
    text = loaded.run(SHOWN)
    for part in (
        "40.0",
        "the paper prints",
        "reproduced: within the interval of this cell",
        "numpy 2.4.6",
        "A <fast> CPU",
        "snakemake",
    ):
        assert part in text
    assert loaded.run(f"{NUMBER}.getAttribute('aria-expanded')") == "true"
    loaded.press("Escape")
    assert loaded.run(SHOWN) is None
    assert loaded.complaints() == []


def test_a_passport_shows_while_a_number_is_pointed_at_or_has_the_focus(loaded):
    loaded.point(*middle(loaded, NUMBER))
    pause = "new Promise(done => setTimeout(done, 400))"
    loaded.run(pause)
    assert "seed" in loaded.run(SHOWN)
    loaded.point(1, 1)
    loaded.run(pause)
    assert loaded.run(SHOWN) is None
    loaded.run(f"[...{FIRST}.tHead.querySelectorAll('button')].at(-1).focus()")
    loaded.press("Tab")
    assert "seed" in loaded.run(SHOWN)


@pytest.mark.parametrize("width", [320, 360, 1400])
def test_no_page_is_wider_than_its_screen(loaded, width):
    loaded.resize(width, 800)
    loaded.run("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert loaded.run("document.documentElement.scrollWidth") <= width
    loaded.run(f"{NUMBER}.click()")
    assert loaded.run(f"(r => r.left >= 0 && r.right <= {width})({BOX}.getBoundingClientRect())")
    assert loaded.run("document.documentElement.scrollWidth") <= width


def test_dark_screens_and_paper_have_colours_of_their_own(loaded):
    ground = "getComputedStyle(document.body).backgroundColor"
    loaded.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = loaded.run(ground)
    loaded.command("Emulation.setEmulatedMedia", media="print", features=[])
    printed = loaded.run(ground)
    loaded.command("Emulation.setEmulatedMedia", media="", features=[])
    assert dark == "rgb(20, 24, 29)"
    assert printed == "rgb(255, 255, 255)"
