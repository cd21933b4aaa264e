"""The sets of the scale run: the shape that they claim, and multiples of one base."""

import yaml
from repository import ROOT

from xmlc.data.catalogue import load_catalogue
from xmlc.papers.scale.tables import MULTIPLE

CATALOGUE = load_catalogue(ROOT / "config/datasets.yaml")
SUITE = yaml.safe_load((ROOT / "config/scale.yaml").read_text())
VARIED = {"n": "n_train", "d": "n_features", "m": "n_labels", "labels": "labels_per_instance"}


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
