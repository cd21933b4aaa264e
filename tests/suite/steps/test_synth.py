"""Test `xmlc synth`: files equal samples of the model, and errors leave no files."""

import numpy as np
import pytest
import yaml
from command_line import call
from facts import raises_with

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.data import load
from xmlc.data.matrices import load_csr
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.suite.files import sha256
from xmlc.suite.steps.synth import command

SIZES = (
    "{n_train: 300, n_test: 100, n_features: 60, n_labels: 20, labels_per_instance: 2.0, "
    "nonzeros: 9, seed: 3}"
)
PUBLISHED = "{n_train: 1201, n_test: 300, d: 60, m: 20, labels_per_instance: 2.0, source: x}"
CATALOGUE = f"""
toy: {{synthetic: {SIZES}}}
wide: {{published: {PUBLISHED}, shape: {{nonzeros: 9}}}}
plain: {{published: {PUBLISHED}}}
"""


@pytest.fixture
def synth(tmp_path):
    """Return a function that runs `xmlc synth` with a small catalogue."""
    (tmp_path / "c.yaml").write_text(CATALOGUE)

    def run(name, *arguments):
        out = tmp_path / "resources" / name
        call(command, name, "--out", out, "--catalogue", tmp_path / "c.yaml", *arguments)
        return out

    return run


def assert_equal_matrices(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_files_have_rows_of_the_model_and_a_source(synth):
    out = synth("toy")
    model = SyntheticModel(60, 20, 2.0, 9, seed=3)
    for part, rows in (("train", (0, 300)), ("test", (300, 400))):
        found = (*load(out / f"{part}.txt"), load_csr(out, f"{part}.P"))
        assert_equal_matrices(found, model.draw(*rows))
    source = read_json(out / "source.json")
    about = {"name": "toy", "origin": "synthetic", "format": "repository", "zero_based": True}
    assert about.items() <= source.items()
    assert source["parameters"] == yaml.safe_load(SIZES) | {"posteriors": True}
    files = source["files"]
    assert {*files, "source.json", "checksums.json"} == {file.name for file in out.iterdir()}
    for name, facts in files.items():
        assert facts == {"bytes": (out / name).stat().st_size, "sha256": sha256(out / name)}
    assert [folder.name for folder in out.parent.iterdir()] == ["toy"]


def test_large_dataset_can_be_simulated_with_a_share_of_its_instances(synth):
    out = synth("wide", "--one-in", 4)
    model = SyntheticModel(60, 20, 2.0, 9, seed=0, posteriors=False)
    assert_equal_matrices(load(out / "train.txt"), model.draw(0, 301)[:2])
    assert read_json(out / "source.json")["parameters"]["n_test"] == 75
    with raises_with(XmlcError, "nonzeros"):
        synth("plain", "--one-in", 4)


@pytest.mark.parametrize("name", ["../toy", "Toy", "", "not-in-the-catalogue"])
def test_invalid_or_unknown_synthetic_dataset_is_refused(tmp_path, name):
    with pytest.raises(XmlcError):
        call(command, name, "--out", tmp_path / "toy")
    assert not (tmp_path / "toy").exists()
