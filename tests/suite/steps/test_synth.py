"""Test `xmlc synth`: files equal samples of the model, and errors leave no files."""

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from command_line import own_threads

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.data import load
from xmlc.data.matrices import load_csr
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.suite.files import sha256
from xmlc.suite.steps.synth import command

SIZES = (
    "n_train: 300, n_test: 100, n_features: 60, n_labels: 20, labels_per_instance: 2.0, nonzeros: "
    "9, seed: 3"
)


def run(*arguments):
    with own_threads():
        return CliRunner().invoke(command, list(map(str, arguments)))


def test_files_have_rows_of_the_model_and_a_source(tmp_path):
    catalogue = tmp_path / "datasets.yaml"
    catalogue.write_text(f"toy: {{synthetic: {{{SIZES}}}}}")
    out = tmp_path / "resources" / "toy"
    result = run("toy", "--out", out, "--catalogue", catalogue)
    assert result.exit_code == 0, result.output
    model = SyntheticModel(60, 20, 2.0, 9, seed=3)
    for part, rows in (("train", (0, 300)), ("test", (300, 400))):
        found = (*load(out / f"{part}.txt"), load_csr(out, f"{part}.P"))
        for read, drawn in zip(found, model.draw(*rows), strict=True):
            np.testing.assert_array_equal(read.toarray(), drawn.toarray())
    source = read_json(out / "source.json")
    assert (
        source.items()
        >= {
            "name": "toy",
            "origin": "synthetic",
            "format": "repository",
            "zero_based": True,
        }.items()
    )
    assert source["parameters"] == yaml.safe_load(f"{{{SIZES}, posteriors: true}}")
    assert set(source["files"]) == {file.name for file in out.iterdir()} - {
        "source.json",
        "checksums.json",
    }
    for name, facts in source["files"].items():
        assert facts == {"bytes": (out / name).stat().st_size, "sha256": sha256(out / name)}
    assert [folder.name for folder in out.parent.iterdir()] == ["toy"]


def test_large_dataset_can_be_simulated_with_a_share_of_its_instances(tmp_path):
    catalogue = tmp_path / "datasets.yaml"
    published = "{n_train: 1201, n_test: 300, d: 60, m: 20, labels_per_instance: 2.0, source: x}"
    catalogue.write_text(
        f"wide: {{published: {published}, shape: {{nonzeros: 9}}}}\nplain: {{published: "
        f"{published}}}"
    )
    result = run("wide", "--one-in", 4, "--out", tmp_path / "wide", "--catalogue", catalogue)
    assert result.exit_code == 0, result.output
    model = SyntheticModel(60, 20, 2.0, 9, seed=0, posteriors=False)
    for read, drawn in zip(load(tmp_path / "wide/train.txt"), model.draw(0, 301)[:2], strict=True):
        np.testing.assert_array_equal(read.toarray(), drawn.toarray())
    assert read_json(tmp_path / "wide/source.json")["parameters"]["n_test"] == 75
    refused = run("plain", "--one-in", 4, "--out", tmp_path / "plain", "--catalogue", catalogue)
    assert "found no nonzeros" in str(refused.exception)


@pytest.mark.parametrize("name", ["../toy", "Toy", "", "not-in-the-catalogue"])
def test_invalid_or_unknown_synthetic_dataset_is_refused(tmp_path, name):
    assert isinstance(run(name, "--out", tmp_path / "toy").exception, XmlcError)
    assert not (tmp_path / "toy").exists()
