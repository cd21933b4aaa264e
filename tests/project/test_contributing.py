"""The recipes in CONTRIBUTING.md work in a copy of the project.

The tests apply the text of all recipes first. Then the demo runs once, with only the parts that the
recipes added.
"""

import re
import shutil
import subprocess
import sys
from itertools import chain

import pandas as pd
import pytest
import yaml
from command_line import call
from facts import absent
from project_copy import Project
from report_cases import ranking, write
from repository import ROOT

from xmlc.cli import group
from xmlc.core.files import read_json
from xmlc.suite.files import write_record

pytestmark = pytest.mark.slow

CONTRIBUTING, README, EXTENDING = (
    (ROOT / name).read_text() for name in ("CONTRIBUTING.md", "README.md", "docs/extending.md")
)
BLOCK = re.compile(r"^`([^`\n]+)`\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTIONS = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", CONTRIBUTING, re.MULTILINE | re.DOTALL))


def blocks_of(section):
    """Return (file, text) of each code block in one recipe."""
    return [(file, text) for file, _, text in BLOCK.findall(SECTIONS[section])]


def examples():
    """Return (file, text) of the examples in README.md and docs/extending.md: models, methods and a
    search.

    The first line of a Python example names its file. YAML belongs to config/demo.yaml.
    """
    found = re.findall(
        r"^```(python|yaml)\n(.*?)^```$", README + EXTENDING, re.MULTILINE | re.DOTALL
    )
    files = [
        (text.splitlines()[0].removeprefix("# "), text)
        for _, text in found
        if text.startswith("# my_")
    ]
    return files + [("config/demo.yaml", text) for language, text in found if language == "yaml"]


def merged(content, further):
    """Add keys to dictionaries and items to lists, like a person who follows the recipe by hand."""
    if isinstance(further, dict):
        known = content or {}
        return known | {key: merged(known.get(key), value) for key, value in further.items()}
    if isinstance(further, list):
        return [*(content or []), *(item for item in further if item not in (content or []))]
    return further


def added(module, text):
    """Append code to a module and put imports after its first import, or add lines to a
    dictionary.
    """
    name, _, items = text.partition(" = {\n")
    if items:
        before, begin, after = module.partition(f"\n{name} = {{\n")
        assert begin, text
        return before + begin + items.removesuffix("}\n") + after
    lines = text.splitlines(keepends=True)
    imports = "".join(line for line in lines if line.startswith("from "))
    rest = "".join(line for line in lines if not line.startswith("from ")).lstrip()
    head, first, tail = module.partition("from __future__ import annotations\n")
    return f"{head}{first}{imports}{tail}\n\n{rest}"


class House(Project):
    """A copy of the project to which the tests apply one recipe after another."""

    def write(self, name, text):
        """Apply a block of a recipe to the file that the recipe names."""
        if not (file := self.folder / name).exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        elif file.suffix == ".yaml":
            further = yaml.safe_load(text)
            self.edit_yaml(name, lambda content: content.update(merged(content, further)))
        else:
            file.write_text(added(file.read_text(), text))

    def xmlc_well(self, *arguments):
        done = self.xmlc(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("house"))
    for section in SECTIONS:
        assert blocks_of(section), section
    blocks = [*examples(), *chain.from_iterable(map(blocks_of, SECTIONS))]
    for name, text in [*blocks, ("xmlc/models/centroids.py", dict(blocks)["my_model.py"])]:
        house.write(name, text)
    return house


@pytest.fixture(scope="module")
def datasets(house):
    """Return the statistics of two custom datasets from a mirror. Their formats differ."""
    mirror = house.folder.parent / f"{house.folder.name}-mirror"
    rows = "".join(f"{i % 5} 0:{i + 1} {1 + i % 5}:0.5\n" for i in range(40))
    for name, header in (("my-set", "40 6 5\n"), ("my-svm", "")):
        (mirror / name).mkdir(parents=True)
        for part in ("train", "test"):
            (mirror / name / f"{part}.txt").write_text(header + rows)
    return {name: prepared(name, mirror, house.folder) for name in ("my-set", "my-svm")}


def prepared(name, mirror, folder):
    """Download and prepare a dataset in this process.

    The workflow of the copy would compile the readers again.
    """
    source = folder / "my-data/resources" / name
    statistics = folder / f"my-data/{name}.json"
    catalogue = ("--catalogue", folder / "config/datasets.yaml")
    call(group, "download", name, "--out", source, "--mirror", mirror, *catalogue)
    out = ("--out", folder / "my-data" / name, "--statistics", statistics)
    call(group, "prepare", name, "--source", source, *out, *catalogue)
    return read_json(statistics)


def test_custom_dataset_is_planned_and_read(house, datasets):
    assert "my-set" not in (house.folder / "config/datasets.yaml").read_text()
    settings = ("--config", "datasets=[my-set, my-svm]", "mirror=http://localhost/none")
    assert house.planned("results/tables/swnn2018/table1.csv", *settings) == {
        "download": 2,
        "prepare": 2,
        "table": 1,
    }
    for found in datasets.values():
        assert (found["train"]["instances"], found["d"], found["m"]) == (40, 6, 5)


@pytest.fixture(scope="module")
def demo(house):
    """Run the demo with only the model, methods and measure of the recipes, and return its
    tables.
    """
    few = {"methods": ["half", "by-prior"], "measures": ["instance-f"], "figures": []}
    few["tables"] = ["table1", "table2", "instance-f"]

    def change(content):
        inferred = content["inference"]["methods"].pop("plt")
        assert inferred[-1] == "top-label"
        content["models"] = {"centroids": content["models"]["centroids"]}
        content["inference"]["methods"] = {"centroids": inferred[-1:]}
        content.update(few)

    house.edit_yaml("config/demo.yaml", change)
    house.run_well("demo")
    tables = house.folder / "results/tables/demo"
    return {name: pd.read_csv(tables / f"{name}.csv") for name in few["tables"]}


def test_custom_model_methods_and_measure_are_in_tables(house, demo):
    assert demo["table1"]["model"].tolist() == ["centroids"]
    assert demo["table1"]["p@1"].between(20, 100).all()
    assert demo["table1"]["mrr@5"].between(20, 100).all()
    assert demo["table2"]["model"].tolist() == ["centroids", "centroids"]
    assert demo["table2"]["method"].tolist() == ["half", "by-prior"]
    assert demo["table2"]["macro_f"].notna().all()
    assert "multiple of the prior" in (house.folder / "results/tables/demo/table2.md").read_text()
    inferred = demo["instance-f"].set_index("method")
    assert inferred.index.tolist() == ["for-instance-f", "top-label"]
    assert inferred.loc["top-label", "predicted_per_instance"] == 1
    assert 0 < inferred.loc["top-label", "instance_f"] < 100


def test_general_tests_pass_for_recipes(house):
    for name in ("tests", "benchmarks", "docs"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, house.folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", house.folder)
    files = """
        models hostile/test_indices.py kernels/test_domains.py metrics benchmarks/test_bits.py
        thresholds/test_sweeps.py suite/config/test_project.py
    """.split()
    words = (
        "centroids or test_bits or test_measures or test_sweeps or test_classification or "
        "known_methods"
    )
    command = [sys.executable, *"-m pytest -q -n 0 -m".split(), "not slow", "-k", words]
    command += [f"tests/{name}" for name in files]
    done = subprocess.run(
        command, cwd=house.folder, env=house.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_custom_estimator_is_trained_by_name_and_predicts(house):
    (house.folder / "texts.csv").write_text("text,labels\nred apple,fruit\nblue sky,air\n")
    house.xmlc_well("fit", "texts.csv", "--estimator", "centroids", "--out", "texts-model")
    assert '"set": ["fruit"]' in house.xmlc_well(
        "predict", "texts.csv", "--model", "texts-model", "--threshold", "0.9"
    )
    assert "centroids" in house.xmlc_well("fit", "--help")


@pytest.fixture(scope="module")
def brier(house):
    """Return a file with the new kind of record, as the recipe's script would write it."""
    about = ranking("bibtex")
    record = {key: about[key] for key in ("dataset", "model", "seed", "hyperparameters")}
    record |= {"kind": "brier", "schema": 1, "split": "80", "brier": 0.125}
    file = house.folder / "results/bibtex/plt/seed0/80/brier.json"
    file.parent.mkdir(parents=True)
    write_record(file, record)  # the recipe's `write` method calls the same function
    return file


def test_a_sixth_paper_is_planned(house, brier):
    steps = dict.fromkeys(("download", "prepare", "train", "rank", "score", "figure"), 1)
    planned = house.planned("mine2026", "--config", "mirror=http://localhost/none")
    assert planned == steps | {"table": 2}


def test_numbers_of_sixth_paper_are_compared_with_published(house):
    errors = {"p@1": 0.0096, "p@3": 0.0061}
    runs = []
    for seed, p1 in ((0, 0.6241), (1, 0.6261)):
        runs.append(ranking("bibtex", p1=p1, seed=seed, standard_errors=errors))
    records = write(house.folder / "of-mine", runs)
    out = ("--published", "results/published", "--out", "results/tables/mine2026/table1")
    house.xmlc_well("table", "1", "--paper", "mine2026", *records, *out)
    said = (house.folder / "results/tables/mine2026/table1.md").read_text()
    assert re.search(r"\| 62\.51 ± 0\.14 \| +20\.84 ± 0\.05 \| +62\.5 +\| +38\.90 \|", said)
    house.xmlc_well("figure", "size", "--paper", "mine2026", *records, "--out", "of-mine/size")
    assert "size of the model (MB)" in (house.folder / "of-mine/size.svg").read_text()
    house.xmlc_well("seed-variation", "results/tables", "--out", "config/runs.csv")
    compared = ("results/published/mine2026", "results/tables/mine2026")
    judged = house.xmlc_well("compare", "--published", "--all", *compared)
    assert re.search(r"bibtex / plt +p@1 .* equal ", judged)
    assert re.search(r"bibtex / plt +p@3 +38\.90 +20\.84 +-18\.06 +below +± \d", judged)


def test_table_of_new_record_kind_uses_only_those_records(house, brier):
    house.run_well("results/tables/mine2026/brier.md")
    table = pd.read_csv(house.folder / "results/tables/mine2026/brier.csv")
    assert table["brier"].tolist() == [0.125]

    # reading checks the types of the record
    wrong = house.folder / "wrong.json"
    write_record(wrong, read_json(brier) | {"brier": "low"})
    done = house.xmlc("table", "brier", "--paper", "mine2026", wrong, "--out", "made-up/brier")
    assert done.returncode == 1
    assert absent(done.stderr, "$.brier", "wrong.json") == []
