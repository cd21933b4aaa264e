"""README.md, the pages of docs/ and config/README.md name existing files, and their examples
run.
"""

import re
from dataclasses import replace
from itertools import chain

import msgspec
import pytest
import yaml
from repository import ROOT
from suite_cases import write_suite
from tutorials import blocks, run_bash, run_python

from xmlc.suite.config.catalogue import Dataset
from xmlc.suite.config.settings import Settings
from xmlc.suite.config.suite import Experiments, read_suite
from xmlc.suite.papers import table_of
from xmlc.suite.papers.printing import panel_to_markdown
from xmlc.suite.results.fingerprint import fingerprint
from xmlc.suite.results.numbers import read_cells

README = (ROOT / "README.md").read_text()
CONFIG_README = (ROOT / "config/README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "config/README.md", *sorted((ROOT / "docs").glob("*.md"))]
DEMO = yaml.safe_load((ROOT / "config/demo.yaml").read_text())


def keys_of(kind):
    """Return every key that a file of a type may have, at any depth."""
    _, parts = msgspec.json.schema_components([kind], schema_hook=lambda _: {"title": "anything"})
    return set(chain.from_iterable(part.get("properties", ()) for part in parts.values()))


@pytest.mark.parametrize("kind", [Settings, Experiments, Dataset])
def test_every_configuration_key_is_explained(kind):
    code = " ".join(re.findall(r"`([^`\n]+)`", CONFIG_README))
    assert keys_of(kind) <= set(re.split(r"[^\w@]+", code))


def test_named_files_exist():
    for file in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", file.read_text()):
            assert link.startswith("http") or (file.parent / link).exists(), f"{file}: {link}"


def test_demo_output_in_readme_matches_reference_results():
    accepted = ROOT / "results/reference/demo"
    table2 = table_of("table2", "demo")
    cells = read_cells(accepted / "table2.csv", table2.keys)
    means = cells[cells["quantity"] == "macro_f"]
    means = means.assign(value=means["value"].astype(float))
    spec = replace(table2, rows=lambda table: means)
    panel = spec.build("demo", means, means[:0]).panels[0]
    # The reference tables are exactly the tables of the demo.
    assert sorted(file.stem for file in accepted.iterdir()) == sorted(DEMO["tables"])
    expected = f"{panel_to_markdown(panel)}\nresults/tables/demo  {fingerprint(accepted).word}\n"
    assert blocks(README, "text")[-1] == expected, f"put into the README:\n\n{expected}"


def test_readme_and_page_on_runs_have_the_same_duration_of_the_demo():
    (seconds,) = re.findall(r"^\| `make demo` .* (\d+ s) \|$", README, re.MULTILINE)
    assert f"| {seconds} with installation" in (ROOT / "docs/running.md").read_text()


def test_example_prints_output_that_readme_shows():
    (example,) = blocks(README)
    assert blocks(README, "text")[0] == run_python(example, {})


def test_commands_of_readme_label_texts(tmp_path):
    (commands,) = blocks(README, "bash")
    assert '"set": ["dessert", "fish", "salad"]' in run_bash(commands, tmp_path)


def test_search_example_is_valid(tmp_path):
    extending = (ROOT / "docs/extending.md").read_text()
    example = yaml.safe_load(blocks(extending, "yaml")[-1])
    model = read_suite(write_suite(tmp_path / "mine.yaml", example["models"])).models["mine"]
    assert sum(map(len, model.search.stages)) == 3
