"""Test filters: pairs of test instance and label that no measure of any step counts."""

import numpy as np
import pytest
from command_line import rank_and_score, run
from facts import absent
from small_data import prepare_tiny, train

from xmlc.core.files import read_json
from xmlc.data.matrices import load_csr
from xmlc.models import FastXML
from xmlc.suite.results.records.forest import ForestRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.steps.prepared import Prepared

MIN_PROBABILITY = 0.001


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Return the same data with and without a filter, its pairs, and a model of each training
    split.
    """
    folder = tmp_path_factory.mktemp("filter")
    plain = Prepared(prepare_tiny(folder / "plain"))
    scores = FastXML(n_trees=3).fit(*plain.part("train")).predict_top_k(plain.part("test")[0], 8)[0]
    # The first label of every third instance, all labels of instance 5, and one pair twice.
    pairs = {(i, int(scores[i, 0])) for i in range(0, 120, 3)}
    pairs |= {(5, label) for label in range(8)}
    text = folder / "filter_labels_test.txt"
    text.write_text("".join(f"{i} {label}\n" for i, label in [*sorted(pairs), min(pairs)]))
    data = prepare_tiny(folder / "filtered", filter=text)
    about = {
        "full": train(folder / "full", data, "fastxml", n_trees=3),
        "80": train(folder / "80", data, "fastxml", "fit", n_trees=3),
    }
    return about, plain, Prepared(data), pairs


def plain_precision(Y, labels, pairs, k):
    """Return precision at k of rankings of all labels, in plain Python."""
    hits = 0
    for i, ranked in enumerate(labels.tolist()):
        counted = [label for label in ranked if label >= 0 and (i, label) not in pairs]
        hits += Y[i, counted[:k]].sum()
    return hits / (k * len(labels))


def test_true_labels_lack_only_the_filtered_pairs(tiny):
    _, plain, filtered, pairs = tiny
    for part in ("train", "val", "test"):
        expected = plain.part(part)[1].toarray()
        before = expected.sum()
        if part == "test":
            expected[tuple(zip(*pairs))] = False
        np.testing.assert_array_equal(filtered.part(part)[1].toarray(), expected)
    assert filtered.digest != plain.digest
    facts = (f"{len(pairs)} pairs", f"{before - expected.sum()} of them true")
    assert absent(filtered.meta["notes"][0], *facts) == []
    assert plain.left_out("test") is filtered.left_out("val") is None


def test_rankings_skip_filtered_pairs(tiny, tmp_path):
    about, plain, _, pairs = tiny
    _, data, _, model, _, record = about["full"]
    X, Y = plain.part("test")
    rank_and_score(data, model, record, tmp_path / "ranking.json")
    assert run("forest", *about["full"], "--trees", 3, "--out", tmp_path / "forest.json") == 0
    swept = ("--hyperparameter", "n_trees", "--value", 3, "--out", tmp_path / "sweep.json")
    assert run("sweep", "--data", data, "--training", record, *swept) == 0
    ranking = RankingRecord.read(tmp_path / "ranking.json").metrics
    forest = ForestRecord.read(tmp_path / "forest.json").rows[-1].metrics
    assert read_json(tmp_path / "sweep.json")["rows"][0]["metrics"] == forest
    labels = FastXML.load(model).predict_top_k(X, 8)[0]
    for k in (1, 3, 5):
        expected = plain_precision(Y.toarray(), labels, pairs, k)
        assert ranking[f"p@{k}"] == forest[f"p@{k}"] == pytest.approx(expected)
        # Filtered pairs change the precision.
        assert expected != pytest.approx(plain_precision(Y.toarray(), labels, set(), k))


def test_estimates_lack_filtered_pairs(tiny, tmp_path):
    about, plain, _, pairs = tiny
    spe = tmp_path / "spe"
    assert run("estimate", *about["80"], "--min-probability", MIN_PROBABILITY, "--out", spe) == 0
    model = FastXML.load(about["80"][3])
    expected = model.predict_proba(plain.part("test")[0], MIN_PROBABILITY).toarray()
    left_out = tuple(zip(*pairs))
    assert expected[left_out].any()
    expected[left_out] = 0
    np.testing.assert_array_equal(load_csr(spe, "test").toarray(), expected)


def test_inference_from_a_model_is_refused_for_filtered_data(tiny, tmp_path, capsys):
    _, data, _, model, *training = tiny[0]["full"]
    given = ("--data", data, *training, "--from", model, "--out", tmp_path / "out")
    assert run("infer", "--method", "h", *given) == 1
    assert str(data) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
