"""The Python blocks of the pages on models run as printed, and print the block of output below.

Formulas of these pages are indented, so that each text block is the output of a Python block.
"""

import pytest
from repository import ROOT
from tutorials import run_python, steps

PAGES = {page.stem: page for page in sorted((ROOT / "docs/models").glob("*.md"))}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page_shows_output_of_its_blocks(name):
    names = {}
    blocks = steps(PAGES[name].read_text(encoding="utf-8"))
    assert blocks
    for language, code, shown in blocks:
        assert language == "python"
        assert run_python(code, names) == shown
