"""The sets of the scale run: the shape that they claim, and multiples of one base."""

import pytest
import yaml
from repository import ROOT

from xmlc.data.catalogue import load_catalogue
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.papers.scale.growth import MULTIPLE

CATALOGUE = load_catalogue(ROOT / "config/datasets.yaml")
SUITE = yaml.safe_load((ROOT / "config/scale.yaml").read_text())
VARIED = {"n": "n_train", "d": "n_features", "m": "n_labels", "labels": "labels_per_instance"}


def test_the_shape_is_that_of_the_papers_set():
    shape, published = CATALOGUE["amazon-670k-shape"].synthetic, CATALOGUE["amazon-670k"].published
    counts = {"n_train": "n_train", "n_test": "n_test", "n_features": "d", "n_labels": "m"}
    assert {own: shape[own] for own in counts} == {own: published[name] for own, name in counts.items()}
    # The averages of what is drawn, on its first rows.
    model = SyntheticModel(*(shape[key] for key in ("n_features", "n_labels", "labels_per_instance", "nonzeros")))
    X, Y, _ = model.draw(0, 20_000)
    assert X.nnz / X.shape[0] == pytest.approx(75.7, rel=0.01)
    assert Y.nnz / Y.shape[0] == pytest.approx(published["labels_per_instance"], rel=0.01)


def test_the_larger_shape_is_the_one_that_swnn2018_prints():
    shape = CATALOGUE["amazon-3m-shape"].synthetic
    printed = {"n_train": 1_717_899, "n_test": 742_507, "n_features": 337_067, "n_labels": 2_812_281}
    assert {key: shape[key] for key in printed} == printed
    model = SyntheticModel(
        *(shape[key] for key in ("n_features", "n_labels", "labels_per_instance", "nonzeros")), posteriors=False
    )
    X, Y, P = model.draw(0, 2_000)
    assert X.nnz / X.shape[0] == pytest.approx(49.7, rel=0.02)
    assert Y.nnz / Y.shape[0] == pytest.approx(36, rel=0.05)
    assert P is None


def test_growth_varies_one_number_at_a_time():
    base, *grown = (CATALOGUE[name] for name in SUITE["growth"])
    assert base.name == "growth-base"
    factors = {key: [] for key in VARIED}
    for entry in grown:
        match = MULTIPLE.fullmatch(entry.name)
        key, factor = VARIED[match["what"]], int(match["factor"])
        assert entry.synthetic == base.synthetic | {key: factor * base.synthetic[key]}
        factors[match["what"]].append(factor)
    assert all(found == [2, 4, 8] for found in factors.values())
