"""How the time of inference grows: fitted powers, the full P that GFM is given, and the record of it all."""

import json

import numpy as np
import pytest

from xmlc.cli.steps import simulate as simulate_command
from xmlc.steps import growth
from xmlc.steps.simulation import MODELS


@pytest.fixture
def short(monkeypatch):
    """Nothing is repeated, and the numbers of labels are small."""
    monkeypatch.setattr(growth, "AT_LEAST", 0.0)
    monkeypatch.setattr(growth, "FULL_ENTRIES", 200)
    monkeypatch.setattr(growth.measure_growth, "__defaults__", (0, 4, (3, 4, 5), (4, 5, 6), (3, 4, 6), 2))


def test_powers_are_fitted_to_the_upper_half():
    sizes = (10, 20, 40, 80)
    assert growth.growth_exponent(sizes, [1, 1, 40.0**3, 80.0**3]) == pytest.approx(3)


def test_a_full_distribution_has_mass_on_every_size_and_no_ties():
    P, p_empty, sizes = growth.full_distribution(6, 2)
    assert P.shape == (2, 6, 6)
    assert sizes.tolist() == [1, 2, 3, 4, 5, 6]
    assert P.min() > 1e-4
    assert np.unique(P[0].sum(axis=1).round(6)).size == 6
    assert P[1].sum(axis=0) @ (1 / sizes) + p_empty[1] == pytest.approx(1)


@pytest.mark.usefixtures("short")
def test_a_simulation_is_one_record(tmp_path):
    out = tmp_path / "simulation.json"
    arguments = ["--trials", "3", "--labels", "5", "--rounds", "1", "--seed", "2", "--out", str(out)]
    simulate_command.command.main(arguments, standalone_mode=False)
    record = json.loads(out.read_text())
    assert (record["kind"], record["seed"], record["trials"], record["labels"]) == ("simulation", 2, 3, 5)
    assert list(record["models"]) == list(MODELS)
    assert len(record["models"]["dependent"]["methods"]["gfm"]["mean"]) == len(record["sample_sizes"])
    assert set(record["growth"]["samples"]["ms"]) == set(growth.TIMED)
