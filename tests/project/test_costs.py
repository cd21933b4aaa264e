"""docs/costs.md: what it says of full sizes is what Snakemake plans today."""

import importlib.util

import pytest
from repository import ROOT

spec = importlib.util.spec_from_file_location("docs_costs", ROOT / "docs/costs.py")
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)


@pytest.mark.slow
def test_the_page_is_what_the_command_writes():
    text = docs.PAGE.read_text(encoding="utf-8")
    assert text == docs.page(text, docs.section())


def test_numbers_have_two_digits():
    assert [docs.number(value) for value in (0.0623, 4.71, 10.4, 166.0, 12_842.0)] == [
        "0.062", "4.7", "10", "170", "13,000",
    ]  # fmt: skip
