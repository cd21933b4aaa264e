"""The pages of docs/generated.py contain every command and measure, and the type of every
configuration key.
"""

import runpy

import yaml
from repository import ROOT

from xmlc.cli import COMMANDS
from xmlc.metrics.measures import BY_NAME

GENERATED = runpy.run_path(str(ROOT / "docs/generated.py"))


def test_generated_pages_are_complete():
    pages = {name: page() for name, page in GENERATED["PAGES"].items()}
    assert [name for name in COMMANDS if f"### xmlc {name}\n" not in pages["commands"]] == []
    assert [name for name in BY_NAME if f"`{name}`" not in pages["measures"]] == []
    # raises an error if a key is missing
    keys = GENERATED["with_types"]((ROOT / "config/README.md").read_text())
    assert keys.count("| key | value | default |") == len(GENERATED["SECTIONS"])


def test_page_of_choices_has_every_entry():
    page = GENERATED["PAGES"]["choices"]()
    for paper in GENERATED["PAPERS"]:
        section = page.split(f"## {paper}\n")[1].split("\n## ")[0]
        content = yaml.safe_load((ROOT / f"results/published/{paper}/choices.yaml").read_text())
        for key in content["choices"]:
            assert f"| `{key}` |" in section, (paper, key)
