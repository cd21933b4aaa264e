"""The benchmark of online label trees: processes of their own, ratios, and claims that are judged."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small_data import prepare_tiny

from xmlc.bench.oplt import growing, stream
from xmlc.bench.oplt import variants as bench
from xmlc.bench.oplt.tables import comparison_text, stream_text
from xmlc.bench.own_process import in_own_process, peak_above
from xmlc.bench.results import as_json
from xmlc.cli.tools.bench import command
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.metrics import precision_at_k
from xmlc.models.oplt import OPLT
from xmlc.models.registry import make_estimator
from xmlc.passport import passport


def in_this_process(module, *arguments):
    """Do what the process of a training would do, where kernels are compiled already."""
    data, estimator, parameters, seed = arguments
    return as_json(bench.train_once(data, estimator, json.loads(parameters), int(seed)))


@pytest.mark.needs("peers")
def test_trainings_are_timed_and_ranked(tmp_path, monkeypatch, capsys):
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
    return bench.summary([bench.Training(seconds, seconds, peak, ms=1.0, precision=[score, 0.5, 0.5])])


def test_what_is_too_small_to_be_measured_has_no_ratio():
    ratios = bench.compared({"xmlc": measured(1.0, 4096, 0.6), "napkinXC": measured(2.0, 0, 0.6)}).beside.ratios
    assert ratios.seconds == 0.5
    assert np.isnan(ratios.peak_bytes)


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
    variants = {"OPLT-B": bench.compared(both)}
    text = comparison_text(
        bench.Variants(dataset="tiny", shape=[1, 2, 3], seeds=1, epochs=1, variants=variants, passport=passport(1))
    )
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("| OPLT-B:")]
    assert tuple(row[-2] for row in rows) == reached


def test_an_unknown_variant_and_a_process_that_fails_are_errors(tmp_path):
    with pytest.raises(XmlcError, match="variant OPLT-X is unknown; expected any of OPLT-R"):
        bench.compare_oplt(tmp_path, ("OPLT-X",))
    with pytest.raises(XmlcError, match=r"(?s)xmlc\.bench\.oplt\.variants .* failed:.*no prepared dataset here"):
        in_own_process("xmlc.bench.oplt.variants", str(tmp_path), "plt", "{}", "0")


def test_the_peak_of_some_work_is_its_own():
    np.ones(15_000_000)  # an earlier peak is none of its
    result, small = peak_above(lambda: np.ones(1_000_000).sum())
    _, large = peak_above(lambda: np.ones(9_000_000).sum())
    assert result == 1_000_000
    assert small < 40e6
    assert large > 60e6


def test_a_growing_stream_is_measured_resumed_and_trained_anew(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(growing, "WORLD", growing.WORLD._replace(n_features=100, n_labels=10, nonzeros=10))
    monkeypatch.setattr(growing, "BATCH", 90)
    out = tmp_path / "stream.json"
    asked = ["oplt-stream", "--instances", "400", "--portions", "4", "--parameters", '{"max_leaf": 5}']
    command.main([*asked, "--out", str(out)], standalone_mode=False)
    result = json.loads(out.read_text())
    assert [portion["end"] for portion in result["portions"]] == [100, 200, 300, 400]
    assert [portion["features"] for portion in result["portions"]] == [1000, 2000, 3000, 4000]
    labels = [portion["labels"] for portion in result["portions"]]
    assert labels == sorted(set(labels))  # they grow
    assert [prefix["end"] for prefix in result["prefixes"]] == [100, 200, 400]
    assert result["differing"] == []
    assert all(prefix[name] == [] for prefix in result["prefixes"] for name in ("known_differing", "node_differing"))
    answers = [line.split("|") for line in capsys.readouterr().out.splitlines() if "differ" in line]
    assert [cells[-2].strip() for cells in answers] == ["yes"] * 3


def test_updates_are_counted_as_algorithm_1_makes_them():
    X, Y = growing.GrowingStream(400).draw(0, 50)
    model = OPLT(max_leaf=5).partial_fit(X, Y)
    tree, expected = model.tree_, 0
    for row in Y.toarray()[:, model.labels_]:
        positive = {int(node) for node in tree.leaf[row]}
        while not {int(tree.parent[node]) for node in positive - {0}} <= positive:
            positive |= {int(tree.parent[node]) for node in positive - {0}}
        negative = {child for node in positive for child in range(*tree.children[node : node + 2])} - positive
        expected += len(positive | negative | {0})
    portion = stream._portion(model, [(X, Y)], 50, 1.0)
    assert portion.updates == pytest.approx(expected / 50)
    assert portion.ns == pytest.approx(1e9 / (expected * X.nnz / 50))


def test_a_stream_that_goes_on_otherwise_or_is_not_proper_is_told():
    result = stream.measure_stream(100, 2)
    portions = [replace(portion, ns=1.0) for portion in result.portions]
    prefixes = [
        replace(prefix, known_bytes=prefix.model_bytes, seconds=1.0, known_seconds=1.0) for prefix in result.prefixes
    ]
    result = replace(result, portions=portions, prefixes=prefixes)
    assert "no" not in stream_answers(result)
    prefixes[0] = replace(prefixes[0], node_differing=["weights"], known_bytes=1)
    assert stream_answers(replace(result, differing=["rows"]))[1:] == ["no", "yes", "no", "yes", "no"]


def stream_answers(result):
    return [row[-2].strip() for row in map(lambda line: line.split("|"), stream_text(result).splitlines()[-6:])]
