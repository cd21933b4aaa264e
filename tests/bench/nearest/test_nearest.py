"""The benchmark of nearest neighbours: what it prints is what it measured, and ratios are to the scaled times."""

from __future__ import annotations

import json
from dataclasses import astuple

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.nearest import comparison as bench
from xmlc.bench.nearest.tables import to_text
from xmlc.cli.tools.bench import command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.nearest import SparseWeightedNearestNeighbors

HALF = 5.3  # seconds: half of what the calibration took elsewhere on delicious


@pytest.fixture(autouse=True)
def calibrated(monkeypatch):
    """Nothing is repeated, and the calibration finds a machine twice as fast, without napkinXC; gives its data sets."""
    shapes = []
    scale = bench.calibration_of
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    monkeypatch.setattr(bench, "calibration_work", lambda X, Y: lambda: shapes.append((X.shape, Y.shape)))
    monkeypatch.setattr(bench, "calibration_of", lambda name, seconds: scale(name, HALF))
    return shapes


def cells(text):
    """Return the rows of all tables, without blanks around the cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_everything_is_measured_and_printed(tmp_path, calibrated, capsys):
    data, out = prepare_tiny(tmp_path, "delicious"), tmp_path / "bench.json"
    command.main(["nearest", "--data", str(data), "--rounds", "2", "--out", str(out)], standalone_mode=False)
    result = json.loads(out.read_text())
    assert result["shape"] == [120, 20, 8]
    assert calibrated == [((120, 20), (120, 8))] * 2
    assert len(result["preparation_seconds"]) == 2
    assert result["preparation_elsewhere"] == 0.011 / 2
    (X, Y), (X_test, Y_test) = (Prepared(data).part(part) for part in ("train", "test"))
    for setting, measured in zip(bench.SETTINGS, result["settings"], strict=True):
        model = SparseWeightedNearestNeighbors(*astuple(setting), n_jobs=1).fit(X, Y)
        labels, _ = model.predict_top_k(X_test, 5)
        assert measured["p@k"] == [precision_at_k(Y_test, labels, k) for k in (1, 3, 5)]
        assert measured["similarities"] == model.inner_products_.mean()
        assert measured["similarities_share"] == measured["similarities"] / 120
        assert {n: len(turns) for n, turns in measured["ms"].items()} == {"1": 2, "2": 2}
        assert measured["speed_up"] == pytest.approx(min(measured["ms"]["1"]) / min(measured["ms"]["2"]))
        assert measured["differing_arrays"] == []
    assert result["index_bytes"] == model.index_bytes_
    small, large = result["elsewhere"]
    assert (small["scaled_ms"], large["scaled_ms"]) == (0.05, 0.075)
    assert large["ratio"] == pytest.approx(min(result["settings"][1]["ms"]["1"]) / 0.075)
    gaps = np.abs(100 * np.array(result["settings"][1]["p@k"]) - [68.7, 62.3, 57.5])
    assert (small["difference"], large["difference"]) == (None, pytest.approx(gaps.max()))
    printed = capsys.readouterr().out
    assert "PLT on delicious: 5.30 s here, 10.6 s elsewhere" in printed
    rows = cells(printed)
    reached = "yes" if large["ratio"] <= 0.33 else "no"
    ratio = "ratio to authors' Go program, 75, 2, 1"
    assert [ratio, "at most 0.33", f"{large['ratio']:.3f}", reached] in rows
    gap = ["P@k beside authors' Go program, 75, 2, 1", "within 0.2 point", f"{gaps.max():.2f}", "no"]
    assert gap in rows


def test_amazon_is_scaled_by_another_dataset(tmp_path, calibrated):
    data, other = (prepare_tiny(tmp_path / name, name) for name in ("amazon-670k-shape", "delicious"))
    result = bench.compare_nearest(data, rounds=1, calibration_data=other, instances=7)
    assert result.shape[0] == 7
    assert result.calibration.dataset == "delicious"
    assert len(calibrated) == 1
    # Each of the paper's two times beside each setting.
    assert [row.scaled_ms for row in result.elsewhere] == [5.74 / 2] * 2 + [4.19 / 2] * 2
    assert [row.known.setting.S for row in result.elsewhere] == [20, 75, 20, 75]
    printed = to_text(result)
    assert "i7-7700K" in printed
    assert ["index, GB", "at most 6", "0.00", "yes"] in cells(printed)
    with pytest.raises(XmlcError, match="amazon-670k-shape; the calibration has been measured elsewhere on delicious"):
        bench.compare_nearest(other, rounds=1, calibration_data=data)


def test_without_calibration_no_ratio_is_judged(tmp_path, calibrated):
    result = bench.compare_nearest(prepare_tiny(tmp_path, "delicious"), rounds=1, calibration=False)
    assert calibrated == []
    assert [row.scaled_ms for row in result.elsewhere] == [None, None]
    assert result.elsewhere[0].ratio == pytest.approx(min(result.settings[0].ms[1]) / 0.1)
    printed = to_text(result)
    assert "not scaled to this machine" in printed
    assert "ratio to" not in printed


def test_bits_that_differ_and_unknown_datasets_are_told(tmp_path, calibrated):
    result = bench.compare_nearest(prepare_tiny(tmp_path), rounds=1)
    assert (result.elsewhere, result.calibration, calibrated) == ([], None, [])
    assert "Beside the times" not in to_text(result)
    result.settings[1].differing_arrays.append("labels")
    claims = {row[0]: row[-1] for row in cells(to_text(result))}
    assert claims["same bits on several threads, 20, 1, 1"] == "yes"
    assert claims["same bits on several threads, 75, 2, 1"] == "no"
