"""README.md, the pages of docs/ and config/README.md: files that they name exist, and the examples of files run."""

import re
import subprocess
import sys

import msgspec
import pandas as pd
import pytest
import yaml
from project_copy import Project
from repository import ROOT
from suite_cases import write_suite

from xmlc.data.catalogue import Entry
from xmlc.numbers.columns import column
from xmlc.numbers.fingerprint import fingerprint
from xmlc.numbers.long import Mean, read_rows
from xmlc.papers import table_of
from xmlc.papers.printing import panel_to_markdown
from xmlc.papers.table import Table
from xmlc.suites.settings import Settings
from xmlc.suites.suite import Experiments, read_suite

README = (ROOT / "README.md").read_text()
CONFIG_README = (ROOT / "config/README.md").read_text()
PAGES = {file: file.read_text() for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
TEXT, EXTENDING = "\n".join(PAGES.values()), PAGES[ROOT / "docs/extending.md"]
DEMO = yaml.safe_load((ROOT / "config/demo.yaml").read_text())


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def keys_of(kind):
    """Every key that a file of a type may have, at any depth."""
    _, parts = msgspec.json.schema_components([kind], schema_hook=lambda _: {"title": "anything"})
    return {key for part in parts.values() for key in part.get("properties", {})}


@pytest.mark.parametrize("kind", [Settings, Experiments, Entry])
def test_every_key_of_a_configuration_is_explained(kind):
    code = " ".join(re.findall(r"`([^`\n]+)`", CONFIG_README))
    assert keys_of(kind) <= set(re.split(r"[^\w@]+", code))


def test_files_that_are_named_exist():
    for file, text in (PAGES | {ROOT / "config/README.md": CONFIG_README}).items():
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            assert link.startswith("http") or (file.parent / link).exists(), f"{file}: {link}"
    assert (ROOT / "docs/figure1.png").stat().st_size < 60_000


def test_the_readme_is_read_in_minutes_and_every_page_is_listed():
    assert len(README.splitlines()) <= 140
    listed = set(re.findall(r"^(?:\w+ <)?([\w/-]+)>?$", (ROOT / "docs/index.md").read_text(), re.MULTILINE))
    assert {file.stem for file in PAGES if file.parent.name == "docs"} - {"index"} <= listed


def test_the_demo_is_shown_as_the_screen_shows_it_with_the_accepted_numbers():
    accepted = ROOT / "results/reference/demo"
    table2 = table_of("table2", "demo")
    rows = read_rows(accepted / "table2.csv", table2.keys)
    means = {key: {"macro_f": Mean(float(row["macro_f"]))} for key, row in rows.items()}
    (panel,) = table2.panels[0](Table(table2, "demo", [], rows=means))
    # Of the tables that the demo makes, and of no other.
    assert sorted(file.stem for file in accepted.iterdir()) == sorted(DEMO["tables"])
    expected = f"{panel_to_markdown(panel)}\n\nresults/tables/demo  {fingerprint(accepted).word}\n"
    assert blocks("text") == [expected], f"put into the README:\n\n{expected}"
    fastxml, plt, oracle = pd.read_csv(accepted / "table1.csv").set_index("model")["p@1"][["fastxml", "plt", "oracle"]]
    assert f"(P@1 {fastxml:.1f}, PLT {plt:.1f}, oracle {oracle:.1f})" in README


def test_the_example_from_texts_to_label_names_runs(capsys):
    (example,) = (block for block in blocks("python") if not block.startswith("# my_"))
    texts = ["a new dog", "an old dog", "a new cat", "an old cat", "a new text", "an old text"]
    exec(example, {"texts": texts, "label_lists": [[text.split()[1], text.split()[2]] for text in texts]})
    assert set(capsys.readouterr().out.split()[:2]) == {"new", "text"}


def test_the_first_page_has_the_ratios_of_the_page_on_speed():
    row = re.compile(r"^\| \S+ \| (training|prediction).*\| PLT[^|]*\| ([\d.]+) \|", re.MULTILINE)
    rows = row.findall(PAGES[ROOT / "docs/speed.md"])
    for task, words in (("training", "trains in"), ("prediction", "ranks in")):
        ratios = [float(ratio) for name, ratio in rows if name == task]
        assert f"{words} {min(ratios):.2f} to {max(ratios):.2f} of" in " ".join(PAGES[ROOT / "docs/index.md"].split())


@pytest.mark.needs("lint")
@pytest.mark.parametrize("command", [("check", "--no-cache"), ("format", "--check")], ids=lambda words: words[0])
def test_the_examples_of_files_pass_make_lint_in_the_root(command):
    files = [block for block in blocks("python", TEXT) if block.startswith("# my_")]
    for block in files:
        name = block.splitlines()[0].removeprefix("# ")
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", name, "-"]
        done = subprocess.run(ruff, cwd=ROOT, input=block, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The project with the pages' files and lines of configuration, run; the workflow is not touched."""
    project = Project(tmp_path_factory.mktemp("examples"))
    files = [block for block in blocks("python", TEXT) if block.startswith("# my_")]
    for block in files:
        (project.folder / block.splitlines()[0].removeprefix("# ")).write_text(block)
    assert len(files) == 2
    assert max(len(block.splitlines()) for block in files) <= 30
    of_model, of_method, _ = map(yaml.safe_load, blocks("yaml", EXTENDING))
    example = of_model | of_method
    assert len(yaml.safe_dump(example["models"]).splitlines()) <= 4  # its name, and what it is
    assert "half" in example["methods"]
    # For the sake of time each stands alone, with two tables.
    few = {"methods": ["half"], "tables": ["table1", "table2"], "figures": [], "measures": []}
    project.edit_yaml("config/demo.yaml", lambda content: content.update(example | few) or content.pop("inference"))
    project.run_well("demo")
    return project


def test_the_example_of_a_search_is_one(tmp_path):
    *_, example = map(yaml.safe_load, blocks("yaml", EXTENDING))
    model = read_suite(write_suite(tmp_path / "mine.yaml", example["models"])).models["mine"]
    assert sum(map(len, model.search.stages)) == 3


@pytest.mark.slow
def test_accepting_takes_the_tables_that_were_made(examples):
    reference = examples.folder / "results/reference/demo"
    reference.mkdir(parents=True)
    (reference / "table4.csv").write_text("model,dataset,a\n")
    said = examples.xmlc("accept", "results/tables", "results/reference").stdout
    assert "results/reference/demo/table1.csv: new table" in said
    made = examples.folder / "results/tables/demo"
    assert all(fingerprint(reference / name) == fingerprint(made / name) for name in ("table1.csv", "table2.csv"))
    assert not any(column(name).cost for name in pd.read_csv(reference / "table1.csv"))
    assert (reference / "table4.csv").read_text() == "model,dataset,a\n"  # this run did not make it
