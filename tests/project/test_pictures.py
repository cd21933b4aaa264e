"""The pictures of docs equal the output of their scripts, and show results of the package."""

import runpy
from functools import partial

import pytest
from repository import ROOT

NAMES = ("label_tree", "pipeline", "estimates_to_sets", "interval", "report_index")
PICTURES = {name: runpy.run_path(str(ROOT / f"docs/{name}.py")) for name in NAMES}
MAKER = PICTURES["label_tree"]
RELIABILITY = runpy.run_path(str(ROOT / "docs/reliability.py"))
MODELS = runpy.run_path(str(ROOT / "docs/models/pictures.py"))
DRAWN = {f"docs/{name}.svg": page["figure"] for name, page in PICTURES.items()}
DRAWN |= {f"docs/models/{name}.svg": partial(MODELS["figure"], name) for name in MODELS["PICTURES"]}
for name, files in {"expected_f": [], "which_estimator": ["programs.csv"]}.items():
    page = runpy.run_path(str(ROOT / f"docs/{name}.py"))
    file = page["FIGURE"].relative_to(ROOT).as_posix()
    DRAWN[file] = partial(page["figure"], page["read"](*files))


@pytest.mark.parametrize("file", DRAWN)
def test_picture_equals_output_of_its_script(file):
    picture = (ROOT / file).read_text(encoding="utf-8")
    assert picture == "\n".join(DRAWN[file]()) + "\n", f"run the script that draws {file}"


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


@pytest.mark.slow
def test_reliability_diagram_has_the_legends_of_the_estimates_on_the_page():
    picture = RELIABILITY["FIGURE"].read_text(encoding="utf-8")
    for axes in RELIABILITY["figure"]().axes:
        for text in axes.get_legend().get_texts():
            assert f">{text.get_text()}<" in picture
