"""The Python blocks of the page on label sets and of the pages on models run as printed, and print
the block of output below.

Formulas of these pages are indented, so that each text block is the output of a Python block.
"""

import re

import pytest
from facts import warns_with
from repository import ROOT
from tutorials import run_python, steps

LABEL_SETS = ROOT / "docs/label_sets.md"
PAGES = {page.stem: page for page in sorted((ROOT / "docs/models").glob("*.md"))}
IN_TABLES = """
from xmlc import TextClassifier
from xmlc.thresholds import *
texts = ["a rose", "a spoon"] * 10
label_lists = [["plant"], ["tool"]] * 10
"""


def run_page(file):
    """Run the blocks of a page, compare their output, and return the names that they define."""
    names = {}
    blocks = steps(file.read_text(encoding="utf-8"))
    assert blocks
    for language, code, shown in blocks:
        assert language == "python"
        assert run_python(code, names) == shown
    return names


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page_shows_output_of_its_blocks(name):
    run_page(PAGES[name])


@pytest.mark.slow
def test_page_on_label_sets_shows_output_and_its_tables_have_valid_calls():
    # The page mentions the warning that its estimates are too low.
    with warns_with(UserWarning, "sum of 3096"):
        names = run_page(LABEL_SETS)
    exec(IN_TABLES, names)
    rows = "\n".join(re.findall(r"^\|.*", LABEL_SETS.read_text(encoding="utf-8"), re.MULTILINE))
    calls = re.findall(r"`([^`]+\))`", rows)
    assert len(calls) > 10
    for call in calls:
        eval(call, names)
