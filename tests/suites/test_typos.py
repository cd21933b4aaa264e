"""Names that do not exist: one sentence with the nearest name, before anything runs."""

import subprocess
import sys

import pytest
from repository import ROOT

from xmlc.data.catalogue import Dataset
from xmlc.errors import XmlcError
from xmlc.suites.reading import read_suites
from xmlc.suites.settings import Settings
from xmlc.suites.suite import ModelSpec, Suite
from xmlc.suites.typos import check_models, check_sources, check_targets


def suite_with(**model):
    models = {"mine": ModelSpec(**{"estimator": "plt"} | model)}
    return Suite("x", "x.yaml", False, "X", ["yeast"], [0], ["fta"], [], [], models)


def test_the_models_of_all_suites_are_in_order():
    for suite in read_suites(ROOT / "config").values():
        check_models(suite)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"estimator": "pltt"}, "x.yaml: model mine: no estimator pltt, expected plt"),
        ({"hyperparameters": {"arty": 2}}, "plt has no hyperparameter arty, expected arity"),
        ({"hyperparameters": {"arity": 1}}, "arity: found 1, expected a whole number from 2"),
        ({"datasets": {"yeast": {"tree": "kmean"}}}, "tree: found 'kmean', expected one of 'random', 'huffman'"),
        ({"search": [[{"C": 1.0}, {"C": -1.0}]]}, "C: found -1.0, expected a number above 0"),
        ({"estimator": "my_modell.py:Centroids"}, "no file my_modell.py, expected my_model.py"),
        ({"estimator": "my_model.py:Centroid"}, "my_model.py has no class Centroid, expected Centroids"),
    ],
)
def test_what_does_not_exist_is_named_with_the_nearest(model, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_model.py").write_text("class Centroids:\n    pass\n")
    with pytest.raises(XmlcError) as error:
        check_models(suite_with(**model))
    assert said in str(error.value)
    check_models(suite_with(estimator="my_model.py:Centroids", hyperparameters={"anything": 1}))


def test_a_target_is_a_rule_or_a_file():
    check_targets(["plt2016", "results/yeast/data"], ["plt2016"], ["yeast"])
    with pytest.raises(XmlcError, match="no target plt2061, expected plt2016"):
        check_targets(["plt2061"], ["plt2016", "demo"], [])
    with pytest.raises(XmlcError, match=r"yeast: this dataset is not selected; add --config datasets='\[yeast\]'"):
        check_targets(["yeast"], ["plt2016"], ["yeast"])


def test_a_dataset_has_an_address_or_lies_in_the_mirror(tmp_path):
    mirror, resources = tmp_path / "mirror", tmp_path / "resources"
    (mirror / "medical").mkdir(parents=True)
    (mirror / "medical/train.txt.gz").touch()
    addressed = Dataset("far", sources=(("url", "http://localhost/x.zip"),))
    check_sources([Dataset("medical"), addressed], str(mirror), resources, [])
    check_sources([addressed], None, resources, [])
    check_sources([], str(tmp_path / "nowhere"), resources, [])
    check_sources([Dataset("medicl")], "http://localhost/mirror", resources, [])
    with pytest.raises(XmlcError, match=r"has no medicl/train\.txt; expected medical"):
        check_sources([Dataset("medicl")], str(mirror), resources, ["yeast"])
    with pytest.raises(XmlcError, match="no mirror is given; expected yeast"):
        check_sources([Dataset("yeas")], None, resources, ["yeast"])
    with pytest.raises(XmlcError, match="no mirror is given; expected a mirror that has it"):
        check_sources([Dataset("medical")], None, resources, ["yeast"])
    with pytest.raises(XmlcError, match="nowhere is no folder on this machine"):
        check_sources([addressed], str(tmp_path / "nowhere"), resources, [])
    (resources / "manual/medicl").mkdir(parents=True)
    check_sources([Dataset("medicl")], None, resources, [])


def test_one_name_is_a_list_of_one():
    settings = Settings.read({"papers": "plt2016", "datasets": "medical", "models": "plt"})
    assert (settings.papers, settings.datasets, settings.models) == (["plt2016"], ["medical"], ["plt"])
    assert Settings.read({"papers": ["plt2016"], "datasets": "null"}).datasets is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plt2061"], "no target plt2061, expected plt2016"),
        (["plt2016", "--config", "models=[pltt]"], "models has pltt, expected plt"),
        (["plt2016", "--config", "datasets=bibtec"], "dataset bibtec: the catalogue knows no address for it"),
        (["plt2016", "--config", "datasets=bibtex", "mirror=/nowhere"], "/nowhere is no folder on this machine"),
    ],
)
def test_a_dry_run_ends_with_one_sentence(tmp_path, words, said):
    for name in ("Snakefile", "config", "workflow", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert "File " not in done.stderr
