"""The examples in three pages of docs run, and print what the page shows.

The tests define the reader's data.
"""

import re
from itertools import chain

import numpy as np
import pytest
import yaml
from command_line import run
from repository import ROOT
from scipy import sparse
from small_data import prepare_tiny, random_multilabel
from suite_cases import project_of, suite
from tutorials import blocks

from xmlc.core.files import read_json
from xmlc.data.writer import save_repository
from xmlc.suite.steps.prepared import Prepared

ESTIMATES = (ROOT / "docs/estimates.md").read_text()
LEFT_TO_THE_READER = """
import numpy as np
from xmlc.data import load

X, Y = load("train.txt.xz")
texts = [" ".join(f"word{j}" for j in X[[i]].indices) or "nothing" for i in range(1200)]
label_lists = [[f"label {j}" for j in Y[[i]].indices] for i in range(1200)]
"""


@pytest.mark.slow
def test_page_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, Y = random_multilabel(1300, 60, 12)
    # The file is sorted by label, as that of scene.
    first = Y[:1200].toarray().argmax(axis=1)
    order = np.argsort(first, kind="stable")
    Y_sorted = sparse.csr_array(np.eye(12, dtype=bool)[first[order]])
    save_repository("train.txt.xz", X[order], Y_sorted)
    save_repository("test.txt.xz", X[1200:], Y[1200:])
    page = (ROOT / "docs/package.md").read_text()
    names = {}
    exec("\n".join([LEFT_TO_THE_READER, *blocks(page)]), names)
    assert len(set(names["Y_train"].indices)) > 10
    assert names["search"].best_score_ > 0.5


def test_example_prints_the_sets_on_page(capsys):
    page = (ROOT / "docs/expected_f.md").read_text()
    exec(*blocks(page), {})
    assert [capsys.readouterr().out] == blocks(page, "text")


def network_of(folder):
    """Return a fake training function.

    The trained network has logits of all labels for each row of a tiny dataset.
    """
    logits = {name: np.random.default_rng(0).normal(size=(120, 8)) for name in ("train", "test")}

    def train(rows, Y):
        assert Y.shape[0] == rows.size == Prepared(folder).part("fit")[0].shape[0]
        return lambda name, rows=slice(None): logits[name][rows]

    return train


def printed_scores():
    """Return the macro-F of AttentionXML, scikit-learn and omikuji on the page, by method."""
    lines = re.findall(r"^\| ([\w -]+(?:, prior)?) \| (\d[\d. |]*) \|$", ESTIMATES, re.MULTILINE)
    found = {}
    for name, cells in lines:
        found[name] = [float(cell) for cell in cells.split(" | ")]
    return found


def test_scores_on_page_are_measured():
    measured = (ROOT / "results/benchmarks/other-models.csv").read_text()
    scores = chain.from_iterable(printed_scores().values())
    assert all(f",{score}," in measured for score in scores)


@pytest.mark.slow
@pytest.mark.needs("mirror", "baselines")
@pytest.mark.filterwarnings("ignore:Label")  # scikit-learn warns if few instances have a label
def test_estimates_of_other_models_give_scores_on_page(tmp_path, monkeypatch, mirror):
    monkeypatch.chdir(tmp_path)
    for name in ("attentionxml-eurlex", "bibtex"):
        (tmp_path / name).symlink_to(mirror / name)
    (tmp_path / "scores/my-set").mkdir(parents=True)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/my-set").symlink_to(prepare_tiny(tmp_path).parent)
    page = {"train": network_of(tmp_path / "results/my-set/data")}
    for example in blocks(ESTIMATES):
        exec(example, page)

    rows = printed_scores()
    assert list(rows) == list(page["attentionxml"])
    for name, (of_file, ours, theirs) in rows.items():
        assert round(page["attentionxml"][name], 1) == of_file, name
        # BLAS differs from machine to machine
        assert page["sklearn"][name] == pytest.approx(ours, abs=0.3), name
        # The trees of omikuji are random.
        assert page["omikuji_"][name] == pytest.approx(theirs, abs=1.5), name

    command, unlabelled = re.findall(r"^    xmlc (labels .*)$", ESTIMATES, re.MULTILINE)
    assert run(*command.split()) == 0
    found = read_json("label-sets/measures.json")
    for method in ("ofo", "meuf"):
        assert 100 * found[method]["test"]["macro_f_present"] == page["attentionxml"][method]
    assert run(*unlabelled.split()) == 0
    found = read_json("unlabelled/measures.json")["expected-f"]
    assert f"{100 * found['expected_macro_f']:.3f}" == "35.080"

    (models,) = blocks(ESTIMATES, "yaml")
    project = project_of(tmp_path / "config", a=suite(yaml.safe_load(models), datasets=["my-set"]))
    assert project.models_on("a", "my-set") == ["attentionxml"]
    files = project.given("attentionxml", "my-set", [0])
    assert files == sorted(
        file.relative_to(tmp_path).as_posix() for file in (tmp_path / "scores/my-set").iterdir()
    )
