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


def test_places_and_values_of_choices_are_named():
    places = GENERATED["places_of"]
    values = GENERATED["value_of"]
    assert places("x2020", {"setting": ["models.a.n", "models.b.n"]}) == (
        "`models.a.n`, `models.b.n` in `config/papers/x2020.yaml`"
    )
    assert places("x2020", {"setting": "settings.threads"}) == "`threads` in `config/config.yaml`"
    assert places("x2020", {"setting": "splits.same"}) == "`splits.same` in `config/datasets.yaml`"
    assert places("x2020", {"setting": "xmlc.a:B"}) == "`xmlc.a:B`"
    assert places("x2020", {}) == ""
    assert values({"value": [1, None]}) == "`[1, null]`"
    assert values({"by_dataset": {"scene": True, "yeast": 2}}) == "scene: `true`, yeast: `2`"
    assert values({"among": [1, 2]}) == "one of 1, 2"
    assert values({"between": [0, 1]}) == "0 to 1"
    assert values({"reaches": 9}) == "up to 9 or more"
    assert values({"includes": ["h"]}) == "contains h"
    assert values({"setting": "models.a.n"}) == "see the file"
    assert values({}) == ""
