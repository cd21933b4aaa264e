"""The benchmark of online label trees on classes: what it calls accuracy, and what it refuses."""

from dataclasses import asdict

import numpy as np
import pytest
from bench_rows import run_benchmark
from scipy import sparse
from small_data import prepare_tiny

from xmlc.bench.oplt import classes as bench
from xmlc.data.catalogue import Dataset
from xmlc.data.prepare import prepare
from xmlc.data.prepared import Prepared
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError
from xmlc.files import write_json
from xmlc.models.oplt import OPLT

ONLINE = ("OPLT-B", bench.STREAM)


def prepare_classes(folder, name="tiny"):
    """Prepare points around the centres of six classes."""
    rng, source = np.random.default_rng(3), folder / "resources"
    centres = rng.normal(size=(6, 10))
    for part in ("train", "test"):
        y = rng.integers(6, size=150)
        X = sparse.csr_array((centres[y] + rng.normal(scale=0.3, size=(150, 10))).astype(np.float32))
        Y = sparse.csr_array((np.ones(150, dtype=bool), (np.arange(150), y)), shape=(150, 6))
        save_repository(source / f"{part}.txt", X, Y)
    files = {"format": "repository", "zero_based": True, "train": ["train.txt"], "test": ["test.txt"]}
    write_json(source / "source.json", files)
    prepare(Dataset(name), source, folder / "data", folder / "statistics.json")
    return folder / "data"


def in_this_process(module, *arguments):
    """Do what the process of a model would do, where kernels are compiled already."""
    return asdict(bench.run(*arguments))


@pytest.mark.needs("peers")
def test_accuracies_are_those_on_the_stream_and_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "in_own_process", in_this_process)
    monkeypatch.setattr(bench, "random_permutation", lambda n, seed, stream: np.arange(n)[:: 1 - 2 * (seed % 2)])
    prepared = prepare_classes(tmp_path)
    rows = run_benchmark(tmp_path, "oplt-classes", "--data", prepared, "--seeds", 2, "--hash-bits", 16)
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    truth, test_truth = Y.indices, Y_test.indices
    stream, test = [], []
    for seed, order in enumerate((np.arange(150), np.arange(150)[::-1])):
        model = OPLT(policy="best_greedy", max_leaf=10, random_state=seed)
        labels, _ = model.progressive_top_k(X[order], Y[order])
        stream.append(np.mean(labels[:, 0] == truth[order]))
        test.append(np.mean(model.predict_top_k(X_test, 1)[0][:, 0] == test_truth))
    found = {measure: row["value"] for (name, task, measure, _), row in rows.items() if (name, task) == ONLINE}
    constant = np.bincount(truth).max() / 150
    assert found[bench.ACCURACY] == pytest.approx(100 * np.mean(stream))
    assert found[bench.ON_TEST] == pytest.approx(100 * np.mean(test))
    assert found["entropy reduction"] == pytest.approx(np.log2(np.mean(stream)) - np.log2(constant))
    assert rows["constant predictor", bench.STREAM, bench.ACCURACY, 1]["value"] == pytest.approx(100 * constant)
    for name in ("OPLT-R", "OPLT-B", "CMT"):
        assert rows[name, bench.SEVERAL, bench.ON_TEST, 1]["value"] > 80


def test_label_sets_are_refused(tmp_path):
    with pytest.raises(XmlcError, match="expected classes, one for each instance"):
        bench.bench_classes(prepare_tiny(tmp_path))
