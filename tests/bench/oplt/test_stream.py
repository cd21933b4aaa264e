"""The benchmark of a growing stream: portions, training anew, and a model that is saved and continued."""

import pytest
from bench_rows import run_benchmark

from xmlc.bench.harness import CPU_TIME, Rows
from xmlc.bench.oplt import growing
from xmlc.bench.oplt import stream as bench
from xmlc.models.oplt import OPLT


def test_a_growing_stream_is_measured_resumed_and_trained_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "WORLD", growing.WORLD._replace(n_features=100, n_labels=10, nonzeros=10))
    monkeypatch.setattr(growing, "BATCH", 90)
    options = ("--instances", 400, "--portions", 4, "--parameters", '{"max_leaf": 5}')
    rows = run_benchmark(tmp_path, "oplt-stream", *options)
    ends = [f"to {end}" for end in (100, 200, 300, 400)]
    features = [rows[end, bench.PORTIONS, "features", 1]["value"] for end in ends]
    assert features == [1000, 2000, 3000, 4000]
    labels = [rows[end, bench.PORTIONS, "labels", 1]["value"] for end in ends]
    assert labels == sorted(set(labels))  # they grow
    bits = [(key[:2], row["value"]) for key, row in rows.items() if key[2] == "same bits"]
    assert len(bits) == 3 * 2 + 1
    assert all(value == 1 for _, value in bits)
    assert {task for (_, task), _ in bits if task.startswith("first")} == {
        f"first {n} instances" for n in (100, 200, 400)
    }
    pair = f"grown online / {bench.KNOWN}", "first 400 instances, compared", CPU_TIME, 1
    ours, known = (rows[name, "first 400 instances", CPU_TIME, 1]["value"] for name in ("grown online", bench.KNOWN))
    assert rows[pair]["value"] == pytest.approx(ours / known)


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
    rows = Rows("oplt-stream", "")
    bench.add_portion(rows, model, [(X, Y)], 50, 1.0)
    assert rows.value("to 50", bench.PORTIONS, "updates of an instance") == pytest.approx(expected / 50)
    assert rows.value("to 50", bench.PORTIONS, bench.PER_UPDATE) == pytest.approx(1e9 / (expected * X.nnz / 50))


def test_a_stream_that_is_not_proper_shows(monkeypatch):
    weights = bench._node_by_node

    def changed(*arguments):
        nodes = weights(*arguments)
        nodes.weights[-1] += 1
        return nodes

    monkeypatch.setattr(bench, "_node_by_node", changed)
    rows = bench.bench_stream(100, 2).rows
    bits = {row.contender: (row.value, row.note) for row in rows if row.measure == "same bits"}
    assert bits[bench.BY_NODE] == (0, "other bits: weights")
    assert bits[bench.KNOWN] == bits[bench.RESUMED] == (1, "")
