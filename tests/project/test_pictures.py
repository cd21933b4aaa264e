"""The pictures of docs equal the output of their scripts, and show results of the package."""

import re
import runpy
from functools import partial

import pytest
from repository import ROOT

from xmlc.cli import COMMANDS

NAMES = ("label_tree", "pipeline", "estimates_to_sets", "interval")
PICTURES = {name: runpy.run_path(str(ROOT / f"docs/{name}.py")) for name in NAMES}
MAKER = PICTURES["label_tree"]
MODELS = runpy.run_path(str(ROOT / "docs/models/pictures.py"))
DRAWN = {f"docs/{name}.svg": page["figure"] for name, page in PICTURES.items()}
DRAWN |= {f"docs/models/{name}.svg": partial(MODELS["figure"], name) for name in MODELS["PICTURES"]}


@pytest.mark.parametrize("file", DRAWN)
def test_picture_equals_output_of_its_script(file):
    picture = (ROOT / file).read_text(encoding="utf-8")
    assert picture == "\n".join(DRAWN[file]()) + "\n", f"run the script that draws {file}"
    # at least 9 pt
    assert {float(size) for size in re.findall(r'font-size="([\d.]+)"', picture)} <= {12, 12.5, 13}
    name = file.rpartition("/")[2]
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/models").glob("*.md")]
    assert (
        sum(
            bool(re.search(rf"\]\([./]*{name}\)", page.read_text(encoding="utf-8")))
            for page in pages
        )
        == 1
    )


def test_pipeline_names_commands():
    steps = [*PICTURES["pipeline"]["STEPS"], PICTURES["pipeline"]["RANKINGS"]]
    assert {command for *_, commands in steps for command in commands} <= {*COMMANDS}


def test_intervals_show_three_verdicts():
    assert [cell["verdict"] for cell in PICTURES["interval"]["judged"]()] == [
        "inside",
        "below",
        "above",
    ]


def test_products_along_paths_equal_estimates():
    model = MAKER["trained"]()
    tree = model.estimator_.tree_
    given = MAKER["node_probabilities"](model)
    estimates = dict(model.predict([MAKER["QUERY"]], 5)[0])
    for leaf, label in enumerate(tree.label):
        if label >= 0:
            node = leaf
            product = given[leaf]
            while node := tree.parent[node]:
                product *= given[node]
            assert estimates[model.classes_[label]] == pytest.approx(product * given[0], abs=1e-5)
