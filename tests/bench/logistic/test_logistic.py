"""The benchmark of BR and PCC: what it prints is what it measured, and the peer's training is that of before."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from small_data import prepare_tiny

from xmlc.bench.logistic import comparison as bench
from xmlc.bench.logistic._streaming import read_non_zeros
from xmlc.bench.logistic.peer import largest_difference
from xmlc.bench.logistic.tables import to_text
from xmlc.cli.tools.bench import command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.models import BinaryRelevance, ProbabilisticClassifierChain


@pytest.mark.parametrize("estimator", ["br", "pcc"])
def test_everything_is_measured_and_printed(tmp_path, capsys, estimator):
    data, out = prepare_tiny(tmp_path), tmp_path / "bench.json"
    arguments = ["logistic", "--data", str(data), "--estimator", estimator, "--rounds", "2", "--out", str(out)]
    command.main(arguments, standalone_mode=False)
    result = json.loads(out.read_text())
    assert result["shape"] == [120, 20, 8]
    for measured in ("seconds", "cpu_seconds"):
        assert {name: len(turns) for name, turns in result[measured].items()} == {
            "xmlc, 1 thread": 2,
            "xmlc, 2 threads": 2,
            "scikit-learn": 2,
        }
    best = {name: min(turns) for name, turns in result["seconds"].items()}
    assert result["ratio"] == best["scikit-learn"] / best["xmlc, 2 threads"]
    X, Y = Prepared(data).part("train")
    model = bench.ESTIMATORS[estimator](n_jobs=1).fit(X, Y)
    assert result["C"] == model.C_[0]
    assert result["same_C"]
    assert result["differing_arrays"] == []
    assert result["decrement"] == model.decrements_.max()
    assert 0 < result["difference"] < 1e-6
    assert result["limit"]["ns"] > result["limit"]["read_ns"] > 0
    printed = capsys.readouterr().out
    reached = "yes" if result["ratio"] >= 5 else "no"
    assert f"| times as fast as scikit-learn | at least 5 | {result['ratio']:.1f} | {reached} |" in printed
    assert f"at most 1e-06 | {result['difference']:.1e} | yes |" in printed
    assert "the same bits" in printed
    content = result | {"limit": bench.Limit(**result["limit"]), "differing_arrays": ["weights_"]}
    assert "other bits: weights_" in to_text(bench.Logistic(**content))


@pytest.mark.parametrize("kind", [BinaryRelevance, ProbabilisticClassifierChain])
def test_a_weight_that_is_off_shows(tmp_path, kind):
    (X, Y), (X_test, Y_test) = (Prepared(prepare_tiny(tmp_path)).part(part) for part in ("train", "test"))
    model = kind(C=1.0).fit(X, Y)
    assert largest_difference(model, X, Y, X_test, Y_test) < 1e-6
    model.constants_[3] += 0.01
    assert 1e-4 < largest_difference(model, X, Y, X_test, Y_test) < 0.0026


def test_every_non_zero_is_read():
    rng = np.random.default_rng(0)
    X = sparse.random_array((9, 11), density=0.35, rng=rng, format="csr")
    assert X.nnz % 4
    columns, total = read_non_zeros(X.indices.astype(np.uint32), X.data)
    assert columns == np.bitwise_xor.reduce(X.indices)
    assert total == pytest.approx(X.data.sum())


def test_without_scikit_learn_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.linear_model", None)
    with pytest.raises(XmlcError, match=r"xmlc\[peers\]"):
        bench.compare_logistic(tmp_path)
