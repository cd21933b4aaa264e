"""The benchmark of online label trees on classes: what it calls accuracy, and what it refuses."""

import json

import numpy as np
import pytest
from scipy import sparse
from small_data import prepare_tiny

from xmlc.bench.oplt import classes as bench
from xmlc.bench.results import as_json
from xmlc.cli.tools.bench import command
from xmlc.data.catalogue import Dataset
from xmlc.data.prepare import prepare
from xmlc.data.prepared import Prepared
from xmlc.data.writer import save_repository
from xmlc.errors import XmlcError
from xmlc.files import write_json
from xmlc.models.oplt import OPLT


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
    data, estimator, online, several, seed = arguments
    return as_json(bench.run_once(data, estimator, json.loads(online), json.loads(several), int(seed)))


@pytest.mark.needs("peers")
def test_accuracies_are_those_on_the_stream_and_after_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench, "in_own_process", in_this_process)
    monkeypatch.setattr(bench, "random_permutation", lambda n, seed, stream: np.arange(n)[:: 1 - 2 * (seed % 2)])
    prepared, out = prepare_classes(tmp_path), tmp_path / "bench.json"
    asked = ["oplt-classes", "--data", str(prepared), "--seeds", "2", "--hash-bits", "16", "--out", str(out)]
    command.main(asked, standalone_mode=False)
    result = json.loads(out.read_text())
    assert list(result["models"]) == ["OPLT-R", "OPLT-B", "CMT"]
    (X, Y), (X_test, Y_test) = (Prepared(prepared).part(part) for part in ("train", "test"))
    truth, asked_truth = Y.indices, Y_test.indices
    stream, test = [], []
    for seed, order in enumerate((np.arange(150), np.arange(150)[::-1])):
        model = OPLT(policy="best_greedy", max_leaf=10, random_state=seed)
        labels, _ = model.progressive_top_k(X[order], Y[order])
        stream.append(np.mean(labels[:, 0] == truth[order]))
        test.append(np.mean(model.predict_top_k(X_test, 1)[0][:, 0] == asked_truth))
    measured = result["models"]["OPLT-B"]
    assert measured["progressive"] == pytest.approx(100 * np.mean(stream))
    assert measured["test_online"] == pytest.approx(100 * np.mean(test))
    assert measured["reduction"] == pytest.approx(np.log2(np.mean(stream)) - np.log2(np.bincount(truth).max() / 150))
    assert all(model["test_several"] > 80 for model in result["models"].values())
    assert capsys.readouterr().out.count("| CMT") == 1


def test_texts_have_the_values_of_their_script():
    _, online, several = bench.memory_tree("synthetic-wikipara-3-like", 20)
    assert (online["dream_repeats"], several["passes"], several["eta"]) == (15, 2, 0.1)
    assert bench.memory_tree("synthetic-aloi-like", 20)[1]["dream_repeats"] == 20


def test_label_sets_are_refused(tmp_path):
    with pytest.raises(XmlcError, match="expected classes, one for each instance"):
        bench.compare_classes(prepare_tiny(tmp_path))
