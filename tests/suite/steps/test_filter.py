"""Test filters: pairs of test instance and label that no measure of any step counts."""

import numpy as np
import pytest
from command_line import rank_and_score, run
from small_data import prepare_tiny, train

from xmlc.core.files import read_json
from xmlc.data.matrices import load_csr
from xmlc.models import FastXML
from xmlc.suite.results.records.forest import ForestRecord
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
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
    pairs = {(i, int(scores[i, 0])) for i in range(0, 120, 3)} | {(5, label) for label in range(8)}
    text = folder / "filter_labels_test.txt"
    text.write_text("".join(f"{i} {label}\n" for i, label in [*sorted(pairs), min(pairs)]))
    data = prepare_tiny(folder / "filtered", filter=text)
    parts = {"full": "train", "80": "fit"}
    about = {
        split: train(folder / split, data, "fastxml", part, n_trees=3)
        for split, part in parts.items()
    }
    return about, plain, Prepared(data), pairs


def plain_precision(Y, labels, pairs, k):
    """Return precision at k of rankings of all labels, in plain Python."""
    hits = 0
    for i, ranked in enumerate(labels.tolist()):
        counted = [label for label in ranked if label >= 0 and (i, label) not in pairs]
        hits += sum(Y[i, label] for label in counted[:k])
    return hits / (k * len(labels))


def test_true_labels_lack_only_the_filtered_pairs(tiny):
    _, plain, filtered, pairs = tiny
    before, after = (prepared.part("test")[1].toarray() for prepared in (plain, filtered))
    expected = before.copy()
    expected[tuple(np.array(sorted(pairs)).T)] = False
    np.testing.assert_array_equal(after, expected)
    assert filtered.digest != plain.digest
    true = before.sum() - after.sum()
    assert (
        filtered.meta["notes"][0]
        == f"test set: measures ignore {len(pairs)} pairs, {true} of them true"
    )
    assert plain.left_out("test") is filtered.left_out("val") is None
    for part in ("train", "val"):
        np.testing.assert_array_equal(
            plain.part(part)[1].toarray(), filtered.part(part)[1].toarray()
        )


def test_rankings_skip_filtered_pairs(tiny, tmp_path):
    about, plain, _, pairs = tiny
    Y = plain.part("test")[1].toarray()
    rank_and_score(*about["full"][1::2], tmp_path / "ranking.json")
    assert run("forest", *about["full"], "--trees", 3, "--out", tmp_path / "forest.json") == 0
    swept = ("--hyperparameter", "n_trees", "--value", 3, "--out", tmp_path / "sweep.json")
    assert run("sweep", *(about["full"][i] for i in (0, 1, 4, 5)), *swept) == 0
    ranking = RankingRecord.read(tmp_path / "ranking.json")
    forest = ForestRecord.read(tmp_path / "forest.json")
    labels = FastXML.load(about["full"][3]).predict_top_k(plain.part("test")[0], 8)[0]
    for k in (1, 3, 5):
        expected = plain_precision(Y, labels, pairs, k)
        assert (
            ranking.metrics[f"p@{k}"]
            == forest.rows[-1].metrics[f"p@{k}"]
            == pytest.approx(expected)
        )
        assert expected != pytest.approx(plain_precision(Y, labels, set(), k)), (
            "filtered pairs change the precision"
        )
    assert read_json(tmp_path / "sweep.json")["rows"][0]["metrics"] == forest.rows[-1].metrics


def test_estimates_and_label_sets_lack_filtered_pairs(tiny, tmp_path):
    about, plain, filtered, pairs = tiny
    spe = tmp_path / "spe"
    assert run("estimate", *about["80"], "--min-probability", MIN_PROBABILITY, "--out", spe) == 0
    estimates = load_csr(spe, "test")
    model = FastXML.load(about["80"][3])
    expected = model.predict_proba(plain.part("test")[0], MIN_PROBABILITY).toarray()
    assert any(expected[pair] for pair in pairs)
    for pair in pairs:
        expected[pair] = 0
    np.testing.assert_array_equal(estimates.toarray(), expected)

    # Macro-F of the model with thresholds has to equal the saved value.
    out = tmp_path / "evaluation"
    thresholds = tmp_path / "thresholds"
    tuned = ("--estimates", spe, "--thresholds", thresholds, "--out", out)
    assert run("thresholds", "sto", *about["80"], *tuned) == 0
    predicted = expected > np.load(thresholds / "sto.npy")
    Y = filtered.part("test")[1].toarray()
    both = (predicted & Y).sum(axis=0)
    ones = predicted.sum(axis=0) + Y.sum(axis=0)
    f = np.where(ones == 0, 1.0, 2 * both / np.maximum(ones, 1))
    assert ThresholdRecord.read(out / "sto.json").best.test["macro_f"] == pytest.approx(f.mean())

    infer = (
        "--data",
        filtered.folder,
        "--training",
        about["80"][5],
        "--out",
        tmp_path / "inferred",
    )
    assert run("infer", "--method", "h", *infer, "--from", spe) == 0
    predicted = expected >= 0.5
    wrong = (predicted != Y).mean()
    assert InferenceRecord.read(tmp_path / "inferred/h.json").metrics[
        "hamming_loss"
    ] == pytest.approx(wrong)


def test_inference_from_a_model_is_refused_for_filtered_data(tiny, tmp_path, capsys):
    _, data, _, model, *training = tiny[0]["full"]
    given = ("--data", data, *training, "--from", model, "--out", tmp_path / "out")
    assert run("infer", "--method", "h", *given) == 1
    assert str(data) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
