"""The benchmark of online label trees: processes of their own, ratios, and claims that are judged."""

import json

import numpy as np
import pytest
from conftest import prepare_tiny

from xmlc.bench import oplt as bench
from xmlc.bench.oplt_tables import comparison_text
from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.cli.bench import command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics import precision_at_k
from xmlc.models.registry import make_estimator


def in_this_process(module, *arguments):
    """Do what the process of a training would do, where kernels are compiled already."""
    data, estimator, parameters, seed = arguments
    return bench.train_once(data, estimator, json.loads(parameters), int(seed))


def test_trainings_are_timed_and_ranked(tmp_path, monkeypatch, capsys):
    pytest.importorskip("napkinxc", reason="the extra `peers` is not installed")
    monkeypatch.setattr(bench, "in_own_process", in_this_process)
    prepared, out = prepare_tiny(tmp_path), tmp_path / "bench.json"
    asked = ["oplt", "--data", str(prepared), "--seeds", "2", "--variant", "OPLT-R", "--variant", "IPLT"]
    command.main([*asked, "--epochs", "2", "--out", str(out)], standalone_mode=False)
    result = json.loads(out.read_text())
    assert list(result["variants"]) == ["OPLT-R", "IPLT"]
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    parameters = {"policy": "random", "arity": 2, "max_leaf": 100, "eps": 0.01, "epochs": 2}
    for program, estimator in (("xmlc", "oplt"), ("napkinXC", "napkinxc-oplt")):
        measured = result["variants"]["OPLT-R"][program]
        models = [make_estimator(estimator, parameters, seed, 1).fit(X, Y) for seed in (0, 1)]
        found = [precision_at_k(Y_test, model.predict_top_k(X_test, 5)[0], 1) for model in models]
        assert measured["p@k"][0] == pytest.approx(100 * np.mean(found))
        assert measured["seconds"] == min(run["seconds"] for run in measured["runs"]) > 0
    assert "OPLT-R, napkinXC" in capsys.readouterr().out


def measured(seconds, peak, score):
    runs = [{"seconds": seconds, "cpu_seconds": seconds, "peak_bytes": peak, "ms": 1.0, "p@k": [score, 0.5, 0.5]}]
    return bench._summary(runs)


@pytest.mark.parametrize(
    ("ours", "reached"),
    [
        ((1.4, 9e6, 0.6), ("yes", "yes", "yes")),
        ((1.6, 11e6, 0.594), ("no", "no", "no")),
        ((1.4, 9e6, 0.596), ("yes", "yes", "yes")),
    ],
)
def test_claims_are_judged_beside_the_program(ours, reached):
    both = {"xmlc": measured(*ours), "napkinXC": measured(10.0, 10e6, 0.6)}
    variants = {"OPLT-B": both | bench._beside(both["xmlc"], both["napkinXC"])}
    head = {"dataset": "tiny", "shape": [1, 2, 3], "seeds": 1, "epochs": 1}
    machine = dict.fromkeys(("cpu", "xmlc", "numba", "time"), "-")
    text = comparison_text(head | {"variants": variants, "passport": machine})
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("| OPLT-B:")]
    assert tuple(row[-2] for row in rows) == reached


def test_an_unknown_variant_and_a_process_that_fails_are_errors(tmp_path):
    with pytest.raises(XmlcError, match="variant OPLT-X is unknown; expected any of OPLT-R"):
        bench.compare_oplt(tmp_path, ("OPLT-X",))
    with pytest.raises(XmlcError, match=r"(?s)xmlc\.bench\.oplt .* failed:.*no prepared dataset here"):
        in_own_process("xmlc.bench.oplt", str(tmp_path), "plt", "{}", "0")


def test_the_peak_of_some_work_is_its_own():
    np.ones(15_000_000)  # an earlier peak is none of its
    result, small = peak_above(lambda: np.ones(1_000_000).sum())
    _, large = peak_above(lambda: np.ones(9_000_000).sum())
    assert result == 1_000_000
    assert small < 40e6
    assert large > 60e6
